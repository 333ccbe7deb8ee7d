/** The kind selector: shares of the rate, and unused shares. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  createKindSelector,
  type KindShares,
  PROBE_KINDS,
  type ProbeKind,
} from '../../src/crawler/queue/kind-selector.ts'

const arbitraryShares: fc.Arbitrary<KindShares> = fc.record(
  Object.fromEntries(PROBE_KINDS.map((kind) => [kind, fc.integer({ min: 1, max: 100 })])) as Record<
    ProbeKind,
    fc.Arbitrary<number>
  >,
)
const someKinds = fc.subarray([...PROBE_KINDS], { minLength: 1 })

function partOf(kind: ProbeKind, kinds: readonly ProbeKind[], shares: KindShares): number {
  return shares[kind] / kinds.reduce((sum, each) => sum + shares[each], 0)
}

test('while the same kinds wait, each has its share of the probes at any time, within one probe', () => {
  fc.assert(
    fc.property(arbitraryShares, someKinds, (shares, waiting) => {
      const next = createKindSelector(shares)
      const had = new Map<ProbeKind, number>()
      for (let turn = 1; turn <= 500; turn++) {
        const kind = next(waiting)!
        had.set(kind, (had.get(kind) ?? 0) + 1)
        for (const each of waiting) {
          const off = (had.get(each) ?? 0) - turn * partOf(each, waiting, shares)
          assert.ok(Math.abs(off) < 1, `${each} is ${off} turns off after ${turn}`)
        }
      }
    }),
    { numRuns: 50 },
  )
})

test('whenever a kind waits, one is selected', () => {
  fc.assert(
    fc.property(arbitraryShares, fc.array(fc.subarray([...PROBE_KINDS]), { maxLength: 200 }), (shares, moments) => {
      const next = createKindSelector(shares)
      for (const waiting of moments) {
        const kind = next(waiting)
        if (waiting.length === 0) assert.equal(kind, null)
        else assert.ok(waiting.includes(kind!))
      }
    }),
  )
})

test('no kind starves: a waiting kind is selected after its share, whatever other kinds do', () => {
  fc.assert(
    fc.property(
      arbitraryShares,
      fc.constantFrom(...PROBE_KINDS),
      fc.array(someKinds, { minLength: 600, maxLength: 600 }),
      (shares, patient, others) => {
        const next = createKindSelector(shares)
        const most = 2 / partOf(patient, PROBE_KINDS, shares) + PROBE_KINDS.length
        let since = 0
        for (const other of others) {
          since = next([...new Set([patient, ...other])]) === patient ? 0 : since + 1
          assert.ok(since <= most, `${since} turns went by, ${most} may`)
        }
      },
    ),
    { numRuns: 50 },
  )
})

test('a kind that waits again has no claim on probes that others had in the meantime', () => {
  const next = createKindSelector({ lookup: 10, new: 0, followup: 0, due: 10 })
  for (let turn = 0; turn < 100; turn++) assert.equal(next(['due']), 'due')
  const ten = Array.from({ length: 10 }, () => next(['lookup', 'due']))
  assert.equal(ten.filter((kind) => kind === 'lookup').length, 5)
})

test('a kind with share 0 is selected if no other waits', () => {
  const next = createKindSelector({ lookup: 1, new: 0, followup: 0, due: 0 })
  for (let turn = 0; turn < 10; turn++) assert.equal(next(['new', 'lookup']), 'lookup')
  assert.equal(next(['new']), 'new')
})
