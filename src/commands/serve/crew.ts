/** The crew: as many workers as are wanted, replaced when they die, and ended together. */

import cluster, { type Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import { type Command, isReport, type Order, type Report } from './messages.ts'

/** Workers that are replaced within one span of milliseconds, at most; a further one waits for the next. */
const REPLACEMENTS = 10
const SPAN = 60_000
/** Milliseconds after which a worker that does not end is killed. */
const PATIENCE = 30_000

/** A worker that cannot serve; `code` is that of the system's error, where it is one. */
class CrewFault extends Error {
  readonly code: string | null

  constructor(message: string, code: string | null) {
    super(message)
    this.code = code
  }
}

export class Crew {
  readonly #log: Logger
  readonly #workers = new Set<Worker>()
  #replaced: number[] = []
  #isServing = false

  constructor(log: Logger) {
    this.#log = log
    cluster.setupPrimary({ exec: fileURLToPath(new URL('./worker.ts', import.meta.url)), args: [] })
  }

  get size(): number {
    return this.#workers.size
  }

  /** Starts the workers; resolves when all of them listen. Throws CrewFault. */
  async start(order: Order, count: number): Promise<void> {
    await this.#hire(order) // one first, so that what hinders all is said once
    await Promise.all(Array.from({ length: count - 1 }, () => this.#hire(order)))
    this.#isServing = true
  }

  /** Ends the workers without losing a request: all stop accepting before the first one closes connections. */
  async end(): Promise<void> {
    this.#isServing = false
    const workers = [...this.#workers]
    await Promise.all(workers.map((worker) => told(worker, 'stop', heard(worker, 'stopped'))))
    await Promise.all(workers.map((worker) => told(worker, 'drain', gone(worker))))
  }

  async #hire(order: Order): Promise<void> {
    const worker = cluster.fork()
    this.#workers.add(worker)
    worker.on('exit', (code, signal) => {
      this.#workers.delete(worker)
      if (this.#isServing) void this.#replace(order, signal ?? code)
    })
    send(worker, { to: 'worker', do: 'serve', order })
    const report = await heard(worker, 'listening')
    if (report?.is === 'listening') return
    worker.process.kill('SIGKILL')
    if (report?.is === 'failed') throw new CrewFault(report.message, report.code)
    throw new CrewFault('a worker ended before it listened', null)
  }

  async #replace(order: Order, reason: string | number): Promise<void> {
    this.#log.error({ reason }, 'a worker died and is replaced')
    const now = performance.now()
    this.#replaced = this.#replaced.filter((time) => now - time < SPAN)
    const [oldest] = this.#replaced
    if (oldest !== undefined && this.#replaced.length >= REPLACEMENTS) await sleep(SPAN - (now - oldest))
    if (!this.#isServing) return
    this.#replaced.push(performance.now())
    await this.#hire(order).catch((err) => this.#log.error({ err }, 'a worker could not be replaced'))
  }
}

/** The worker's report of this kind, or that it failed; null when it ended without. */
function heard(worker: Worker, kind: Report['is']): Promise<Report | null> {
  return new Promise((resolve) => {
    const hear = (message: unknown): void => {
      if (!isReport(message) || (message.is !== kind && message.is !== 'failed')) return
      worker.off('message', hear)
      resolve(message)
    }
    worker.on('message', hear)
    worker.once('exit', () => resolve(null))
  })
}

function gone(worker: Worker): Promise<void> {
  return new Promise((resolve) => worker.once('exit', () => resolve()))
}

/** Gives a command and waits for what it leads to; a worker that takes too long is killed. */
async function told(worker: Worker, what: 'stop' | 'drain', outcome: Promise<unknown>): Promise<void> {
  if (worker.isDead()) return
  send(worker, { to: 'worker', do: what })
  const timer = setTimeout(() => worker.process.kill('SIGKILL'), PATIENCE)
  await outcome
  clearTimeout(timer)
}

/** One that died meanwhile hears nothing: its exit is heard of instead. */
function send(worker: Worker, command: Command): void {
  worker.send(command, () => {})
}
