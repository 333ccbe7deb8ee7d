/** The worker pool: starts the workers, replaces those that die or send no heartbeat, and stops all of them. */

import cluster, { type Worker } from 'node:cluster'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import { type Acceptor, attachWorker } from '../connections/acceptor.ts'
import { HEARTBEAT_MS, HeartbeatMonitor, isHeartbeat } from './heartbeat.ts'
import type { WorkerMetricsJson, WorkerOrder } from './messages.ts'
import { commandWorker, requestReport } from './worker-channel.ts'

/** Milliseconds without a heartbeat after which a worker is killed. */
const WORKER_HEARTBEAT_TIMEOUT_MS = 10_000
/** Milliseconds within which a worker must be ready. */
const WORKER_START_TIMEOUT_MS = 60_000
/** Milliseconds until a worker is restarted, multiplied by its failures in a row, and the maximum. */
const WORKER_RESTART_DELAY_MS = 1_000
const MAX_WORKER_RESTART_DELAY_MS = 3_000
/** If a worker dies within so many milliseconds, that counts as a failed start. */
const WORKER_STABLE_MS = 10_000
/** Milliseconds for which a pool stays complete while a worker is replaced. */
const READINESS_GRACE_MS = 5_000
/** Milliseconds within which a running worker must report to the primary. */
const WORKER_REPORT_TIMEOUT_MS = 500

/** A worker cannot serve. `code` is the system error code, if there is one. */
class WorkerStartError extends Error {
  readonly code: string | null

  constructor(message: string, code: string | null) {
    super(message)
    this.code = code
  }
}

/** A slot of the pool. It keeps its number when its worker is replaced. */
type WorkerSlot = {
  number: number
  /** The worker that serves; null if there is none. */
  worker: Worker | null
  /** When the worker became ready or died: monotonic milliseconds. */
  since: number
  /** Whether the worker is ready, by its last heartbeat. */
  isReady: boolean
  /** How often in a row a worker failed to start, or died soon after. */
  failures: number
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
  /** The workers that serve and those that start. */
  readonly #workers = new Set<Worker>()
  readonly #heartbeats = new HeartbeatMonitor<Worker>(WORKER_HEARTBEAT_TIMEOUT_MS)
  #slots: WorkerSlot[] = []
  #isServing = false
  #isComplete = false
  #heartbeatTimer: NodeJS.Timeout | undefined

  /** `acceptor` sends connections to the workers. */
  constructor(log: Logger, acceptor: Acceptor) {
    this.#log = log
    this.#acceptor = acceptor
    cluster.setupPrimary({ exec: fileURLToPath(new URL('./worker.ts', import.meta.url)), args: [] })
  }

  /** The number of workers that serve. */
  get size(): number {
    return this.#slots.filter(({ worker: serving }) => serving !== null).length
  }

  /**
   * Starts the workers. Resolves when the first one serves and every other one serves or has failed once. The pool logs
   * such a failure and retries. Throws WorkerStartError if the first worker fails.
   */
  async start(task: WorkerOrder, count: number): Promise<void> {
    const slots = Array.from({ length: count }, (_, index): WorkerSlot => {
      return {
        number: index + 1,
        worker: null,
        since: performance.now(),
        isReady: true,
        failures: 0,
        reportedReady: false,
        metrics: null,
      }
    })
    const [first, ...others] = slots
    this.#slots = slots
    this.#isServing = true
    await this.#startWorker(first!, task) // one first, so that a common failure is reported once
    this.#heartbeatTimer = setInterval(() => this.#checkHeartbeats(), HEARTBEAT_MS).unref()
    await Promise.all(others.map((slot) => this.#fillSlot(slot, task)))
    await this.#broadcastReadiness()
  }

  /** The metrics of every worker, within WORKER_REPORT_TIMEOUT_MS. */
  collectMetrics(): Promise<WorkerMetrics[]> {
    return Promise.all(
      this.#slots.map(async (slot): Promise<WorkerMetrics> => {
        const { number, worker: serving } = slot
        const report =
          serving &&
          (await requestReport(serving, { to: 'worker', do: 'reportMetrics' }, 'metrics', WORKER_REPORT_TIMEOUT_MS))
        if (report?.is === 'metrics') slot.metrics = report.metrics
        const silence = serving === null ? performance.now() - slot.since : this.#heartbeats.millisecondsSince(serving)
        return { number, metrics: slot.metrics, isStale: report?.is !== 'metrics', sinceHeartbeat: silence }
      }),
    )
  }

  /** Stops the workers without losing a request. They close connections only after all accepted ones were taken. */
  async stop(): Promise<void> {
    this.#isServing = false
    clearInterval(this.#heartbeatTimer)
    const workers = [...this.#workers]
    const stopped = workers.map((worker) => commandWorker(worker, { to: 'worker', do: 'stopAccepting' }, 'stopped'))
    await Promise.all([this.#acceptor.stop(), ...stopped])
    await Promise.all(workers.map((worker) => commandWorker(worker, { to: 'worker', do: 'drain' }, 'ended')))
  }

  async #startWorker(slot: WorkerSlot, task: WorkerOrder): Promise<void> {
    const worker = cluster.fork()
    this.#workers.add(worker)
    worker.on('message', (message: unknown) => {
      if (isHeartbeat(message) && slot.worker === worker) this.#onHeartbeat(slot, worker, message.isReady)
    })
    worker.on('error', () => this.#workers.delete(worker)) // the system did not start it
    worker.on('exit', (code, signal) => {
      this.#workers.delete(worker)
      this.#heartbeats.forget(worker)
      if (slot.worker === worker) this.#onWorkerExit(slot, task, signal ?? code)
    })
    const report = await requestReport(
      worker,
      { to: 'worker', do: 'serve', order: task },
      'ready',
      WORKER_START_TIMEOUT_MS,
    )
    if (report?.is !== 'ready') {
      worker.process.kill('SIGKILL')
      if (report?.is === 'failed') throw new WorkerStartError(report.message, report.code)
      throw new WorkerStartError('it ended or timed out before it was ready', null)
    }
    Object.assign(slot, { worker, since: performance.now(), isReady: true, reportedReady: false })
    this.#heartbeats.heartbeat(worker)
    attachWorker(worker, this.#acceptor, () => {
      this.#log.error(
        { worker: slot.number },
        'worker has no file descriptor left: increase the limit of open files (LimitNOFILE)',
      )
    })
    await this.#broadcastReadiness()
  }

  #onHeartbeat(slot: WorkerSlot, worker: Worker, isReady: boolean): void {
    this.#heartbeats.heartbeat(worker)
    if (slot.isReady === isReady) return
    slot.isReady = isReady
    void this.#broadcastReadiness()
  }

  /** Handles the death of the worker of a slot. */
  #onWorkerExit(slot: WorkerSlot, task: WorkerOrder, reason: string | number): void {
    const { number: worker, since } = slot
    const now = performance.now()
    slot.failures = now - since < WORKER_STABLE_MS ? slot.failures + 1 : 0
    Object.assign(slot, { worker: null, since: now, metrics: null })
    if (!this.#isServing) return
    this.#log.error({ worker, reason }, 'worker died, replacing it')
    this.#fillSlotLater(slot, task)
  }

  /** Starts a worker for a slot. If that fails, retries in the background. */
  async #fillSlot(slot: WorkerSlot, task: WorkerOrder): Promise<void> {
    if (!this.#isServing) return
    try {
      await this.#startWorker(slot, task)
    } catch (error) {
      if (!this.#isServing) return
      slot.failures++
      const seconds = restartDelay(slot) / 1_000
      const { message: reason } = error as Error
      this.#log.error({ worker: slot.number, reason, seconds }, 'worker cannot start, retrying')
      this.#fillSlotLater(slot, task)
    }
  }

  #fillSlotLater(slot: WorkerSlot, task: WorkerOrder): void {
    setTimeout(() => void this.#fillSlot(slot, task), restartDelay(slot)).unref()
  }

  #checkHeartbeats(): void {
    for (const worker of this.#heartbeats.check()) {
      const slot = this.#slots.find(({ worker: serving }) => serving === worker)
      const { pid } = worker.process
      this.#log.error(
        { worker: slot?.number, childPid: pid, seconds: WORKER_HEARTBEAT_TIMEOUT_MS / 1_000 },
        'worker heartbeat timed out, killing it',
      )
      worker.process.kill('SIGKILL')
    }
    void this.#broadcastReadiness()
  }

  /**
   * Sends the readiness of the pool to new workers, and to all if it has changed. READINESS_GRACE_MS bridges restarts.
   */
  async #broadcastReadiness(): Promise<void> {
    const now = performance.now()
    const isComplete = this.#slots.every(({ worker: serving, isReady, since }) =>
      serving !== null ? isReady : this.#isComplete && now - since < READINESS_GRACE_MS,
    )
    this.#isComplete = isComplete
    await Promise.all(
      this.#slots.map(async (slot) => {
        if (slot.worker === null || slot.reportedReady === isComplete) return
        slot.reportedReady = isComplete
        await requestReport(
          slot.worker,
          { to: 'worker', do: 'setPoolReadiness', isPoolComplete: isComplete },
          'poolReadinessSet',
          WORKER_REPORT_TIMEOUT_MS,
        )
      }),
    )
  }
}

function restartDelay({ failures }: WorkerSlot): number {
  return Math.min(failures * WORKER_RESTART_DELAY_MS, MAX_WORKER_RESTART_DELAY_MS)
}
