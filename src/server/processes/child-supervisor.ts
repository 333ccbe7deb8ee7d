/**
 * Supervises the processes of `serve` that answer no requests: the crawler, the follower of certificate logs, the job
 * scheduler, the indexer and the deliverer.
 */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import type { Settings } from '../../config/settings.ts'
import type { ChildCommand, ChildOrder, CrawlOrder, DeliveriesOrder, JobsOrder } from './messages.ts'
import { Supervisor } from './supervisor.ts'

/** What the options of `serve` start. `crawl`: options of the crawler; null: no crawler. */
type ChildOptions = { crawl: Omit<CrawlOrder, 'settings'> | null; hasCertificateLogs: boolean; demo: boolean }

/** The name of a child process in the log, and its main file. */
type ChildProgram = {
  name: string
  file: URL
  /** Null if the settings or options turn the process off. */
  order(settings: Settings, options: ChildOptions): ChildOrder | null
}

const CHILD_PROGRAMS: readonly ChildProgram[] = [
  {
    name: 'crawler',
    file: new URL('./crawler-process.ts', import.meta.url),
    order: (settings, { crawl }) => crawl && { ...crawl, settings },
  },
  {
    name: 'certificate logs',
    file: new URL('./certificate-logs-process.ts', import.meta.url),
    order: (settings, { hasCertificateLogs }) => (hasCertificateLogs ? { settings } : null),
  },
  {
    name: 'jobs',
    file: new URL('./jobs-process.ts', import.meta.url),
    order: (settings, { crawl }): JobsOrder | null =>
      settings.jobTimes && { settings, resolvers: crawl?.resolver ?? null },
  },
  {
    name: 'indexer',
    file: new URL('./indexer-process.ts', import.meta.url),
    order: (settings) => (settings.index ? { settings } : null),
  },
  {
    name: 'deliveries',
    file: new URL('./deliveries-process.ts', import.meta.url),
    order: (settings, { demo }): DeliveriesOrder | null => (settings.deliveries ? { settings, demo } : null),
  },
]

/** Milliseconds until a process that died is restarted. The delay doubles each time, up to the maximum. */
const CHILD_RESTART_DELAY_MS = 1_000
const MAX_CHILD_RESTART_DELAY_MS = 60_000
/** Milliseconds after which the delay of a running process is reset. */
const CHILD_STABLE_MS = 300_000
/** Milliseconds after which a process that does not stop is killed. */
const CHILD_STOP_TIMEOUT_MS = 40_000
/** Milliseconds without a heartbeat until a process is killed. A long SQLite statement may block its event loop. */
const CHILD_HEARTBEAT_TIMEOUT_MS = 300_000

/** Starts the child processes that the settings and options ask for. */
export async function startChildren(
  settings: Settings,
  options: ChildOptions,
  log: Logger,
): Promise<Supervisor<ChildProcess>[]> {
  const supervisors = CHILD_PROGRAMS.flatMap((program) => {
    const order = program.order(settings, options)
    return order === null ? [] : [superviseChild(program, order, log)]
  })
  await Promise.all(supervisors.map((supervisor) => supervisor.start({ isFirstRequired: false })))
  return supervisors
}

function superviseChild({ name, file }: ChildProgram, order: ChildOrder, log: Logger): Supervisor<ChildProcess> {
  return new Supervisor<ChildProcess>(
    1,
    {
      fork: () => fork(fileURLToPath(file)),
      processOf: (child) => child,
      async begin(child) {
        await once(child, 'spawn')
        sendToChild(child, { to: 'child', do: 'run', order })
      },
      sendStop: (child) => sendToChild(child, { to: 'child', do: 'stop' }),
      logFields: () => ({ process: name }),
      messages: {
        died: 'child process died, restarting it',
        startFailed: 'cannot start child process, retrying',
        heartbeatTimedOut: 'child process heartbeat timed out, killing it',
      },
      heartbeatTimeoutMs: CHILD_HEARTBEAT_TIMEOUT_MS,
      stableMs: CHILD_STABLE_MS,
      restartDelayMs: (failures) =>
        Math.min(CHILD_RESTART_DELAY_MS * 2 ** Math.max(failures - 1, 0), MAX_CHILD_RESTART_DELAY_MS),
      stopTimeoutMs: CHILD_STOP_TIMEOUT_MS,
    },
    log,
  )
}

/** Ignores that the process may have died. Its `close` event follows. */
function sendToChild(child: ChildProcess, command: ChildCommand<ChildOrder>): void {
  child.send(command, () => {})
}
