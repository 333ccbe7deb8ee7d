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
    assert.equal(pulse.readiness(), ahead === 0 ? 'ok' : 'the clock differs from that of the store')
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

test('a reading of the clock that arrives late is ignored', async () => {
  let [monotonicMs, latency, tick] = [0, 0, () => {}]
  const machineClock = {
    now: () => 1_000 + Math.floor(monotonicMs / 1_000),
    monotonicMs: () => monotonicMs,
    every: (_: number, work: () => void) => {
      tick = work
      return () => {}
    },
  }
  const settled: (() => void)[] = []
  const now = async () => {
    const at = machineClock.now()
    monotonicMs += latency
    return at
  }
  const reading = async () => {
    const probed = new Promise<void>((resolve) => settled.push(resolve))
    tick()
    await probed
    await new Promise(setImmediate) // the monitor records the outcome
  }
  const probed = async () => settled.shift()?.()
  const pulse = await monitorStore({ now, probe: probed }, undefined, undefined, machineClock)
  latency = 40_000
  await reading()
  assert.deepEqual([pulse.clock.ahead, pulse.now()], [0, 1_040])
  latency = 0
  await reading()
  assert.deepEqual([pulse.clock.ahead, pulse.now()], [0, 1_040])
})
