/** Tests that the lookalikes of a brand are those that a look at every name finds, on any engine. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { BlockWriter } from '../../../../src/inverse/entries/block.ts'
import { latin1Bytes, nameSetKey } from '../../../../src/inverse/entries/value-key.ts'
import { parseBrand } from '../../../../src/lookalikes/brand.ts'
import { BrandLookalikes, type Lookalike } from '../../../../src/lookalikes/lookalikes.ts'
import type { Store } from '../../../../src/store/port/store.ts'
import { type DomainName, parseName } from '../../../../src/values/domain-name.ts'
import { inForm } from '../../../long.ts'
import { type LookalikePage, lookalikePages } from '../../lookalike-pages.ts'
import type { Engine } from '../engine.ts'
import { property, testProperties } from '../histories.ts'
import { inverseHold, maintain, maintainerOf } from '../inverse/index-runs.ts'
import { name, testUnchecked } from '../world.ts'
import { addByList } from './names.ts'

const BRANDS = ['paypal.com', 'bank-one.co.uk', 'internationals.org', 'bücher.de', 'ups.com', 'login.shop7.net']
const SUFFIXES = ['com', 'net', 'co.uk', 'de', 'evil.example', 'github.io']
const CHARACTERS = 'abcdefghijklmnopqrstuvwxyz0123456789-'
/** Changes of a label at a place; the last ones are not those that the code knows. */
const CHANGES = [
  (label: string, at: number, other: string) => label.slice(0, at) + other + label.slice(at),
  (label: string, at: number) => label.slice(0, at) + label.slice(at + 1),
  (label: string, at: number, other: string) => label.slice(0, at) + other + label.slice(at + 1),
  (label: string, at: number) => label.slice(0, at) + (label[at + 1] ?? '') + label[at] + label.slice(at + 2),
  (label: string, at: number) => label.slice(0, at) + label[at] + label.slice(at),
  (label: string, at: number) => `${label.slice(0, at)}.${label.slice(at)}`,
  (label: string, at: number) => label.replace(label[at]!, (letter) => 'аɑà'[at % 3]! + letter.slice(1)),
  (label: string) => label.replaceAll('a', 'а').replaceAll('o', 'о').replaceAll('p', 'р'),
  (label: string) => label.replace('m', 'rn').replace('l', '1').replace('o', '0'),
  (label: string, at: number) => ['login', 'www', 'xyz', 'my-'][at % 4]! + label,
  (label: string, at: number) => label + ['-secure', 'com', 's', 'ville'][at % 4]!,
  (label: string) => label,
]

/** A brand, and names that are near it or far from it. */
export const brandAndNames: fc.Arbitrary<{ brand: string; names: DomainName[] }> = fc
  .constantFrom(...BRANDS)
  .chain((brand) => {
    const label = brand.split('.').at(brand.startsWith('login') ? 1 : 0)!
    const change = fc.tuple(
      fc.constantFrom(...CHANGES),
      fc.nat({ max: label.length - 1 }),
      fc.constantFrom(...CHARACTERS),
    )
    const near = fc
      .tuple(
        fc.array(change, { minLength: 1, maxLength: 2 }),
        fc.constantFrom(...SUFFIXES, brand.replace(/^[^.]*\./, '')),
      )
      .map(([changes, suffix]) => `${changes.reduce((text, [by, at, other]) => by(text, at, other), label)}.${suffix}`)
    const far = fc.stringMatching(/^[a-z]{2,9}\.(?:com|net)$/)
    const names = fc
      .array(fc.oneof({ weight: 6, arbitrary: near }, far), { minLength: 10, maxLength: 40 })
      .map((texts) => [...new Set(texts.map(parseName).filter((each) => each !== null))])
    return names.map((each) => ({ brand, names: each }))
  })

/** What a look at every name finds: the lookalikes in their order, then those that contain the label, by name. */
export function expectedOf(brand: BrandLookalikes, known: Iterable<DomainName>): Lookalike[] {
  const found = [...known].map((each) => brand.judge(each)).filter((each) => each !== null)
  return found.sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1))
}

/** Whether two texts are equal after one edit of one of them, found by trying. */
function areNear(a: string, b: string): boolean {
  const places = Array.from({ length: a.length + 1 }, (_, at) => at)
  return places.some((at) => {
    const [start, rest] = [a.slice(0, at), a.slice(at)]
    const isOneLess = start + rest.slice(1) === b
    const isOther = b.length === a.length && b.startsWith(start) && b.slice(at + 1) === rest.slice(1)
    const isOneMore = b.startsWith(start) && b.slice(at + 1) === rest
    const isExchanged = rest.length > 1 && start + rest[1] + rest[0] + rest.slice(2) === b
    return isOneLess || isOther || isOneMore || isExchanged
  })
}

async function walk(store: Store, of: string, limit: number): Promise<Lookalike[]> {
  const pageOf = lookalikePages(store)
  const rows: Lookalike[] = []
  let next: string | null = null
  do {
    const page: LookalikePage = await pageOf({ of, limit, next })
    assert.ok(page.result.length <= limit && page.meta.complete)
    rows.push(...page.result.map(({ name: each, reasons, score }) => ({ name: each, reasons, score })))
    next = page.meta.next
  } while (next !== null)
  return rows
}

const byScoreAndName = (rows: readonly Lookalike[]) =>
  rows.toSorted((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1))

export function lookalikes(engine: Engine): void {
  const runs = Math.min(engine.runs ?? inForm(5, 60), 60)
  testProperties({ ...engine, runs }, [
    property(
      'the lookalikes of a brand are those that a look at every name finds, in pages of any size, beside merges',
      [brandAndNames, fc.integer({ min: 1, max: 5 }), fc.integer({ min: 3, max: 40 })],
      async ({ store }, { brand: of, names }, limit, batch) => {
        for (let at = 0; at < names.length; at += batch) await addByList(store, names.slice(at, at + batch))
        const brand = parseBrand(name(of))
        assert.ok(typeof brand !== 'string')
        const expected = expectedOf(new BrandLookalikes(brand), names)
        const requireFound = async (): Promise<void> => {
          const rows = await walk(store, of, limit)
          assert.deepEqual(byScoreAndName(rows), expected)
          const scored = (all: readonly Lookalike[]) => all.filter(({ reasons }) => reasons[0] !== 'contains')
          assert.deepEqual(scored(rows), scored(expected))
          assert.deepEqual(rows.slice(0, scored(rows).length), scored(rows))
          assert.deepEqual(await walk(store, of, 500), rows)
          const near = names.filter((each) => {
            const [label = '', ...rest] = each.split('.')
            return rest.join('.') === brand.suffix && label !== brand.label && areNear(label, brand.label)
          })
          const found = new Set<string>(rows.map((row) => row.name))
          assert.deepEqual(
            near.filter((each) => !found.has(each)),
            [],
          )
        }
        await requireFound()
        await maintain(maintainerOf(store, await inverseHold(store)))
        await requireFound()
      },
    ),
  ])

  testUnchecked(
    engine,
    'a label of very many names leaves those of other labels complete, and says so',
    async (store) => {
      const many = Array.from({ length: 3_000 }, (_, index) => `paypal.host-${(index * 7919) % 100_003}-of-it.example`)
      const known = ['paypa1.com', ...many, 'paypal.zz', 'zaypal.com'].map(name)
      await publishForwardKeys(store, known)
      const { names, isComplete } = await store.inverse.namesOfParts({
        starts: ['z', 'paypal.', 'paypa1.'],
        insides: [],
      })
      assert.equal(isComplete, false)
      assert.ok(names.length > 1_000 && names.length < many.length, String(names.length))
      assert.ok(names.includes(name('paypa1.com')) && names.includes(name('zaypal.com')))
      const others = await store.inverse.namesOfParts({ starts: ['z', 'paypal.z'], insides: [] })
      assert.deepEqual([others.names.toSorted(), others.isComplete], [['paypal.zz', 'zaypal.com'], true])
      assert.equal((await lookalikePages(store)({ of: 'paypal.com' })).meta.complete, false)
    },
  )
}

/** Publishes a run that has the keys of names in the order of their labels, and no others. */
async function publishForwardKeys(store: Store, names: readonly DomainName[]): Promise<void> {
  const hold = await inverseHold(store)
  const run = (await store.inverseIndex.beginRun(hold))!
  const writer = new BlockWriter()
  const keys = names.map((each) => latin1Bytes(nameSetKey('forwardName', each))).sort((a, b) => a.compare(b))
  for (const key of keys) writer.add(key, key.length, [], 0)
  const { erasures } = await store.inverseIndex.portion([], Buffer.alloc(0), 1)
  await store.inverseIndex.writeBlocks(hold, run, writer.take(true), erasures)
  await store.inverseIndex.publishRun(hold, run, [])
}
