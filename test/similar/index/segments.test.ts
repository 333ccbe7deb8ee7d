/**
 * Segments against a plain model: after any flushes, removals and merges, a term's postings are those of its documents.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MAX_POSTINGS_PER_TERM } from '../../../src/similar/index/segment-writer.ts'
import { Tombstones } from '../../../src/similar/index/tombstones.ts'
import { MAX_ROW_POSTINGS, termOfKey, unpackPostingRow } from '../../../src/similar/postings/postings.ts'
import { TERM_COUNT } from '../../../src/similar/text/term-vector.ts'
import { WEIGHT_LEVELS, weightLevelOf } from '../../../src/similar/text/weights.ts'
import { assertMakes } from '../../sample.ts'
import { idfTableOf } from '../sample-documents.ts'
import {
  documentOf,
  flushed,
  frequenciesOf,
  isAfter,
  type Made,
  merged,
  type Page,
  postingsOf,
  writing,
} from '../segments.ts'

/** Terms of three partitions, some of them consecutive. */
const PARTS = [0, 2 ** 18, TERM_COUNT - 40]
const ALPHABET = PARTS.flatMap((first) => Array.from({ length: 7 }, (_, at) => first + at))

/** An IDF table without earlier documents. */
const EMPTY_IDF_TABLE = idfTableOf(0, [])

const page = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...ALPHABET), fc.constantFrom(1, 1, 2, 5, 300)), {
    selector: ([word]) => word,
    minLength: 1,
  })
  .map((pairs): Page => new Map(pairs))

type Operation =
  | { operation: 'say'; pages: Page[]; times: number }
  | { operation: 'remove'; which: number }
  | { operation: 'flush' }
  | { operation: 'merge'; most: number }

const history = fc.array(
  fc.oneof(
    fc.record({
      operation: fc.constant('say' as const),
      pages: fc.array(page, { minLength: 1, maxLength: 6 }),
      times: fc.integer({ min: 1, max: 30 }),
    }),
    fc.record({ operation: fc.constant('remove' as const), which: fc.nat() }),
    fc.record({ operation: fc.constant('flush' as const) }),
    fc.record({ operation: fc.constant('merge' as const), most: fc.integer({ min: 2, max: 6 }) }),
  ),
  { maxLength: 30 },
)

test('a sample of histories has every operation', () => {
  const operations = ['say', 'remove', 'flush', 'merge']
  assertMakes(
    history,
    Object.fromEntries(
      operations.map((kind) => [kind, (list: Operation[]) => list.some(({ operation }) => operation === kind)]),
    ),
  )
})

/** `holds`: the documents of its postings. `last`: the last document that this segment or an earlier one covers. */
type Part = Made & { holds: Set<number> }

/** The stored segments, and the documents that exist. */
class World {
  readonly pages = new Map<number, Page>()
  readonly live = new Set<number>()
  parts: Part[] = []
  private last = 0
  private number = 0

  async do(operation: Operation): Promise<void> {
    if (operation.operation === 'say')
      for (let time = 0; time < operation.times; time++) for (const page of operation.pages) this.say(page)
    else if (operation.operation === 'remove')
      this.live.delete([...this.live][operation.which % Math.max(1, this.live.size)]!)
    else if (operation.operation === 'flush') await this.flush()
    else await this.merge(operation.most)
  }

  private say(page: Page): void {
    this.number++
    this.pages.set(this.number, page)
    this.live.add(this.number)
  }

  async flush(): Promise<void> {
    const fresh = [...this.live].filter((wording) => wording > this.last)
    if (fresh.length === 0) return
    this.last = fresh.at(-1)!
    const wordings = fresh.map((wording) => documentOf(wording, this.pages.get(wording)!))
    this.parts.push({ ...(await flushed(wordings, EMPTY_IDF_TABLE)), holds: new Set(fresh) })
  }

  async merge(most: number): Promise<void> {
    const parts = this.parts.slice(-most)
    if (parts.length === 0) return
    const held = new Set(parts.flatMap(({ holds }) => [...holds]))
    const kept = new Set([...held].filter((wording) => this.live.has(wording)))
    const removed = new Tombstones()
    for (const wording of this.pages.keys()) if (!this.live.has(wording)) removed.add([wording])
    const made = await merged(parts, removed)
    this.parts = [...this.parts.slice(0, -parts.length), { ...made, holds: kept }]
  }

  /** The documents that contain a term, ascending. */
  having(word: number, among: Iterable<number>): number[] {
    return [...among].filter((wording) => this.pages.get(wording)!.has(word)).sort((a, b) => a - b)
  }
}

/** Checks that rows are in order, keyed by their last posting, and split as promised. */
function checkRows({ rows }: Made): void {
  const rowsOf = new Map<number, Set<number>>()
  const sizes = new Map<number, number>()
  for (const [at, row] of rows.entries()) {
    const groups = unpackPostingRow(row.postings)
    const places = groups.map(({ key: place }) => place)
    assert.deepEqual([row.key, row.document], [places.at(-1), groups.at(-1)!.documents.at(-1)])
    assert.ok(at === 0 || isAfter(row, rows[at - 1]!))
    assert.equal(new Set(places.map((place) => Math.floor(place / 2 ** 22))).size, 1, 'a row is of one part')
    assert.ok(groups.reduce((sum, { documents: wordings }) => sum + wordings.length, 0) <= MAX_ROW_POSTINGS)
    for (const { key: place, documents: wordings } of groups) {
      const word = termOfKey(place)
      rowsOf.set(word, (rowsOf.get(word) ?? new Set()).add(at))
      sizes.set(word, (sizes.get(word) ?? 0) + wordings.length)
    }
  }
  for (const [word, size] of sizes) if (size < 64) assert.equal(rowsOf.get(word)!.size, 1, `${size} postings`)
}

async function check(world: World, part: Part): Promise<void> {
  checkRows(part)
  const frequencies = await frequenciesOf(part)
  for (const word of ALPHABET) {
    const having = world.having(word, part.holds)
    const postings = postingsOf(part, word)
    const wordings = postings.map(({ wording }) => wording)
    assert.deepEqual(
      wordings.toSorted((a, b) => a - b),
      having,
    )
    for (const [at, { level, wording }] of postings.entries()) {
      const before = postings[at - 1]
      assert.ok(!before || before.level > level || (before.level === level && before.wording < wording))
    }
    assert.equal(frequencies.get(word) ?? 0, having.length)
  }
}

test('after any history a term has the postings and the frequency of the documents in each segment', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (operations) => {
      const world = new World()
      for (const operation of operations) await world.do(operation)
      for (const part of world.parts) await check(world, part)
    }),
    { numRuns: 60 },
  )
})

test('after everything is flushed and merged, they are those of the existing documents', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (operations) => {
      const world = new World()
      for (const operation of operations) await world.do(operation)
      await world.flush()
      await world.merge(Number.MAX_SAFE_INTEGER)
      const [whole] = world.parts
      if (whole === undefined) return
      assert.deepEqual(
        [...whole.holds].sort((a, b) => a - b),
        [...world.live].sort((a, b) => a - b),
      )
      await check(world, whole)
      assert.equal(
        (await frequenciesOf(whole)).size,
        ALPHABET.filter((word) => world.having(word, world.live).length > 0).length,
      )
    }),
    { numRuns: 60 },
  )
})

test("a posting has the level of its term's share in the page, by known and new frequencies", async () => {
  const pages = new Map<number, Page>([
    [
      11,
      new Map([
        [1, 1],
        [2, 3],
        [3, 1],
      ]),
    ],
    [
      12,
      new Map([
        [2, 1],
        [4, 999],
      ]),
    ],
  ])
  const known = idfTableOf(98, [
    [1, 50],
    [2, 7],
  ])
  const made = await flushed(
    [...pages].map(([wording, page]) => documentOf(wording, page)),
    known,
  )
  const all = 100
  // A term that is not known counts as that of one page.
  const pagesWith = new Map([
    [1, 51],
    [2, 9],
    [3, 2],
    [4, 2],
  ])
  const idfOf = (word: number) => Math.log((all + 1) / pagesWith.get(word)!)
  const countOf = (count: number) => 1 + Math.log(Math.min(255, count))
  for (const [wording, page] of pages) {
    const length = Math.hypot(...[...page].map(([word, count]) => countOf(count) * idfOf(word)))
    for (const [word, count] of page) {
      const posting = postingsOf(made, word).find((posting) => posting.wording === wording)
      assert.equal(posting?.level, weightLevelOf(countOf(count) / length), `${word} of ${wording}`)
    }
  }
})

test('of a very frequent term the postings with the highest weights are kept, and its frequency counts all', async () => {
  const [FEW, HALF] = [1000, MAX_POSTINGS_PER_TERM / 2]
  /** A term of all pages: the later the page, the fewer other terms it has, so that the term weighs more. */
  const pageAt = (at: number): Page =>
    new Map([[5, 1], ...Array.from({ length: 1 + (at % 9) * 10 }, (_, other) => [100 * (at + 1) + other, 40] as const)])
  const range = (from: number, end: number) =>
    Array.from({ length: end - from }, (_, at) => documentOf(from + at + 1, pageAt(from + at)))
  const parts = await Promise.all([
    flushed(range(0, HALF), EMPTY_IDF_TABLE),
    flushed(range(HALF, 2 * HALF), EMPTY_IDF_TABLE),
    flushed(range(2 * HALF, 2 * HALF + FEW), EMPTY_IDF_TABLE),
  ])
  const all = parts.flatMap((part) => postingsOf(part, 5))
  assert.equal(all.length, 2 * HALF + FEW)
  const whole = await merged(parts, new Tombstones())
  checkRows(whole)
  const best = all.toSorted((a, b) => b.level - a.level || a.wording - b.wording).slice(0, MAX_POSTINGS_PER_TERM)
  assert.deepEqual(postingsOf(whole, 5), best)
  assert.ok(new Set(all.map(({ level }) => level)).size > 2)
  assert.equal((await frequenciesOf(whole)).get(5), 2 * HALF + FEW)
})

test('if documents of a very frequent term are deleted, those whose postings were not kept stop counting too', async () => {
  const [size, PARTS] = [MAX_POSTINGS_PER_TERM, 3]
  const parts = await Promise.all(
    Array.from({ length: PARTS }, (_, part) =>
      flushed(
        Array.from({ length: size }, (_, at) =>
          documentOf(
            part * size + at + 1,
            new Map([
              [5, 1 + (at % 7)],
              [6, 1],
            ]),
          ),
        ),
        EMPTY_IDF_TABLE,
      ),
    ),
  )
  const whole = await merged(parts, new Tombstones())
  assert.equal(postingsOf(whole, 5).length, size)
  const removed = new Tombstones()
  removed.add(Array.from({ length: (PARTS * size) / 2 }, (_, at) => 2 * at + 1))
  const after = await merged([whole], removed)
  const frequency = (await frequenciesOf(after)).get(5)!
  const live = (PARTS * size) / 2
  assert.ok(Math.abs(frequency - live) < live / 50, `${frequency} instead of ${live}`)
})

test('the postings of a term with less than half a row are never split, and those of more fill their rows', async () => {
  const HALF = MAX_ROW_POSTINGS / 2
  for (const before of [1, HALF - 1, HALF, HALF + 1, HALF + 2, 2 * HALF - 1, 2 * HALF, 2 * HALF + 1]) {
    const sizes = [before, HALF - 1, 1, HALF - 1, HALF - 1, HALF, 4 * HALF + 44, 2]
    const { made, writer } = writing()
    const group = (word: number, size: number) => ({
      key: word * WEIGHT_LEVELS,
      documents: Float64Array.from({ length: size }, (_, at) => at + 1),
    })
    for (const [word, size] of sizes.entries()) {
      writer.add(word, [group(word, size)], size)
    }
    await writer.end()
    checkRows(made)
    assert.deepEqual(
      sizes,
      Array.from({ length: 8 }, (_, word) => postingsOf(made, word).length),
    )
    const total = sizes.reduce((sum, size) => sum + size)
    assert.ok(made.rows.length <= 2 + Math.ceil(total / (HALF + 1)), `${made.rows.length}`)
  }
})
