/** The purse: no unit appears or vanishes, whatever becomes of the calls. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Purse } from '../../src/api/purse.ts'
import { Unit } from '../../src/api/unit.ts'
import type { Day } from '../../src/words/time.ts'

const LIMIT = 25_000

type Deed = 'grant' | 'take' | 'spend' | 'restore' | 'round' | 'fail' | 'retire'
const deeds: fc.Arbitrary<Deed[]> = fc.array(
  fc.constantFrom('grant', 'take', 'take', 'take', 'spend', 'restore', 'round', 'fail', 'retire'),
  { maxLength: 200 },
)

/** Does the deeds as a process and its ledger would; returns what the ledger knows at the end. */
function live(purse: Purse, list: readonly Deed[]) {
  const ledger = { held: 0, used: 0 }
  let inFlight = 0
  for (const deed of list) {
    if (deed === 'grant') {
      ledger.held += 64
      assert.equal(purse.learn({ granted: 64, used: ledger.used, held: ledger.held, wait: false }), 'held')
    } else if (deed === 'take') inFlight += purse.takeIdle() ? 1 : 0
    else if (deed === 'retire') purse.retire()
    else if (deed === 'round' || deed === 'fail') {
      const settlement = purse.round('holder')
      if (settlement !== null && deed === 'fail') purse.undo(settlement)
      else if (settlement !== null) {
        ledger.held -= settlement.spent + settlement.returned
        ledger.used += settlement.spent
      }
    } else if (inFlight > 0) {
      inFlight--
      if (deed === 'spend') purse.spend()
      else purse.restore('held')
    }
    assert.ok(ledger.held >= 0)
  }
  return { ...ledger, inFlight }
}

test('what the ledger counts as held is exactly what the process can still settle', () => {
  fc.assert(
    fc.property(deeds, (list) => {
      const purse = new Purse(1, '2026-11-20' as Day, LIMIT)
      const { held, inFlight } = live(purse, list)
      for (let call = 0; call < inFlight; call++) purse.restore('held')
      let left = held
      for (let round = purse.round('h'); round !== null; round = purse.round('h')) left -= round.spent + round.returned
      assert.equal(left, 0)
    }),
  )
})

test('an idle unit goes back with the second round after it came', () => {
  const purse = new Purse(1, '2026-11-20' as Day, LIMIT)
  purse.learn({ granted: 64, used: 0, held: 64, wait: false })
  assert.deepEqual(purse.round('h')?.returned, 0)
  assert.deepEqual(purse.round('h')?.returned, 64)
  assert.equal(purse.isEmpty, true)
})

test('the units that are left are those that nobody has', () => {
  const purse = new Purse(1, '2026-11-20' as Day, LIMIT)
  purse.learn({ granted: 64, used: 10, held: 64, wait: false })
  assert.equal(purse.remaining, LIMIT - 10)
  purse.takeIdle()
  assert.equal(purse.remaining, LIMIT - 11)
  purse.restore('held')
  assert.equal(purse.remaining, LIMIT - 10)
})

test('units that are left follow what calls took, through a settlement and one that did not arrive', () => {
  const purse = new Purse(1, '2026-11-20' as Day, LIMIT)
  purse.learn({ granted: 64, used: 10, held: 64, wait: false })
  for (let call = 0; call < 3; call++) purse.takeIdle()
  purse.spend()
  purse.spend()
  assert.equal(purse.remaining, LIMIT - 13, 'two are spent, one is in flight')
  const settlement = purse.round('h')!
  assert.deepEqual([settlement.spent, purse.remaining, purse.unsettled], [2, LIMIT - 13, 0])
  purse.undo(settlement)
  assert.deepEqual([purse.remaining, purse.unsettled], [LIMIT - 13, 2])
  assert.equal(purse.round('h')?.spent, 2, 'it is settled again')
  assert.equal(purse.remaining, LIMIT - 13)
  purse.restore('spent')
  assert.equal(purse.remaining, LIMIT - 12, 'a unit that the ledger counted comes back')
  purse.learn({ granted: 0, used: LIMIT, held: 0, wait: false })
  assert.equal(purse.remaining, 0, 'never less than none')
})

/** A purse with three calls in flight, and what is written down of the first of them. */
function inFlight(source: 'held' | 'spent') {
  const purse = new Purse(1, '2026-11-20' as Day, LIMIT)
  purse.learn({ granted: 64, used: 0, held: 64, wait: false })
  for (let call = 0; call < 3; call++) purse.takeIdle()
  const said: string[] = []
  const notes = { add: (_: unknown, endpoint: string) => said.push(`noted ${endpoint}`) } as never
  const giveBack = async (): Promise<void> => void said.push('given back')
  return { purse, said, unit: new Unit(purse, {} as never, source, { notes, giveBack }) }
}

test('a unit is charged once, however often it is charged, and is not given back then', async () => {
  for (const source of ['held', 'spent'] as const) {
    const { purse, said, unit } = inFlight(source)
    for (const endpoint of ['lookup', 'redirect']) unit.charge(endpoint)
    await unit.release()
    assert.deepEqual([said, purse.unsettled], [['noted lookup'], source === 'held' ? 1 : 0])
  }
})

test('a unit is released once, however often it is released, and is not charged then', async () => {
  for (const source of ['held', 'spent'] as const) {
    const { purse, said, unit } = inFlight(source)
    for (let time = 0; time < 2; time++) await unit.release()
    unit.charge('lookup')
    assert.deepEqual([said, purse.unsettled], [source === 'held' ? [] : ['given back'], 0])
    assert.equal(purse.remaining, source === 'held' ? LIMIT - 2 : LIMIT - 3)
  }
})
