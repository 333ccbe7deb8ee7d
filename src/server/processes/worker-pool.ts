/** The crew: as many workers as are wanted, replaced when they die, fall silent or cannot begin, and ended together. */

import cluster, { type Worker } from 'node:cluster'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import { type Acceptor, attachWorker } from '../connections/acceptor.ts'
import { HEARTBEAT_MS, HeartbeatMonitor, isHeartbeat } from './heartbeat.ts'
import type { WorkerMetricsJson, WorkerOrder } from './messages.ts'
import { commandWorker, requestReport } from './worker-channel.ts'

/** Milliseconds of silence after which a worker is killed. */
const WORKER_HEARTBEAT_TIMEOUT_MS = 10_000
/** Milliseconds in which a worker has to listen. */
const WORKER_START_TIMEOUT_MS = 60_000
/** Milliseconds until a worker is started again, for each time in a row that it failed or died young, and at most. */
const WORKER_RESTART_DELAY_MS = 1_000
const MAX_WORKER_RESTART_DELAY_MS = 3_000
/** Milliseconds of service after which a worker's end is no failure to begin. */
const WORKER_STABLE_MS = 10_000
/** Milliseconds for which a crew that was whole counts as whole without one of its workers. */
const READINESS_GRACE_MS = 5_000
/** Milliseconds for which a worker that runs may take to answer the primary. */
const WORKER_REPORT_TIMEOUT_MS = 500

/** A worker that cannot serve; `code` is that of the system's error, where it is one. */
class WorkerStartError extends Error {
  readonly code: string | null

  constructor(message: string, code: string | null) {
    super(message)
    this.code = code
  }
}

/** The place of one worker, which keeps its number whoever has it. */
type WorkerSlot = {
  number: number
  /** The one that serves; null while there is none, and then since when. */
  worker: Worker | null
  since: number
  /** Whether the one that serves has what it needs. */
  isReady: boolean
  /** How often in a row a worker failed to begin, or died young. */
  failures: number
  /** Whether the crew is whole, as the one that serves was told last. */
  reportedReady: boolean
  /** What the one that serves told last. */
  metrics: WorkerMetricsJson | null
}

/** The figures of one worker: null before it told any. `isStale`: it does not answer, and they are of before. */
export type WorkerMetrics = {
  number: number
  metrics: WorkerMetricsJson | null
  isStale: boolean
  sinceHeartbeat: number
}

export class WorkerPool {
  readonly #log: Logger
  readonly #acceptor: Acceptor
  /** Those that serve and those that begin. */
  readonly #workers = new Set<Worker>()
  readonly #heartbeats = new HeartbeatMonitor<Worker>(WORKER_HEARTBEAT_TIMEOUT_MS)
  #slots: WorkerSlot[] = []
  #isServing = false
  #isComplete = false
  #heartbeatTimer: NodeJS.Timeout | undefined

  /** `acceptor`: who hands connections to those that serve. */
  constructor(log: Logger, acceptor: Acceptor) {
    this.#log = log
    this.#acceptor = acceptor
    cluster.setupPrimary({ exec: fileURLToPath(new URL('./worker.ts', import.meta.url)), args: [] })
  }

  /** How many serve. */
  get size(): number {
    return this.#slots.filter(({ worker: serving }) => serving !== null).length
  }

  /**
   * Starts the workers; resolves when one of them serves and every other one does so too or has failed for the first time,
   * which is logged and tried again from then on. Throws CrewFault where the first one fails.
   */
  async start(task: WorkerOrder, count: number): Promise<void> {
    const seats = Array.from({ length: count }, (_, index): WorkerSlot => {
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
    const [first, ...others] = seats
    this.#slots = seats
    this.#isServing = true
    await this.#startWorker(first!, task) // one first, so that what hinders all is said once
    this.#heartbeatTimer = setInterval(() => this.#checkHeartbeats(), HEARTBEAT_MS).unref()
    await Promise.all(others.map((seat) => this.#fillSlot(seat, task)))
    await this.#broadcastReadiness()
  }

  /** What every worker has counted, within half a second. */
  collectMetrics(): Promise<WorkerMetrics[]> {
    return Promise.all(
      this.#slots.map(async (seat): Promise<WorkerMetrics> => {
        const { number, worker: serving } = seat
        const report =
          serving &&
          (await requestReport(serving, { to: 'worker', do: 'reportMetrics' }, 'metrics', WORKER_REPORT_TIMEOUT_MS))
        if (report?.is === 'metrics') seat.metrics = report.metrics
        const silence = serving === null ? performance.now() - seat.since : this.#heartbeats.millisecondsSince(serving)
        return { number, metrics: seat.metrics, isStale: report?.is !== 'metrics', sinceHeartbeat: silence }
      }),
    )
  }

  /** Ends the workers without losing a request: nothing is accepted any more, and what was accepted is taken, before the first one closes connections. */
  async stop(): Promise<void> {
    this.#isServing = false
    clearInterval(this.#heartbeatTimer)
    const workers = [...this.#workers]
    const stopped = workers.map((worker) => commandWorker(worker, { to: 'worker', do: 'stopAccepting' }, 'stopped'))
    await Promise.all([this.#acceptor.stop(), ...stopped])
    await Promise.all(workers.map((worker) => commandWorker(worker, { to: 'worker', do: 'drain' }, 'ended')))
  }

  async #startWorker(seat: WorkerSlot, task: WorkerOrder): Promise<void> {
    const worker = cluster.fork()
    this.#workers.add(worker)
    worker.on('message', (message: unknown) => {
      if (isHeartbeat(message) && seat.worker === worker) this.#onHeartbeat(seat, worker, message.isReady)
    })
    worker.on('error', () => this.#workers.delete(worker)) // of one that the system did not start
    worker.on('exit', (code, signal) => {
      this.#workers.delete(worker)
      this.#heartbeats.forget(worker)
      if (seat.worker === worker) this.#onWorkerExit(seat, task, signal ?? code)
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
      throw new WorkerStartError('it ended, or took too long, before it listened', null)
    }
    Object.assign(seat, { worker, since: performance.now(), isReady: true, reportedReady: false })
    this.#heartbeats.heartbeat(worker)
    attachWorker(worker, this.#acceptor, () => {
      const { number: full } = seat
      this.#log.error(
        { worker: full },
        'worker has no file descriptor left: raise the limit of open files (LimitNOFILE)',
      )
    })
    await this.#broadcastReadiness()
  }

  #onHeartbeat(seat: WorkerSlot, worker: Worker, isReady: boolean): void {
    this.#heartbeats.heartbeat(worker)
    if (seat.isReady === isReady) return
    seat.isReady = isReady
    void this.#broadcastReadiness()
  }

  /** The seat's worker has died. */
  #onWorkerExit(seat: WorkerSlot, task: WorkerOrder, reason: string | number): void {
    const { number: worker, since } = seat
    const now = performance.now()
    seat.failures = now - since < WORKER_STABLE_MS ? seat.failures + 1 : 0
    Object.assign(seat, { worker: null, since: now, metrics: null })
    if (!this.#isServing) return
    this.#log.error({ worker, reason }, 'worker died, replacing it')
    this.#fillSlotLater(seat, task)
  }

  /** Starts a worker for a seat; where that fails it is tried again and again, from now on beside. */
  async #fillSlot(seat: WorkerSlot, task: WorkerOrder): Promise<void> {
    if (!this.#isServing) return
    try {
      await this.#startWorker(seat, task)
    } catch (error) {
      if (!this.#isServing) return
      seat.failures++
      const seconds = restartDelay(seat) / 1_000
      const { message: reason } = error as Error
      this.#log.error({ worker: seat.number, reason, seconds }, 'worker cannot start, retrying')
      this.#fillSlotLater(seat, task)
    }
  }

  #fillSlotLater(seat: WorkerSlot, task: WorkerOrder): void {
    setTimeout(() => void this.#fillSlot(seat, task), restartDelay(seat)).unref()
  }

  #checkHeartbeats(): void {
    for (const worker of this.#heartbeats.check()) {
      const seat = this.#slots.find(({ worker: serving }) => serving === worker)
      const { pid } = worker.process
      this.#log.error(
        { worker: seat?.number, childPid: pid, seconds: WORKER_HEARTBEAT_TIMEOUT_MS / 1_000 },
        'worker heartbeat timed out, killing it',
      )
      worker.process.kill('SIGKILL')
    }
    void this.#broadcastReadiness()
  }

  /** Tells the workers whether all of them serve and are ready, or served until just now: those that are new, and all when it changes. */
  async #broadcastReadiness(): Promise<void> {
    const now = performance.now()
    const isWhole = this.#slots.every(({ worker: serving, isReady, since }) =>
      serving !== null ? isReady : this.#isComplete && now - since < READINESS_GRACE_MS,
    )
    this.#isComplete = isWhole
    await Promise.all(
      this.#slots.map(async (seat) => {
        if (seat.worker === null || seat.reportedReady === isWhole) return
        seat.reportedReady = isWhole
        await requestReport(
          seat.worker,
          { to: 'worker', do: 'setPoolReadiness', isPoolComplete: isWhole },
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
