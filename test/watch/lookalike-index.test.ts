/** Which watches of lookalikes the index finds: those that a look at each brand finds. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BrandLookalikes } from '../../src/lookalikes/lookalikes.ts'
import { LABEL_REASONS } from '../../src/lookalikes/reasons.ts'
import { KIND_PROPERTIES } from '../../src/values/watch-kind.ts'
import { brandOfValue, parseWatchValue, type Watch } from '../../src/watch/watch.ts'
import { WatchIndex } from '../../src/watch/watch-index.ts'
import { assertMakes } from '../sample.ts'
import { brandAndNames } from '../store/conformance/reading/lookalikes.ts'

const { min } = KIND_PROPERTIES.lookalikes.threshold
test('the least threshold is the score of names that the index does not find', () => {
  assert.equal(min, LABEL_REASONS.distance_2.weight)
})

const BRANDS = [
  'paypal.com',
  'bank-one.co.uk',
  'internationals.org',
  'bücher.de',
  'ups.com',
  'login.shop7.net',
  'usp.com',
]

const watches = BRANDS.flatMap((brand, at) =>
  [min, 60, 85].map((threshold, which): Watch => {
    const parsed = parseWatchValue('lookalikes', brand)
    assert.ok('value' in parsed)
    return { id: 10 * at + which, account: 1, kind: 'lookalikes', value: parsed.value, threshold, types: null }
  }),
)
const brands = new Map(watches.map(({ value }) => [value, new BrandLookalikes(brandOfValue(value))]))

function expected(watched: readonly Watch[], name: string): number[] {
  return watched
    .filter(({ value, threshold }) => (brands.get(value)!.judge(name as never)?.score ?? 0) >= threshold!)
    .map(({ id }) => id)
}

const idsOf = (found: readonly Watch[]): number[] => found.map(({ id }) => id).sort((a, b) => a - b)

test('the index finds the brands that a name looks like, by the score of each watch, also after some were removed', () => {
  fc.assert(
    fc.property(brandAndNames, fc.array(fc.nat(watches.length - 1)), ({ names }, gone) => {
      const index = new WatchIndex()
      for (const watch of watches) index.set(watch)
      for (const at of gone) index.remove(watches[at]!.id)
      const left = watches.filter((_, at) => !gone.includes(at))
      for (const name of names) assert.deepEqual(idsOf(index.ofName(name)), expected(left, name), name)
    }),
    { numRuns: 60 },
  )
})

test('the random names look like their brand, by every way of finding it', () => {
  const looksLike = (names: readonly string[], like: (label: string) => boolean): boolean =>
    names.some((name) => expected(watches, name).length > 0 && like(name.slice(0, name.indexOf('.'))))
  assertMakes(
    brandAndNames.map(({ names }) => names),
    {
      near: (names) => looksLike(names, (label) => label === 'payal'),
      far: (names) => looksLike(names, (label) => label === 'paypal-secure'),
      idn: (names) => looksLike(names, (label) => label.startsWith('xn--')),
      dotted: (names) => names.some((name) => name.startsWith('pay.pal.') && expected(watches, name).length > 0),
    },
  )
})

test('a brand of a watch is a domain whose label is long enough', () => {
  assert.deepEqual(parseWatchValue('lookalikes', 'Login.PayPal.com'), { value: 'login.paypal.com' })
  assert.match((parseWatchValue('lookalikes', 'ab.com') as { problem: string }).problem, /too short/)
  assert.match((parseWatchValue('lookalikes', 'co.uk') as { problem: string }).problem, /public suffix/)
})
