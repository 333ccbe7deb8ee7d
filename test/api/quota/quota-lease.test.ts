/** The token lease: no unit is created or lost, whatever happens to the calls. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { TokenLease } from '../../../src/api/quota/quota-lease.ts'
import { UnitReservation } from '../../../src/api/quota/reservation.ts'
import type { Day } from '../../../src/values/time.ts'

const LIMIT = 25_000

type Deed = 'grant' | 'take' | 'spend' | 'restore' | 'round' | 'fail' | 'retire'
const deeds: fc.Arbitrary<Deed[]> = fc.array(
  fc.constantFrom('grant', 'take', 'take', 'take', 'spend', 'restore', 'round', 'fail', 'retire'),
  { maxLength: 200 },
)

/** Runs the operations as a process and its ledger would. Returns the final state of the ledger. */
function live(purse: TokenLease, list: readonly Deed[]) {
  const ledger = { held: 0, used: 0 }
  let inFlight = 0
  for (const deed of list) {
    if (deed === 'grant') {
      ledger.held += 64
      assert.equal(
        purse.applyGrant({ granted: 64, used: ledger.used, leased: ledger.held, retryLater: false }),
        'leased',
      )
    } else if (deed === 'take') inFlight += purse.takeIdleUnit() ? 1 : 0
    else if (deed === 'retire') purse.retire()
    else if (deed === 'round' || deed === 'fail') {
      const settlement = purse.nextSettlement('holder')
      if (settlement !== null && deed === 'fail') purse.revertSettlement(settlement)
      else if (settlement !== null) {
        ledger.held -= settlement.spent + settlement.returned
        ledger.used += settlement.spent
      }
    } else if (inFlight > 0) {
      inFlight--
      if (deed === 'spend') purse.spendUnit()
      else purse.releaseUnit('leased')
    }
    assert.ok(ledger.held >= 0)
  }
  return { ...ledger, inFlight }
}

test('what the ledger counts as held is exactly what the process can still settle', () => {
  fc.assert(
    fc.property(deeds, (list) => {
      const purse = new TokenLease(1, '2026-11-20' as Day, LIMIT)
      const { held, inFlight } = live(purse, list)
      for (let call = 0; call < inFlight; call++) purse.releaseUnit('leased')
      let left = held
      for (let round = purse.nextSettlement('h'); round !== null; round = purse.nextSettlement('h'))
        left -= round.spent + round.returned
      assert.equal(left, 0)
    }),
  )
})

test('an idle unit is returned in the second round after it arrived', () => {
  const purse = new TokenLease(1, '2026-11-20' as Day, LIMIT)
  purse.applyGrant({ granted: 64, used: 0, leased: 64, retryLater: false })
  assert.deepEqual(purse.nextSettlement('h')?.returned, 0)
  assert.deepEqual(purse.nextSettlement('h')?.returned, 64)
  assert.equal(purse.isEmpty, true)
})

test('the remaining units are those that no process has', () => {
  const purse = new TokenLease(1, '2026-11-20' as Day, LIMIT)
  purse.applyGrant({ granted: 64, used: 10, leased: 64, retryLater: false })
  assert.equal(purse.remaining, LIMIT - 10)
  purse.takeIdleUnit()
  assert.equal(purse.remaining, LIMIT - 11)
  purse.releaseUnit('leased')
  assert.equal(purse.remaining, LIMIT - 10)
})

test('the remaining units follow the calls, through a settlement and one that did not arrive', () => {
  const purse = new TokenLease(1, '2026-11-20' as Day, LIMIT)
  purse.applyGrant({ granted: 64, used: 10, leased: 64, retryLater: false })
  for (let call = 0; call < 3; call++) purse.takeIdleUnit()
  purse.spendUnit()
  purse.spendUnit()
  assert.equal(purse.remaining, LIMIT - 13, 'two are spent, one is in flight')
  const settlement = purse.nextSettlement('h')!
  assert.deepEqual([settlement.spent, purse.remaining, purse.unsettled], [2, LIMIT - 13, 0])
  purse.revertSettlement(settlement)
  assert.deepEqual([purse.remaining, purse.unsettled], [LIMIT - 13, 2])
  assert.equal(purse.nextSettlement('h')?.spent, 2, 'it is settled again')
  assert.equal(purse.remaining, LIMIT - 13)
  purse.releaseUnit('charged')
  assert.equal(purse.remaining, LIMIT - 12, 'a unit that the ledger counted comes back')
  purse.applyGrant({ granted: 0, used: LIMIT, leased: 0, retryLater: false })
  assert.equal(purse.remaining, 0, 'never less than none')
})

/** A lease with three calls in flight, and the record of the first of them. */
function inFlight(source: 'leased' | 'charged') {
  const purse = new TokenLease(1, '2026-11-20' as Day, LIMIT)
  purse.applyGrant({ granted: 64, used: 0, leased: 64, retryLater: false })
  for (let call = 0; call < 3; call++) purse.takeIdleUnit()
  const said: string[] = []
  const notes = { add: (_: unknown, endpoint: string) => said.push(`noted ${endpoint}`) } as never
  const giveBack = async (): Promise<void> => void said.push('given back')
  return { purse, said, unit: new UnitReservation(purse, {} as never, source, { usage: notes, refund: giveBack }) }
}

test('a unit is charged once, however often charge is called, and cannot be returned then', async () => {
  for (const source of ['leased', 'charged'] as const) {
    const { purse, said, unit } = inFlight(source)
    for (const endpoint of ['lookup', 'redirect']) unit.charge(endpoint)
    await unit.release()
    assert.deepEqual([said, purse.unsettled], [['noted lookup'], source === 'leased' ? 1 : 0])
  }
})

test('a unit is released once, however often release is called, and cannot be charged then', async () => {
  for (const source of ['leased', 'charged'] as const) {
    const { purse, said, unit } = inFlight(source)
    for (let time = 0; time < 2; time++) await unit.release()
    unit.charge('lookup')
    assert.deepEqual([said, purse.unsettled], [source === 'leased' ? [] : ['given back'], 0])
    assert.equal(purse.remaining, source === 'leased' ? LIMIT - 2 : LIMIT - 3)
  }
})
