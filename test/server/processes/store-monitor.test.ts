/** The pulse of a store: its clock counts for whoever serves from it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { monitorStore } from '../../../src/server/processes/store-monitor.ts'

const probe = async () => {}
const machine = () => Math.floor(Date.now() / 1000)

for (const [ahead, counted] of [
  [0, 0],
  [3_600, 3_600],
  [-90, -90],
] as const) {
  test(`a store whose clock is ${ahead} seconds ahead of the machine's is followed`, async () => {
    const pulse = await monitorStore({ probe, now: async () => machine() + ahead })
    pulse.close()
    assert.ok(Math.abs(pulse.now() - machine() - counted) <= 1)
    assert.equal(pulse.isHealthy(), true)
  })
}

test('clocks that are a second apart are taken for one, because they are read in whole seconds', async () => {
  const pulse = await monitorStore({ probe, now: async () => machine() - 1 })
  pulse.close()
  const [before, now, after] = [machine(), pulse.now(), machine()]
  assert.ok(before <= now && now <= after)
})

test('a store that does not answer at first is a fault', async () => {
  const broken = () => Promise.reject(new Error('nothing answers there'))
  await assert.rejects(monitorStore({ probe, now: broken }), /nothing answers/)
  await assert.rejects(monitorStore({ probe: broken, now: async () => machine() }), /nothing answers/)
})
