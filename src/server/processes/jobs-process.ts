/** The jobs process of `serve`: imports the inbox and builds files at the scheduled times. */

import { readdirSync } from 'node:fs'
import { setPriority } from 'node:os'
import type { Logger } from 'pino'
import type { Settings } from '../../config/settings.ts'
import { BuildFault } from '../../jobs/file-store/build-fault.ts'
import { fileFolders } from '../../jobs/file-store/location.ts'
import { errorText } from '../../jobs/job-lock.ts'
import { type JobScheduler, runJobScheduler } from '../../jobs/job-scheduler.ts'
import { readPlanInputs, runStep } from '../../jobs/steps.ts'
import type { InboxReport } from '../../registrations/inbox.ts'
import { storeWaitingForSpace } from '../../store/disk-space.ts'
import { userMessageOf } from '../../store/engines.ts'
import { processHolderName } from '../../store/named-lock.ts'
import { openStore } from '../../store/open.ts'
import { StoreFault } from '../../store/port/fault.ts'
import type { Store } from '../../store/port/store.ts'
import { diskSpaceOf, logDiskSpace } from '../disk-space.ts'
import { examineInstallation } from '../doctor/doctor.ts'
import { runDoctorRegularly } from '../doctor/regular.ts'
import { createJobDependencies } from '../job-dependencies.ts'
import { withoutOptedOutNames } from '../opted-out-names.ts'
import { wrongPlaces } from '../places/check.ts'
import { placesOf } from '../places/place.ts'
import { SYSTEM_CLOCK } from '../system-clock.ts'
import { runChildProcess } from './child-process.ts'
import type { JobsOrder } from './messages.ts'

/** Lower priority than all processes that answer requests. */
const JOBS_NICENESS = 10
/** Milliseconds until wrong places for files are checked again. */
const PLACES_RETRY_MS = 10_000

runChildProcess<JobsOrder>({
  name: 'job scheduler',
  run(order, log, signal) {
    lowerPriority()
    return runJobProcess(order, log, signal)
  },
  logsEveryStack: true,
})

async function runJobProcess(order: JobsOrder, log: Logger, signal: AbortSignal): Promise<void> {
  const { settings, resolvers } = order
  const { secret, pool, jobTimes, followupWait } = settings
  const opened = await openStore(settings.store, { access: 'write', ledger: 'own', secret, pool })
  const store = withoutOptedOutNames(opened, settings, (message) => log.error(message))
  const holder = processHolderName()
  const diskSpace = diskSpaceOf(settings, [...fileFolders(settings), settings.zones], logDiskSpace(log))
  const dependencies = await createJobDependencies(
    settings,
    storeWaitingForSpace(store, diskSpace, signal),
    (report) => logInboxReport(log, report),
    diskSpace,
  )
  const scheduler: JobScheduler = {
    store,
    holder,
    clock: SYSTEM_CLOCK,
    readInputs: async () => ({ ...(await readPlanInputs(dependencies)), times: jobTimes!, followupWait }),
    run: (step, lock) => runStep(dependencies, step, lock, { onRows: () => {} }),
    events: jobEventLogger(log),
  }
  const examine = () =>
    examineInstallation({
      settings,
      store: async () => store,
      resolvers: resolvers ?? [],
      hasNetwork: resolvers !== null,
    })
  try {
    void runDoctorRegularly({ examine, store, log, clock: SYSTEM_CLOCK }, signal) // the end of this process waits for none
    await waitForPlaces(settings, store, log, signal)
    if (signal.aborted) return
    log.info({ holder }, 'job scheduler started')
    await runJobScheduler(scheduler, signal)
  } finally {
    await store.close()
  }
  log.info('job scheduler stopped')
}

/** Waits until all places for files are those of the installation, so that no job works in others. */
async function waitForPlaces(settings: Settings, store: Store, log: Logger, signal: AbortSignal): Promise<void> {
  const places = await placesOf(settings)
  for (let logged = ''; !signal.aborted; await SYSTEM_CLOCK.wait(PLACES_RETRY_MS, signal)) {
    const faults = await wrongPlaces(places, store, 'claimer').catch((error: Error) => [errorText(error)])
    if (faults.length === 0) return
    if (logged !== faults.join()) log.error(`no jobs run: ${faults.join('; ')}`)
    logged = faults.join()
  }
}

/** Lowers the priority of every thread. Compression threads inherit the priority of the thread that starts them. */
function lowerPriority(): void {
  setPriority(JOBS_NICENESS)
  if (process.platform !== 'linux') return
  for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), JOBS_NICENESS)
}

function jobEventLogger(log: Logger): JobScheduler['events'] {
  return {
    done: (step, { rows, message, held }) => log[held ? 'warn' : 'info']({ ...step, rows }, message ?? 'done'),
    failed(step, error) {
      const isPlain = error instanceof BuildFault || error instanceof StoreFault || userMessageOf(error) !== null
      if (isPlain) log.error({ ...step }, errorText(error))
      else log.error({ ...step, err: error }, 'job failed')
    },
  }
}

function logInboxReport(log: Logger, report: InboxReport): void {
  const { file, outcome } = report
  if (report.outcome === 'done')
    log.info({ file, names: report.taken.names, registered: report.taken.registered }, 'inbox file imported')
  else log[outcome === 'failed' ? 'error' : 'info']({ file }, report.reason)
}
