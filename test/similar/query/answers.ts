/** Tests of the answers of /similar, on a real store of any engine. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { termsOf } from '../../../src/similar/text/terms.ts'
import { assertMakes } from '../../sample.ts'
import type { Clock, Opened } from '../../store/conformance/engine.ts'
import { type Pages, World } from '../world.ts'

/** A few words of several scripts, each of which segmentation leaves whole. */
const WORDS = ['bread', 'cake', 'Harbour', 'ölmühle', 'хлеб', 'све́т', '北京', '银行', 'ภาษา', 'خبز', 'ψωμί', '2026']

const text = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 14 }).map((words) => words.join(' '))
const NAMES = Array.from({ length: 24 }, (_, at) => `${'abc'[at % 3]}${at}.example`)
const corpus = fc.array(text, { minLength: 1, maxLength: NAMES.length, size: 'max' })

const someName = fc.constantFrom(...NAMES)
const change = fc.oneof(
  { weight: 4, arbitrary: fc.record({ name: someName, text }) },
  { weight: 1, arbitrary: fc.record({ name: someName, text: fc.constantFrom('... !', null) }) },
  { weight: 1, arbitrary: fc.record({ forget: someName }) },
)

export function pagesOf(texts: readonly string[], nameAt = (at: number) => NAMES[at]!): Pages {
  return Object.fromEntries(texts.map((text, at) => [nameAt(at), text]))
}

/** `runs`: the number of stores per property. */
export function answers(open: (clock: Clock) => Promise<Opened>, runs: number): void {
  const inWorld = async (operation: (world: World) => Promise<void>): Promise<void> => {
    const world = await World.open(open)
    try {
      await operation(world)
    } finally {
      await world.close()
    }
  }
  const testWorld = (sentence: string, operation: (world: World) => Promise<void>) =>
    test(sentence, () => inWorld(operation))

  test('the words of these tests are one word each', () => {
    for (const word of WORDS) assert.equal(termsOf(word).counts.length, 2, word)
  })

  test('a sample of changes has every kind', () => {
    assertMakes(change, {
      'other words': (each) => 'text' in each && each.text !== null && /\p{L}/u.test(each.text),
      'no word': (each) => 'text' in each && each.text === '... !',
      'no text': (each) => 'text' in each && each.text === null,
      'a forgotten name': (each) => 'forget' in each,
    })
  })

  test('the answer is that of exact cosines of whole texts: rows, similarities, order, ties by name', async () => {
    await fc.assert(
      fc.asyncProperty(corpus, fc.constantFrom([100], [1, 2, 3], [5, 100]), (texts, limits) =>
        inWorld(async (world) => {
          await world.say(pagesOf(texts))
          await world.index()
          await world.assertExact(...limits)
        }),
      ),
      {
        numRuns: runs,
        examples: [
          [['bread'], [100]],
          [['bread cake', 'cake bread bread'], [100]],
        ],
      },
    )
  })

  test('the same is true after any changes: pages that change, disappear, are forgotten, or have no word', async () => {
    const rounds = fc.array(fc.array(change, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(corpus, rounds, (texts, changes) =>
        inWorld(async (world) => {
          await world.say(pagesOf(texts))
          for (const round of [[], ...changes]) {
            for (const each of round) {
              if ('forget' in each) await world.forget(each.forget)
              else await world.say({ [each.name]: each.text })
            }
            await world.index()
          }
          await world.assertExact(100, 2)
        }),
      ),
      { numRuns: Math.ceil(runs / 2) },
    )
  })

  testWorld('a page is found by its current text, and not by its former one', async (world) => {
    await world.say({
      'a.example': 'bread cake',
      'b.example': 'bread tea',
      'c.example': 'maps ink',
      'd.example': 'maps',
    })
    await world.index()
    assert.deepEqual(await world.names('b.example'), ['a.example'])
    await world.say({ 'a.example': 'maps paper' })
    await world.index()
    assert.deepEqual(await world.names('b.example'), [])
    assert.deepEqual(await world.names('d.example'), ['a.example', 'c.example'])
    assert.deepEqual(await world.names('a.example'), ['d.example', 'c.example'])
  })

  testWorld('before the index has followed, the page of a query is compared by its current text', async (world) => {
    await world.say({
      'a.example': 'bread cake',
      'b.example': 'bread tea',
      'c.example': 'maps ink',
      'd.example': 'sea',
    })
    await world.index()
    await world.say({ 'a.example': 'maps paper', 'e.example': 'tea bread', 'f.example': 'sea' })
    assert.deepEqual(await world.names('a.example'), ['c.example'], 'by a word that one other page says')
    assert.deepEqual(await world.names('e.example'), ['b.example', 'a.example'])
    assert.deepEqual(await world.ask('f.example'), [{ target: 'd.example', similarity: 1 }])
  })

  testWorld('the former text of a page takes no position among the rows of another one', async (world) => {
    await world.say({ 'a.example': 'bread cake tea', 'b.example': 'bread cake', 'c.example': 'maps' })
    await world.index()
    await world.say({ 'a.example': 'bread cake tea tea' })
    assert.deepEqual(await world.names('a.example', 1), ['b.example'])
  })

  testWorld('forgotten names and removed pages are in no answer at once, and take no position', async (world) => {
    await world.say({
      'a.example': 'bread cake tea',
      'b.example': 'bread cake tea milk',
      'c.example': 'bread cake tea milk ink',
      'd.example': 'bread maps',
      'e.example': 'sea',
    })
    await world.index()
    assert.deepEqual(await world.names('a.example', 2), ['b.example', 'c.example'])
    await world.forget('b.example')
    await world.say({ 'c.example': null })
    for (const limit of [1, 2, 100]) assert.deepEqual(await world.names('a.example', limit), ['d.example'])
    assert.equal(await world.ask('b.example'), null)
    assert.equal(await world.ask('c.example'), null)
    await world.index()
    assert.deepEqual(await world.names('a.example', 2), ['d.example'])
  })

  testWorld('a page without a word has no neighbours, and is in no answer', async (world) => {
    await world.say({ 'a.example': '... !', 'b.example': '?', 'c.example': 'bread' })
    const see = async (): Promise<void> => {
      for (const domain of ['a.example', 'b.example', 'c.example']) assert.deepEqual(await world.ask(domain), [])
      assert.equal(await world.ask('unknown.example'), null)
    }
    await see()
    await world.index()
    await see()
  })

  testWorld('of 300 pages with the same text, the answer has the first 100 by name', async (world) => {
    const nameAt = (at: number) => `twin${(at * 7) % 300}.example`
    await world.say({
      'asker.example': 'Bread, bread cake!',
      ...pagesOf(new Array(300).fill('cake bread bread'), nameAt),
    })
    await world.say({ 'near.example': 'bread cake' })
    await world.index()
    const twins = Array.from({ length: 300 }, (_, at) => `twin${at}.example`).sort()
    const rows = await world.ask('asker.example')
    assert.deepEqual(
      rows,
      twins.slice(0, 100).map((target) => ({ target, similarity: 1 })),
    )
    assert.deepEqual(await world.names('twin0.example', 1), ['asker.example'])
    assert.deepEqual(await world.names('near.example'), ['asker.example', ...twins.slice(0, 99)])
    assert.deepEqual(await world.names(`${twins[0]}`, 3), ['asker.example', twins[1], twins[2]])
  })

  testWorld('queries work with one or two pages, and before anything is indexed', async (world) => {
    await world.say({ 'a.example': 'bread cake' })
    assert.deepEqual(await world.ask('a.example'), [])
    await world.index()
    assert.deepEqual(await world.ask('a.example', 1), [])
    await world.say({ 'b.example': 'bread tea' })
    await world.index()
    assert.deepEqual(await world.names('a.example', 1), ['b.example'])
    const [row] = (await world.ask('b.example'))!
    const [shared, own] = [Math.log(3 / 2) ** 2, Math.log(3) ** 2]
    assert.deepEqual(row, { target: 'a.example', similarity: Math.round((10_000 * shared) / (shared + own)) / 10_000 })
  })
}
