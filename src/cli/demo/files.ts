/**
 * Builds the files of the demo: imports the lab's names as registrations of past days, and runs the jobs that are due.
 */

import type { Settings } from '../../config/settings.ts'
import { type JobScheduler, runDueJobs } from '../../jobs/job-scheduler.ts'
import { readPlanInputs, runStep } from '../../jobs/steps.ts'
import { importList } from '../../registrations/list/import-list.ts'
import { createJobDependencies } from '../../server/job-dependencies.ts'
import { SYSTEM_CLOCK } from '../../server/system-clock.ts'
import { processHolderName } from '../../store/named-lock.ts'
import type { Store } from '../../store/port/store.ts'
import type { DomainName } from '../../values/domain-name.ts'
import { addDays, type Day, dayOf } from '../../values/time.ts'
import { nextSecond } from './next-second.ts'

/** Days ago on which names were registered: the last week, and the days whose follow-ups are due. */
const DAYS_AGO = [31, 8, 7, 6, 5, 4, 3, 2, 1]

/** A day that has a daily file, the days that have each follow-up file, and a line about all files. */
export type DemoFiles = { daily: Day; followup7: Day; followup30: Day; summary: string }

/** Imports the names as lists of these days and builds all due files. Throws what a build throws. */
export async function buildDemoFiles(
  settings: Settings,
  store: Store,
  names: readonly DomainName[],
): Promise<DemoFiles> {
  const signal = new AbortController().signal
  const today = dayOf(await store.now())
  const days = DAYS_AGO.map((ago) => addDays(today, -ago))
  for (const [dayIndex, day] of days.entries()) {
    const namesOfDay = names.filter((_, index) => index % days.length === dayIndex)
    await importDemoList(settings, store, day, namesOfDay)
  }
  await nextSecond()
  const dependencies = await createJobDependencies(settings, store, () => {})
  const scheduler: JobScheduler = {
    store,
    holder: processHolderName(),
    clock: SYSTEM_CLOCK,
    readInputs: async () => ({ ...(await readPlanInputs(dependencies)), times: [0], followupWait: 0 }),
    run: (step, lock) => runStep(dependencies, step, lock, { onRows: () => {} }),
    events: {
      done() {},
      failed(_, error) {
        throw error
      },
    },
  }
  await runDueJobs(scheduler, signal)
  const built = await dependencies.fileStore.list('daily')
  const [snapshot] = await dependencies.fileStore.list('snapshot')
  const [daily, followup7, followup30] = [days.at(-1)!, addDays(today, -8), addDays(today, -31)]
  const summary =
    `registrations of ${built.length} days up to ${daily}, their follow-ups after 7 and 30 days, ` +
    `and a snapshot of ${snapshot!.rows} names`
  return { daily, followup7, followup30, summary }
}

async function importDemoList(
  { zones }: Settings,
  store: Store,
  day: Day,
  names: readonly DomainName[],
): Promise<void> {
  const silent = { onReject() {}, onLines() {}, onNames() {} }
  const options = {
    root: zones,
    store,
    signal: new AbortController().signal,
    isStrict: true,
    acceptsLoss: false,
    ...silent,
  }
  const bytes = (async function* () {
    yield Buffer.from(names.map((name) => `${name}\n`).join(''))
  })()
  await importList(options, { path: 'the lab', day, bytes, name: 'lab' })
}
