/** The regular run of the doctor in the process of the jobs. */

import type { Logger } from 'pino'
import type { CrawlClock } from '../../crawler/notifier.ts'
import type { Store } from '../../store/port/store.ts'
import type { Finding } from './finding.ts'
import { saveReport } from './reports.ts'

/** Milliseconds until the first run, and between two runs. */
const FIRST_DELAY_MS = 300_000
const INTERVAL_MS = 3_600_000

/** `examine`: what a run examines. It never rejects. */
export type RegularDoctor = {
  examine: () => Promise<Finding[]>
  store: Pick<Store, 'maintenance' | 'now'>
  log: Pick<Logger, 'warn'>
  clock: CrawlClock
}

/** Examines the installation every hour, and keeps the report for the page of operators. Logs faults. Never rejects. */
export async function runDoctorRegularly(
  { examine, store, log, clock }: RegularDoctor,
  signal: AbortSignal,
): Promise<void> {
  for (let delay = FIRST_DELAY_MS; ; delay = INTERVAL_MS) {
    await clock.wait(delay, signal)
    if (signal.aborted) return
    const findings = await examine()
    if (signal.aborted) return
    await saveReport(store, findings).catch((err: Error) => log.warn({ err }, 'the report of doctor was not kept'))
    for (const { subject, state, message } of findings)
      if (state === 'fault') log.warn({ subject, reason: message }, 'doctor found a fault')
  }
}
