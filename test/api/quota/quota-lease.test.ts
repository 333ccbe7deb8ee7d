/** The token lease: no unit is created or lost, whatever happens to the calls. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { TokenLease } from '../../../src/api/quota/quota-lease.ts'
import { UnitReservation } from '../../../src/api/quota/reservation.ts'
import type { Day } from '../../../src/values/time.ts'

const LIMIT = 25_000

type Operation = 'grant' | 'announce' | 'take' | 'spend' | 'restore' | 'round' | 'fail' | 'retire'
const operations: fc.Arbitrary<Operation[]> = fc.array(
  fc.constantFrom('grant', 'announce', 'take', 'take', 'take', 'spend', 'restore', 'round', 'fail', 'retire'),
  { maxLength: 200 },
)

/** Runs the operations as a process and its ledger would. Returns the final state of the ledger. */
function live(lease: TokenLease, list: readonly Operation[]) {
  const ledger = { held: 0, used: 0 }
  let inFlight = 0
  for (const operation of list) {
    if (operation === 'grant') {
      ledger.held += 64
      assert.equal(lease.applyGrant({ granted: 64, used: ledger.used, retryLater: false }, 64), 'leased')
    } else if (operation === 'announce') lease.expectCalls(100)
    else if (operation === 'take') inFlight += lease.takeIdleUnit() ? 1 : 0
    else if (operation === 'retire') lease.retire()
    else if (operation === 'round' || operation === 'fail') {
      const settlement = lease.nextSettlement('holder')
      if (settlement !== null && operation === 'fail') lease.revertSettlement(settlement)
      else if (settlement !== null) {
        ledger.held -= settlement.spent + settlement.returned
        ledger.used += settlement.spent
      }
    } else if (inFlight > 0) {
      inFlight--
      if (operation === 'spend') lease.spendUnit()
      else lease.releaseUnit('leased')
    }
    assert.ok(ledger.held >= 0)
  }
  return { ...ledger, inFlight }
}

test('what the ledger counts as held is exactly what the process can still settle', () => {
  fc.assert(
    fc.property(operations, (list) => {
      const lease = new TokenLease(1, '2026-11-20' as Day, LIMIT)
      const { held, inFlight } = live(lease, list)
      for (let call = 0; call < inFlight; call++) lease.releaseUnit('leased')
      let left = held
      for (let round = lease.nextSettlement('h'); round !== null; round = lease.nextSettlement('h'))
        left -= round.spent + round.returned
      assert.equal(left, 0)
    }),
  )
})

test('an idle unit is returned in the second round after it arrived', () => {
  const lease = new TokenLease(1, '2026-11-20' as Day, LIMIT)
  lease.applyGrant({ granted: 64, used: 0, retryLater: false }, 64)
  assert.deepEqual(lease.nextSettlement('h')?.returned, 0)
  assert.deepEqual(lease.nextSettlement('h')?.returned, 64)
  assert.equal(lease.isEmpty, true)
})

test('a batch requests units for its lines, and single calls request 64', () => {
  const lease = new TokenLease(1, '2026-11-20' as Day, LIMIT)
  assert.equal(lease.unitsToRequest, 64)
  lease.expectCalls(1_000)
  assert.deepEqual([lease.unitsToRequest, lease.isExpectingCalls], [1_000, true])
  lease.applyGrant({ granted: 1_000, used: 0, retryLater: false }, 1_000)
  assert.equal(lease.isLow, false)
  for (let call = 0; call < 760; call++) lease.takeIdleUnit()
  assert.equal(lease.isLow, true, 'less than a quarter of the announced lines')
  lease.expectCalls(-760)
  assert.equal(lease.isLow, false, '240 units are enough for the 240 lines that are left')
  lease.expectCalls(-240)
  assert.equal(lease.isExpectingCalls, false)
  lease.expectCalls(5_000)
  assert.equal(lease.unitsToRequest, 1_024 - 240, 'never more than a lease may have')
})

test('a lease asks for fewer units only after the ledger has granted fewer than requested', () => {
  const lease = new TokenLease(1, '2026-11-20' as Day, LIMIT)
  lease.applyGrant({ granted: 64, used: 0, retryLater: false }, 64)
  for (let call = 0; call < 60; call++) lease.takeIdleUnit()
  const requested = lease.unitsToRequest
  for (let call = 0; call < 4; call++) lease.takeIdleUnit()
  lease.applyGrant({ granted: requested, used: 0, retryLater: false }, requested)
  for (let call = 0; call < requested; call++) lease.takeIdleUnit()
  assert.equal(lease.unitsToRequest, 64, 'all was granted, although units were taken meanwhile')
  lease.applyGrant({ granted: 20, used: 0, retryLater: false }, 64)
  for (let call = 0; call < 20; call++) lease.takeIdleUnit()
  assert.equal(lease.unitsToRequest, 20)
})

test('the remaining units are those that no process has', () => {
  const lease = new TokenLease(1, '2026-11-20' as Day, LIMIT)
  lease.applyGrant({ granted: 64, used: 10, retryLater: false }, 64)
  assert.equal(lease.remaining, LIMIT - 10)
  lease.takeIdleUnit()
  assert.equal(lease.remaining, LIMIT - 11)
  lease.releaseUnit('leased')
  assert.equal(lease.remaining, LIMIT - 10)
})

test('the remaining units follow the calls, through a settlement and one that did not arrive', () => {
  const lease = new TokenLease(1, '2026-11-20' as Day, LIMIT)
  lease.applyGrant({ granted: 64, used: 10, retryLater: false }, 64)
  for (let call = 0; call < 3; call++) lease.takeIdleUnit()
  lease.spendUnit()
  lease.spendUnit()
  assert.equal(lease.remaining, LIMIT - 13, 'two are spent, one is in flight')
  const settlement = lease.nextSettlement('h')!
  assert.deepEqual([settlement.spent, lease.remaining, lease.unsettled], [2, LIMIT - 13, 0])
  lease.revertSettlement(settlement)
  assert.deepEqual([lease.remaining, lease.unsettled], [LIMIT - 13, 2])
  assert.equal(lease.nextSettlement('h')?.spent, 2, 'it is settled again')
  assert.equal(lease.remaining, LIMIT - 13)
  lease.releaseUnit('charged')
  assert.equal(lease.remaining, LIMIT - 12, 'a unit that the ledger counted comes back')
  lease.applyGrant({ granted: 0, used: LIMIT, retryLater: false }, 64)
  assert.equal(lease.remaining, 0, 'never less than none')
})

/** A lease with three calls in flight, and the record of the first of them. */
function inFlight(source: 'leased' | 'charged') {
  const lease = new TokenLease(1, '2026-11-20' as Day, LIMIT)
  lease.applyGrant({ granted: 64, used: 0, retryLater: false }, 64)
  for (let call = 0; call < 3; call++) lease.takeIdleUnit()
  const output: string[] = []
  const notes = { add: (_: unknown, endpoint: string) => output.push(`noted ${endpoint}`) } as never
  const giveBack = async (): Promise<void> => void output.push('given back')
  return { lease, output, unit: new UnitReservation(lease, {} as never, source, { usage: notes, refund: giveBack }) }
}

test('a unit is charged once, however often charge is called, and cannot be returned then', async () => {
  for (const source of ['leased', 'charged'] as const) {
    const { lease, output, unit } = inFlight(source)
    for (const endpoint of ['lookup', 'redirect']) unit.charge(endpoint)
    await unit.release()
    assert.deepEqual([output, lease.unsettled], [['noted lookup'], source === 'leased' ? 1 : 0])
  }
})

test('a unit is released once, however often release is called, and cannot be charged then', async () => {
  for (const source of ['leased', 'charged'] as const) {
    const { lease, output, unit } = inFlight(source)
    for (let time = 0; time < 2; time++) await unit.release()
    unit.charge('lookup')
    assert.deepEqual([output, lease.unsettled], [source === 'leased' ? [] : ['given back'], 0])
    assert.equal(lease.remaining, source === 'leased' ? LIMIT - 2 : LIMIT - 3)
  }
})
