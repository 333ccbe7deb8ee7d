/** The last report of `doctor` of each machine, which the store keeps for the page of operators. */

import { hostname } from 'node:os'
import type { Store, StoreMaintenance } from '../../store/port/store.ts'
import type { Instant } from '../../values/time.ts'
import type { Finding } from './finding.ts'

/** `at`: when it was made, by the store's clock. */
export type DoctorReport = { machine: string; at: Instant; findings: Finding[] }

/** The name under which the store keeps the reports. */
const JOB = 'doctor'
/** The maximum number of machines, and of seconds after which a report says nothing any more. */
const MAX_REPORTS = 20
const MAX_AGE_SECONDS = 7 * 86_400

/** Replaces the report of this machine. */
export async function saveReport(
  { maintenance, now }: Pick<Store, 'maintenance' | 'now'>,
  findings: Finding[],
): Promise<void> {
  const report: DoctorReport = { machine: hostname(), at: await now(), findings }
  const others = (await readReports(maintenance, report.at)).filter(({ machine }) => machine !== report.machine)
  await maintenance.saveProgress(JOB, JSON.stringify([report, ...others].slice(0, MAX_REPORTS)))
}

/** The newest report first. */
export async function readReports(
  maintenance: Pick<StoreMaintenance, 'progress'>,
  now: Instant,
): Promise<DoctorReport[]> {
  const text = await maintenance.progress(JOB)
  const reports = text === null ? [] : (JSON.parse(text) as DoctorReport[])
  return reports.filter(({ at }) => now - at < MAX_AGE_SECONDS)
}
