/** Tests the store monitor: the store's clock applies to every server that uses it. */

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
  test(`if the clock of a store is ${ahead} seconds ahead of the machine, the server follows it`, async () => {
    const pulse = await monitorStore({ probe, now: async () => machine() + ahead })
    pulse.close()
    assert.ok(Math.abs(pulse.now() - machine() - counted) <= 1)
    assert.equal(pulse.isHealthy(), true)
    assert.equal(pulse.isReady(), ahead === 0)
  })
}

test('clocks one second apart count as equal, because they are read in whole seconds', async () => {
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
