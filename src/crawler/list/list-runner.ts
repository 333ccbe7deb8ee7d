/** Runs the probes of a list: starts the next names as others finish, up to the concurrency limit. */

import type { DelayedName, DelayQueue } from './delay-queue.ts'
import type { ListEntry, NameEntry } from './name-list.ts'

export type ListRun = {
  entries: AsyncIterable<ListEntry>
  /** Maximum of probes in flight. */
  parallel: number
  /** Stops the crawl: no other name starts. */
  signal: AbortSignal
  /** Delayed names. They precede those of the list. */
  delayQueue?: Pick<DelayQueue, 'size' | 'isFull' | 'take' | 'nextReadyIn'>
  /** Names to probe again. They precede all others. */
  retries?: { readonly size: number; take(): NameEntry | null }
  /** Whether probes must not start now. `onReady` registers a callback for when they may. */
  pauseControl?: { isPaused(): boolean; onReady(resume: () => void): void }
  /** Called for each line when it starts. */
  startEntry(entry: ListEntry): void
  /**
   * Probes a name and records the result. A rejection ends the crawl. `delayed`: the entry if the name was delayed
   * before.
   */
  probe(entry: NameEntry, delayed?: DelayedName): Promise<void>
}

/** Milliseconds for probes in flight after the crawl was stopped. Those still open then stay unfinished. */
const SHUTDOWN_GRACE_MS = 15_000
const NO_RETRIES = { size: 0, take: () => null }
const NO_DELAY_QUEUE = { size: 0, isFull: () => false, take: () => null, nextReadyIn: () => Number.POSITIVE_INFINITY }

/**
 * Returns true if the whole list and all delayed names were probed, false if the crawl was stopped. After the last
 * probe ended, throws what a probe or the list threw.
 */
export function probeList(run: ListRun): Promise<boolean> {
  return new Promise((resolve, reject) => new ListRunner(run, resolve, reject).resume())
}

class ListRunner {
  readonly #run: ListRun
  readonly #delayQueue: NonNullable<ListRun['delayQueue']>
  readonly #retries: NonNullable<ListRun['retries']>
  readonly #iterator: AsyncIterator<ListEntry>
  readonly #grace: ReturnType<typeof createShutdownGrace>
  readonly #resolve: (isDone: boolean) => void
  readonly #reject: (error: unknown) => void
  /** The last line read, if it did not start yet. */
  #nextEntry: ListEntry | null = null
  #isReading = false
  #isRead = false
  #inFlight = 0
  #failure: { error: unknown } | null = null
  #timer: NodeJS.Timeout | undefined
  #isFinished = false

  constructor(run: ListRun, resolve: (isDone: boolean) => void, reject: (error: unknown) => void) {
    this.#run = run
    this.#delayQueue = run.delayQueue ?? NO_DELAY_QUEUE
    this.#retries = run.retries ?? NO_RETRIES
    this.#iterator = run.entries[Symbol.asyncIterator]()
    this.#grace = createShutdownGrace(run.signal, SHUTDOWN_GRACE_MS)
    this.#resolve = resolve
    this.#reject = reject
    run.signal.addEventListener('abort', this.resume)
    run.pauseControl?.onReady(this.resume)
  }

  /** Starts all probes that may start now. Called after every change. */
  readonly resume = (): void => {
    if (this.#isFinished) return
    clearTimeout(this.#timer)
    while (this.#hasCapacity()) {
      const retry = this.#retries.take()
      const delayed = retry === null ? this.#delayQueue.take() : null
      if (retry !== null) this.#startProbe(retry)
      else if (delayed !== null) this.#startProbe(delayed.entry, delayed)
      else if (this.#nextEntry === null) break
      else this.#startNext(this.#nextEntry)
    }
    if (this.#isEnd()) this.#finish()
    else if (this.#hasCapacity()) this.#wait()
  }

  /** Waits for the next line and for the next delayed name. */
  #wait(): void {
    if (!this.#isRead && !this.#isReading && !this.#delayQueue.isFull()) this.#read()
    const soonest = this.#delayQueue.nextReadyIn()
    if (soonest !== Number.POSITIVE_INFINITY) this.#timer = setTimeout(this.resume, Math.ceil(soonest))
  }

  #hasCapacity(): boolean {
    return this.#inFlight < this.#run.parallel && !this.#isStopping() && this.#run.pauseControl?.isPaused() !== true
  }

  #isStopping(): boolean {
    return this.#run.signal.aborted || this.#failure !== null
  }

  #isEnd(): boolean {
    if (this.#inFlight > 0) return false
    const isDone = this.#isRead && this.#nextEntry === null && this.#delayQueue.size === 0 && this.#retries.size === 0
    return this.#isStopping() || isDone
  }

  #read(): void {
    this.#isReading = true
    const read = async (): Promise<void> => {
      const { done, value } = await this.#iterator.next()
      if (done) this.#isRead = true
      else this.#nextEntry = value
    }
    read()
      .catch((error) => this.#recordFailure(error))
      .finally(() => {
        this.#isReading = false
        this.resume()
      })
  }

  #startNext(entry: ListEntry): void {
    this.#nextEntry = null
    this.#run.startEntry(entry)
    if (entry.name !== null) this.#startProbe(entry)
  }

  #startProbe(entry: NameEntry, delayed?: DelayedName): void {
    this.#inFlight++
    this.#grace
      .track(this.#run.probe(entry, delayed))
      .catch((error) => this.#recordFailure(error))
      .finally(() => {
        this.#inFlight--
        this.resume()
      })
  }

  #recordFailure(error: Error): void {
    if (!this.#run.signal.aborted || error.name !== 'AbortError') this.#failure ??= { error }
  }

  #finish(): void {
    this.#isFinished = true
    this.#grace.end()
    this.#run.signal.removeEventListener('abort', this.resume)
    if (this.#failure !== null) this.#reject(this.#failure.error)
    else this.#resolve(!this.#run.signal.aborted)
  }
}

/**
 * `track` resolves with the work or at the end of the grace period. (Promise.race with one common promise would keep
 * every promise in memory.)
 */
function createShutdownGrace(signal: AbortSignal, milliseconds: number) {
  const pending = new Set<() => void>()
  let timer: NodeJS.Timeout | undefined
  const startTimer = (): void => {
    timer = setTimeout(() => {
      for (const giveUp of pending) giveUp()
    }, milliseconds)
  }
  signal.addEventListener('abort', startTimer)
  return {
    track: (work: Promise<void>): Promise<void> =>
      new Promise<void>((resolve, reject) => {
        pending.add(resolve)
        work.then(resolve, reject).finally(() => pending.delete(resolve))
      }),
    end(): void {
      signal.removeEventListener('abort', startTimer)
      clearTimeout(timer)
    },
  }
}
