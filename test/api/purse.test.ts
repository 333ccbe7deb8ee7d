/** The purse: no unit appears or vanishes, whatever becomes of the calls. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Purse } from '../../src/api/purse.ts'
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
