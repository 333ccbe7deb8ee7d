/** The worker pool: the workers, their metrics, and whether all of them serve. */

import cluster, { type Worker } from 'node:cluster'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import { type Acceptor, attachWorker } from '../connections/acceptor.ts'
import {
  isWorkerReport,
  type WorkerCommand,
  type WorkerMetricsJson,
  type WorkerOrder,
  type WorkerReport,
} from './messages.ts'
import { sharedRuns } from './shared-runs.ts'
import { type Slot, Supervisor } from './supervisor.ts'

/** Milliseconds without a heartbeat after which a worker is killed. */
const WORKER_HEARTBEAT_TIMEOUT_MS = 10_000
/** Milliseconds within which a worker must be ready. */
const WORKER_START_TIMEOUT_MS = 60_000
/** Milliseconds until a worker is restarted, multiplied by its failures in a row, and the maximum. */
const WORKER_RESTART_DELAY_MS = 1_000
const MAX_WORKER_RESTART_DELAY_MS = 3_000
/** If a worker dies within this many milliseconds, that counts as a failed start. */
const WORKER_STABLE_MS = 10_000
/** Milliseconds after which a worker that does not stop is killed. */
const WORKER_STOP_TIMEOUT_MS = 30_000
/** Milliseconds for which a pool stays complete while a worker is replaced. */
const READINESS_GRACE_MS = 5_000
/** Milliseconds within which a running worker must report to the primary. */
const WORKER_REPORT_TIMEOUT_MS = 500
/**
 * V8 counts the buffers of responses as memory of its old generation. With its initial limit, a server of gzipped pages
 * marked the whole heap after every 150 pages, which was a quarter of its processor time.
 */
const V8_OLD_GENERATION = '--initial-old-space-size=128'

/** A worker cannot serve. `code` is the system error code, if there is one. */
class WorkerStartError extends Error {
  readonly code: string | null

  constructor(message: string, code: string | null) {
    super(message)
    this.code = code
  }
}

type PoolWorker = {
  worker: Worker
  /** Whether the worker is ready, by its last heartbeat. */
  isReady: boolean
  /** The readiness of the pool that was last sent to the worker. */
  reportedReady: boolean
  /** The last metrics of the worker. */
  metrics: WorkerMetricsJson | null
}

/**
 * The metrics of one worker; null before its first report. `isStale`: the worker does not respond, and its metrics are
 * old. `sinceHeartbeat`: milliseconds.
 */
export type WorkerMetrics = {
  number: number
  metrics: WorkerMetricsJson | null
  isStale: boolean
  sinceHeartbeat: number
}

export class WorkerPool {
  readonly #log: Logger
  readonly #acceptor: Acceptor
  #supervisor: Supervisor<PoolWorker> | null = null
  #isComplete = false

  /** `acceptor` sends connections to the workers. */
  constructor(log: Logger, acceptor: Acceptor) {
    this.#log = log
    this.#acceptor = acceptor
    const exec = fileURLToPath(new URL('./worker.ts', import.meta.url))
    cluster.setupPrimary({ exec, args: [], execArgv: [...process.execArgv, V8_OLD_GENERATION] })
  }

  /** The number of workers that serve. */
  get size(): number {
    return this.#slots.filter(({ child }) => child !== null).length
  }

  /**
   * Starts the workers. Resolves when the first one serves and every other one serves or has failed once. The pool logs
   * such a failure and retries. Throws WorkerStartError if the first worker fails.
   */
  async start(order: WorkerOrder, count: number): Promise<void> {
    this.#supervisor = new Supervisor<PoolWorker>(
      count,
      {
        fork: forkWorker,
        processOf: ({ worker }) => worker.process,
        begin: (child, slot) => this.#begin(child, slot, order),
        sendStop: ({ worker }) => sendToWorker(worker, { to: 'worker', do: 'drain' }),
        onHeartbeat: (child, isReady) => this.#onHeartbeat(child, isReady),
        onCheck: () => void this.#broadcastReadiness(),
        logFields: (slot) => ({ worker: slot }),
        messages: {
          died: 'worker died, replacing it',
          startFailed: 'worker cannot start, retrying',
          heartbeatTimedOut: 'worker heartbeat timed out, killing it',
        },
        heartbeatTimeoutMs: WORKER_HEARTBEAT_TIMEOUT_MS,
        stableMs: WORKER_STABLE_MS,
        restartDelayMs: (failures) => Math.min(failures * WORKER_RESTART_DELAY_MS, MAX_WORKER_RESTART_DELAY_MS),
        stopTimeoutMs: WORKER_STOP_TIMEOUT_MS,
      },
      this.#log,
    )
    await this.#supervisor.start({ isFirstRequired: true })
    await this.#broadcastReadiness()
  }

  /** Lets every worker settle its charged units with the ledger, within WORKER_REPORT_TIMEOUT_MS. */
  readonly #settle = sharedRuns(async () => {
    const children = this.#slots.flatMap(({ child }) => child ?? [])
    await Promise.all(
      children.map(({ worker }) =>
        requestReport(worker, { to: 'worker', do: 'settleQuota' }, 'quotaSettled', WORKER_REPORT_TIMEOUT_MS),
      ),
    )
  })

  /** The metrics of every worker, within WORKER_REPORT_TIMEOUT_MS. */
  collectMetrics(): Promise<WorkerMetrics[]> {
    return Promise.all(
      this.#slots.map(async (slot): Promise<WorkerMetrics> => {
        const { number, child } = slot
        const report =
          child &&
          (await requestReport(
            child.worker,
            { to: 'worker', do: 'reportMetrics' },
            'metrics',
            WORKER_REPORT_TIMEOUT_MS,
          ))
        if (report?.is === 'metrics') child!.metrics = report.metrics
        return {
          number,
          metrics: slot.child?.metrics ?? null,
          isStale: report?.is !== 'metrics',
          sinceHeartbeat: this.#supervisor!.millisecondsSilent(slot),
        }
      }),
    )
  }

  /** Stops the workers without losing a request. They close connections only after all accepted ones were taken. */
  async stop(): Promise<void> {
    const stopped = (this.#supervisor?.release() ?? []).map(async ({ worker }) => {
      if (worker.isDead()) return
      const command = { to: 'worker', do: 'stopAccepting' } as const
      if ((await requestReport(worker, command, 'stopped', WORKER_STOP_TIMEOUT_MS)) === null)
        worker.process.kill('SIGKILL')
    })
    await Promise.all([this.#acceptor.stop(), ...stopped])
    await this.#supervisor?.stop()
  }

  get #slots(): readonly Slot<PoolWorker>[] {
    return this.#supervisor?.slots ?? []
  }

  async #begin({ worker }: PoolWorker, slot: number, order: WorkerOrder): Promise<void> {
    const report = await requestReport(worker, { to: 'worker', do: 'serve', order }, 'ready', WORKER_START_TIMEOUT_MS)
    if (report?.is === 'failed') throw new WorkerStartError(report.message, report.code)
    if (report?.is !== 'ready') throw new WorkerStartError('it ended or timed out before it was ready', null)
    worker.on('message', (message) => {
      if (!isWorkerReport(message) || message.is !== 'settlePool') return
      void this.#settle().then(() => sendToWorker(worker, { to: 'worker', do: 'poolSettled' }))
    })
    attachWorker(worker, this.#acceptor, () => {
      this.#log.error(
        { worker: slot },
        'worker has no file descriptor left: increase the limit of open files (LimitNOFILE)',
      )
    })
  }

  #onHeartbeat(child: PoolWorker, isReady: boolean): void {
    if (child.isReady === isReady) return
    child.isReady = isReady
    void this.#broadcastReadiness()
  }

  /**
   * Sends the readiness of the pool to new workers, and to all if it has changed. READINESS_GRACE_MS bridges restarts.
   */
  async #broadcastReadiness(): Promise<void> {
    const isPoolComplete = this.#slots.every((slot) =>
      slot.child !== null
        ? slot.child.isReady
        : this.#isComplete && this.#supervisor!.millisecondsSilent(slot) < READINESS_GRACE_MS,
    )
    this.#isComplete = isPoolComplete
    await Promise.all(
      this.#slots.map(async ({ child }) => {
        if (child === null || child.reportedReady === isPoolComplete) return
        child.reportedReady = isPoolComplete
        const command = { to: 'worker', do: 'setPoolReadiness', isPoolComplete } as const
        await requestReport(child.worker, command, 'poolReadinessSet', WORKER_REPORT_TIMEOUT_MS)
      }),
    )
  }
}

function forkWorker(): PoolWorker {
  const worker = cluster.fork()
  worker.on('error', () => {}) // the system did not start it: its process reports the end
  return { worker, isReady: true, reportedReady: false, metrics: null }
}

/**
 * Sends a command and waits for a report of the given kind or `failed`. Returns null if the worker ends or if the given
 * milliseconds pass without a report.
 */
async function requestReport(
  worker: Worker,
  command: WorkerCommand,
  kind: WorkerReport['is'],
  milliseconds: number,
): Promise<WorkerReport | null> {
  let onMessage = (_: unknown): void => {}
  let onEnd = (): void => {}
  const reported = new Promise<WorkerReport | null>((resolve) => {
    onMessage = (message) => {
      if (isWorkerReport(message) && (message.is === kind || message.is === 'failed')) resolve(message)
    }
    onEnd = () => resolve(null)
  })
  const timer = setTimeout(onEnd, milliseconds)
  worker.on('message', onMessage).on('exit', onEnd).on('error', onEnd)
  sendToWorker(worker, command)
  try {
    return await reported
  } finally {
    clearTimeout(timer)
    worker.off('message', onMessage).off('exit', onEnd).off('error', onEnd)
  }
}

/** Ignores that the worker may have died. Its `exit` event follows. */
function sendToWorker(worker: Worker, command: WorkerCommand): void {
  worker.send(command, () => {})
}
