/** The crew: as many workers as are wanted, replaced when they die, fall silent or cannot begin, and ended together. */

import cluster, { type Worker } from 'node:cluster'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import { type Acceptor, takeConnections } from './acceptor.ts'
import { ask, order } from './exchange.ts'
import { BEAT, isHeartbeat, Silences } from './heartbeat.ts'
import type { Measured, Order } from './messages.ts'

/** Milliseconds of silence after which a worker is killed. */
const SILENCE = 10_000
/** Milliseconds in which a worker has to listen. */
const START = 60_000
/** Milliseconds until a worker is started again, for each time in a row that it failed or died young, and at most. */
const AGAIN = 1_000
const AGAIN_MOST = 3_000
/** Milliseconds of service after which a worker's end is no failure to begin. */
const YOUNG = 10_000
/** Milliseconds for which a crew that was whole counts as whole without one of its workers. */
const GRACE = 5_000
/** Milliseconds for which a worker that runs may take to answer the primary. */
const ANSWER = 500

/** A worker that cannot serve; `code` is that of the system's error, where it is one. */
class CrewFault extends Error {
  readonly code: string | null

  constructor(message: string, code: string | null) {
    super(message)
    this.code = code
  }
}

/** The place of one worker, which keeps its number whoever has it. */
type Seat = {
  number: number
  /** The one that serves; null while there is none, and then since when. */
  serving: Worker | null
  since: number
  /** Whether the one that serves has what it needs. */
  isReady: boolean
  /** How often in a row a worker failed to begin, or died young. */
  failures: number
  /** Whether the crew is whole, as the one that serves was told last. */
  heeds: boolean
  /** What the one that serves told last. */
  measured: Measured | null
}

/** The figures of one worker: null before it told any. `isStale`: it does not answer, and they are of before. */
export type Figures = { number: number; measured: Measured | null; isStale: boolean; silence: number }

export class Crew {
  readonly #log: Logger
  readonly #acceptor: Acceptor
  /** Those that serve and those that begin. */
  readonly #workers = new Set<Worker>()
  readonly #silences = new Silences<Worker>(SILENCE)
  #seats: Seat[] = []
  #isServing = false
  #isWhole = false
  #watch: NodeJS.Timeout | undefined

  /** `acceptor`: who hands connections to those that serve. */
  constructor(log: Logger, acceptor: Acceptor) {
    this.#log = log
    this.#acceptor = acceptor
    cluster.setupPrimary({ exec: fileURLToPath(new URL('./worker.ts', import.meta.url)), args: [] })
  }

  /** How many serve. */
  get size(): number {
    return this.#seats.filter(({ serving }) => serving !== null).length
  }

  /**
   * Starts the workers; resolves when one of them serves and every other one does so too or has failed for the first time,
   * which is logged and tried again from then on. Throws CrewFault where the first one fails.
   */
  async start(task: Order, count: number): Promise<void> {
    const seats = Array.from({ length: count }, (_, index): Seat => {
      return {
        number: index + 1,
        serving: null,
        since: performance.now(),
        isReady: true,
        failures: 0,
        heeds: false,
        measured: null,
      }
    })
    const [first, ...others] = seats
    this.#seats = seats
    this.#isServing = true
    await this.#hire(first!, task) // one first, so that what hinders all is said once
    this.#watch = setInterval(() => this.#look(), BEAT).unref()
    await Promise.all(others.map((seat) => this.#fill(seat, task)))
    await this.#tellWhole()
  }

  /** What every worker has counted, within half a second. */
  measure(): Promise<Figures[]> {
    return Promise.all(
      this.#seats.map(async (seat): Promise<Figures> => {
        const { number, serving } = seat
        const report = serving && (await ask(serving, { to: 'worker', do: 'measure' }, 'measured', ANSWER))
        if (report?.is === 'measured') seat.measured = report.measured
        const silence = serving === null ? performance.now() - seat.since : this.#silences.of(serving)
        return { number, measured: seat.measured, isStale: report?.is !== 'measured', silence }
      }),
    )
  }

  /** Ends the workers without losing a request: nothing is accepted any more, and what was accepted is taken, before the first one closes connections. */
  async end(): Promise<void> {
    this.#isServing = false
    clearInterval(this.#watch)
    const workers = [...this.#workers]
    const stopped = workers.map((worker) => order(worker, { to: 'worker', do: 'stop' }, 'stopped'))
    await Promise.all([this.#acceptor.stop(), ...stopped])
    await Promise.all(workers.map((worker) => order(worker, { to: 'worker', do: 'drain' }, 'ended')))
  }

  async #hire(seat: Seat, task: Order): Promise<void> {
    const worker = cluster.fork()
    this.#workers.add(worker)
    worker.on('message', (message: unknown) => {
      if (isHeartbeat(message) && seat.serving === worker) this.#hear(seat, worker, message.isReady)
    })
    worker.on('error', () => this.#workers.delete(worker)) // of one that the system did not start
    worker.on('exit', (code, signal) => {
      this.#workers.delete(worker)
      this.#silences.forget(worker)
      if (seat.serving === worker) this.#lose(seat, task, signal ?? code)
    })
    const report = await ask(worker, { to: 'worker', do: 'serve', order: task }, 'listening', START)
    if (report?.is !== 'listening') {
      worker.process.kill('SIGKILL')
      if (report?.is === 'failed') throw new CrewFault(report.message, report.code)
      throw new CrewFault('it ended, or took too long, before it listened', null)
    }
    Object.assign(seat, { serving: worker, since: performance.now(), isReady: true, heeds: false })
    this.#silences.hear(worker)
    takeConnections(worker, this.#acceptor, () => {
      const { number: full } = seat
      this.#log.error(
        { worker: full },
        'a worker has no file descriptor left: raise the limit of open files (LimitNOFILE)',
      )
    })
    await this.#tellWhole()
  }

  #hear(seat: Seat, worker: Worker, isReady: boolean): void {
    this.#silences.hear(worker)
    if (seat.isReady === isReady) return
    seat.isReady = isReady
    void this.#tellWhole()
  }

  /** The seat's worker has died. */
  #lose(seat: Seat, task: Order, reason: string | number): void {
    const { number: worker, since } = seat
    const now = performance.now()
    seat.failures = now - since < YOUNG ? seat.failures + 1 : 0
    Object.assign(seat, { serving: null, since: now, measured: null })
    if (!this.#isServing) return
    this.#log.error({ worker, reason }, 'a worker died and is replaced')
    this.#fillLater(seat, task)
  }

  /** Starts a worker for a seat; where that fails it is tried again and again, from now on beside. */
  async #fill(seat: Seat, task: Order): Promise<void> {
    if (!this.#isServing) return
    try {
      await this.#hire(seat, task)
    } catch (error) {
      if (!this.#isServing) return
      seat.failures++
      const seconds = pauseOf(seat) / 1_000
      const { message: reason } = error as Error
      this.#log.error({ worker: seat.number, reason, seconds }, 'a worker cannot serve and is started again')
      this.#fillLater(seat, task)
    }
  }

  #fillLater(seat: Seat, task: Order): void {
    setTimeout(() => void this.#fill(seat, task), pauseOf(seat)).unref()
  }

  #look(): void {
    for (const worker of this.#silences.look()) {
      const seat = this.#seats.find(({ serving }) => serving === worker)
      const { pid } = worker.process
      this.#log.error(
        { worker: seat?.number, silent: pid, seconds: SILENCE / 1_000 },
        'a worker is silent and is killed',
      )
      worker.process.kill('SIGKILL')
    }
    void this.#tellWhole()
  }

  /** Tells the workers whether all of them serve and are ready, or served until just now: those that are new, and all when it changes. */
  async #tellWhole(): Promise<void> {
    const now = performance.now()
    const isWhole = this.#seats.every(({ serving, isReady, since }) =>
      serving !== null ? isReady : this.#isWhole && now - since < GRACE,
    )
    this.#isWhole = isWhole
    await Promise.all(
      this.#seats.map(async (seat) => {
        if (seat.serving === null || seat.heeds === isWhole) return
        seat.heeds = isWhole
        await ask(seat.serving, { to: 'worker', do: 'heed', isWhole }, 'heeded', ANSWER)
      }),
    )
  }
}

function pauseOf({ failures }: Seat): number {
  return Math.min(failures * AGAIN, AGAIN_MOST)
}
