/** Visits in flight: names of a list are taken as others are done, as many at once as are allowed. */

import type { DelayedName, DelayQueue } from './delay-queue.ts'
import type { ListEntry, NameEntry } from './name-list.ts'

export type ListRun = {
  entries: AsyncIterable<ListEntry>
  /** Visits in flight at once, at most. */
  parallel: number
  /** Asks for the end: no other name is begun. */
  signal: AbortSignal
  /** Names that were put aside by `visit` until their turn comes; they go before those of the list. */
  delayQueue?: Pick<DelayQueue, 'size' | 'isFull' | 'take' | 'nextReadyIn'>
  /** Names that are visited once more; they go before all others. */
  retries?: { readonly size: number; take(): NameEntry | null }
  /** Whether no visit may begin for now; `onReady` takes what is to be called when one may. */
  pauseControl?: { isPaused(): boolean; onReady(resume: () => void): void }
  /** Told of every line as it is taken. */
  startEntry(entry: ListEntry): void
  /** Visits a name and hands over what was seen; a rejection ends the crawl. `held`: where it waited before. */
  probe(entry: NameEntry, delayed?: DelayedName): Promise<void>
}

/** Milliseconds that what is in flight has after it was asked to end; what is not done then stays undone. */
const SHUTDOWN_GRACE_MS = 15_000
const NO_RETRIES = { size: 0, take: () => null }
const NO_DELAY_QUEUE = { size: 0, isFull: () => false, take: () => null, nextReadyIn: () => Number.POSITIVE_INFINITY }

/**
 * True where the list came to its end and nobody waits beside, false where it was stopped. Throws what a visit or the list
 * throws, when no visit is in flight.
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
  /** The line that was read last and not begun yet. */
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

  /** Begins what may begin now. Called whenever something has changed. */
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

  /** For the next line, and for the next turn of one who waits beside. */
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

/** `allow` resolves with the work, or when time is up. (A race with one promise for all would hold on to every one of them.) */
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
