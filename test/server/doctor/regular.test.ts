/** Tests the regular run of the doctor: when it runs, what it keeps, and what it logs. */

import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { test } from 'node:test'
import type { CrawlClock } from '../../../src/crawler/notifier.ts'
import { type Finding, fault, ok, warning } from '../../../src/server/doctor/finding.ts'
import { runDoctorRegularly } from '../../../src/server/doctor/regular.ts'
import { readReports } from '../../../src/server/doctor/reports.ts'
import { folderOf } from '../../cli/run.ts'

/** A clock that stands until the test ends its wait. */
function manualClock() {
  const waits: number[] = []
  let end = (): void => {}
  let isWaiting = Promise.withResolvers<void>()
  const clock: CrawlClock = {
    monotonicMs: () => 0,
    wait(milliseconds, signal) {
      waits.push(milliseconds)
      const waited = Promise.withResolvers<void>()
      end = waited.resolve
      signal.addEventListener('abort', () => waited.resolve())
      isWaiting.resolve()
      return waited.promise
    },
  }
  return {
    clock,
    waits,
    /** Ends the present wait, and resolves when the next one begins. */
    async pass(): Promise<void> {
      isWaiting = Promise.withResolvers()
      end()
      await isWaiting.promise
    },
  }
}

const SILENT = fault('store', 'it does not answer', 'check it')

test('given a process of jobs, the doctor runs after five minutes and then every hour, keeps its report and logs the faults', async (t) => {
  const { withStore } = folderOf(t)
  await withStore(async (store) => {
    const runs: Finding[][] = [[ok('disk', 'free'), SILENT, warning('mail', 'slow', 'wait')], [ok('disk', 'free')]]
    const logged: unknown[][] = []
    const log = { warn: (...line: unknown[]) => void logged.push(line) }
    const { clock, waits, pass } = manualClock()
    const controller = new AbortController()
    const reported = async () =>
      (await readReports(store.maintenance, await store.now())).map(({ machine, findings }) => ({ machine, findings }))
    const examine = async () => runs.shift() ?? []
    const running = runDoctorRegularly({ examine, store, log, clock }, controller.signal)
    assert.deepEqual(waits, [300_000])
    assert.deepEqual(await reported(), [])
    const [first, second] = [...runs]
    await pass()
    assert.deepEqual(await reported(), [{ machine: hostname(), findings: first }])
    assert.deepEqual(logged, [[{ subject: 'store', reason: 'it does not answer' }, 'doctor found a fault']])
    await pass()
    assert.deepEqual(await reported(), [{ machine: hostname(), findings: second }])
    assert.equal(logged.length, 1)
    assert.deepEqual(waits, [300_000, 3_600_000, 3_600_000])
    controller.abort()
    await running
    assert.equal(waits.length, 3)
  })
})

test('given a store that cannot keep the report, the doctor logs that and the faults, and runs again', async (t) => {
  const { withStore } = folderOf(t)
  await withStore(async ({ now, maintenance }) => {
    const failing = { ...maintenance, saveProgress: () => Promise.reject(new Error('the disk is full')) }
    const messages: unknown[] = []
    const log = { warn: (_: unknown, message?: string) => void messages.push(message) }
    const { clock, waits, pass } = manualClock()
    const controller = new AbortController()
    const options = { examine: async () => [SILENT], store: { now, maintenance: failing }, log, clock }
    const running = runDoctorRegularly(options, controller.signal)
    await pass()
    assert.deepEqual(messages, ['the report of doctor was not kept', 'doctor found a fault'])
    assert.deepEqual(waits, [300_000, 3_600_000])
    controller.abort()
    await running
  })
})
