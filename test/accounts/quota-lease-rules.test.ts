/** Which processes are dead, and which keep their units because all were silent. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  classifyHolders,
  firstRestorableDay,
  type HolderSilence,
  LEASE_TIMEOUT_SECONDS,
  leaseSize,
  MAX_LEASE_UNITS,
  SINGLE_UNIT_THRESHOLD,
} from '../../src/accounts/quota-lease-rules.ts'

const OURS = ['ours', 'ours too']
const silences: fc.Arbitrary<HolderSilence[]> = fc
  .uniqueArray(fc.constantFrom(...OURS, 'a', 'b', 'c', 'd'))
  .chain((holders) =>
    fc.tuple(
      ...holders.map((holder) => fc.record({ holder: fc.constant(holder), seconds: fc.integer({ min: -9, max: 9 }) })),
    ),
  )

test('each other process is alive, dead or spared, and none is dead if there was no heartbeat at all', () => {
  const property = fc.property(silences, (all) => {
    const { liveCount: live, expired: removed, renewed: spared } = classifyHolders(all, OURS)
    const others = all.filter(({ holder }) => !OURS.includes(holder))
    const silent = others.filter(({ seconds }) => seconds > LEASE_TIMEOUT_SECONDS).map(({ holder }) => holder)
    assert.equal(live + removed.length, others.length)
    assert.deepEqual([...removed, ...spared], silent)
    assert.ok(removed.length === 0 || spared.length === 0)
    assert.equal(removed.length > 0, silent.length > 0 && all.some(({ seconds }) => seconds <= LEASE_TIMEOUT_SECONDS))
  })
  fc.assert(property, { numRuns: 1_000 })
})

test('the shares of all live processes never exceed the free units, and are single units near the end', () => {
  const property = fc.property(
    fc.integer({ min: 1, max: 100_000 }),
    fc.integer({ min: 1, max: 64 }),
    fc.integer({ min: 1, max: 200 }),
    (free, want, live) => {
      const share = leaseSize(free, want, live)
      assert.ok(share >= 1 && share <= free && share <= Math.max(1, want) && share <= MAX_LEASE_UNITS)
      if (free <= SINGLE_UNIT_THRESHOLD) assert.equal(share, 1)
      if (share > 1) assert.ok(share * live * 8 <= free)
    },
  )
  fc.assert(property, { numRuns: 1_000 })
})

test('a process gets at most 1,024 units and an eighth of its part of what is left, and one if 1,000 or fewer are left', () => {
  for (const [remaining, requested, live, expected] of [
    [25_000, 5_000, 1, 1_024],
    [25_000, 100, 1, 100],
    [25_000, 10, 1, 10],
    [25_000, 100, 100, 31],
    [1_001, 100, 2, 62],
    [1_001, 64, 1, 64],
    [1_000, 64, 1, 1],
    [1_001, 64, 1_000, 1],
  ] as const)
    assert.equal(leaseSize(remaining, requested, live), expected, `${remaining} ${requested} ${live}`)
})

test('a process that was silent for more than 2 seconds has expired', () => {
  const silences = [0, 2, 2.1].map((seconds) => ({ holder: `silent for ${seconds}`, seconds }))
  assert.deepEqual(classifyHolders(silences, []), { liveCount: 2, expired: ['silent for 2.1'], renewed: [] })
})

test('expired leases of today and yesterday can be restored', () => {
  const midnight = Date.UTC(2026, 10, 20) / 1000
  assert.deepEqual([midnight - 1, midnight].map(firstRestorableDay), ['2026-11-18', '2026-11-19'])
})
