/** Visits in flight: names of a list are taken as others are done, as many at once as are allowed. */

import type { Beside, Held } from './beside.ts'
import type { Entry, Named } from './list.ts'

export type Task = {
  entries: AsyncIterable<Entry>
  /** Visits in flight at once, at most. */
  parallel: number
  /** Asks for the end: no other name is begun. */
  signal: AbortSignal
  /** Names that were put aside by `visit` until their turn comes; they go before those of the list. */
  beside?: Pick<Beside, 'size' | 'isFull' | 'take' | 'soonest'>
  /** Names that are visited once more; they go before all others. */
  again?: { readonly size: number; take(): Named | null }
  /** Whether no visit may begin for now; `onReady` takes what is to be called when one may. */
  pause?: { isPaused(): boolean; onReady(goOn: () => void): void }
  /** Told of every line as it is taken. */
  begin(entry: Entry): void
  /** Visits a name and hands over what was seen; a rejection ends the crawl. `held`: where it waited before. */
  visit(entry: Named, held?: Held): Promise<void>
}

/** Milliseconds that what is in flight has after it was asked to end; what is not done then stays undone. */
const PATIENCE = 15_000
const NOTHING = { size: 0, take: () => null }
const NOBODY = { size: 0, isFull: () => false, take: () => null, soonest: () => Number.POSITIVE_INFINITY }

/**
 * True where the list came to its end and nobody waits beside, false where it was stopped. Throws what a visit or the list
 * throws, when no visit is in flight.
 */
export function visitAll(task: Task): Promise<boolean> {
  return new Promise((resolve, reject) => new Run(task, resolve, reject).goOn())
}

class Run {
  readonly #task: Task
  readonly #beside: NonNullable<Task['beside']>
  readonly #again: NonNullable<Task['again']>
  readonly #iterator: AsyncIterator<Entry>
  readonly #patience: ReturnType<typeof giveUpAfter>
  readonly #resolve: (isDone: boolean) => void
  readonly #reject: (error: unknown) => void
  /** The line that was read last and not begun yet. */
  #next: Entry | null = null
  #isReading = false
  #isRead = false
  #inFlight = 0
  #failure: { error: unknown } | null = null
  #timer: NodeJS.Timeout | undefined
  #isOver = false

  constructor(task: Task, resolve: (isDone: boolean) => void, reject: (error: unknown) => void) {
    this.#task = task
    this.#beside = task.beside ?? NOBODY
    this.#again = task.again ?? NOTHING
    this.#iterator = task.entries[Symbol.asyncIterator]()
    this.#patience = giveUpAfter(task.signal, PATIENCE)
    this.#resolve = resolve
    this.#reject = reject
    task.signal.addEventListener('abort', this.goOn)
    task.pause?.onReady(this.goOn)
  }

  /** Begins what may begin now. Called whenever something has changed. */
  readonly goOn = (): void => {
    if (this.#isOver) return
    clearTimeout(this.#timer)
    while (this.#hasRoom()) {
      const again = this.#again.take()
      const held = again === null ? this.#beside.take() : null
      if (again !== null) this.#begin(again)
      else if (held !== null) this.#begin(held.entry, held)
      else if (this.#next === null) break
      else this.#beginNext(this.#next)
    }
    if (this.#isEnd()) this.#end()
    else if (this.#hasRoom()) this.#wait()
  }

  /** For the next line, and for the next turn of one who waits beside. */
  #wait(): void {
    if (!this.#isRead && !this.#isReading && !this.#beside.isFull()) this.#read()
    const soonest = this.#beside.soonest()
    if (soonest !== Number.POSITIVE_INFINITY) this.#timer = setTimeout(this.goOn, Math.ceil(soonest))
  }

  #hasRoom(): boolean {
    return this.#inFlight < this.#task.parallel && !this.#isStopping() && this.#task.pause?.isPaused() !== true
  }

  #isStopping(): boolean {
    return this.#task.signal.aborted || this.#failure !== null
  }

  #isEnd(): boolean {
    if (this.#inFlight > 0) return false
    const isDone = this.#isRead && this.#next === null && this.#beside.size === 0 && this.#again.size === 0
    return this.#isStopping() || isDone
  }

  #read(): void {
    this.#isReading = true
    const read = async (): Promise<void> => {
      const { done, value } = await this.#iterator.next()
      if (done) this.#isRead = true
      else this.#next = value
    }
    read()
      .catch((error) => this.#fail(error))
      .finally(() => {
        this.#isReading = false
        this.goOn()
      })
  }

  #beginNext(entry: Entry): void {
    this.#next = null
    this.#task.begin(entry)
    if (entry.name !== null) this.#begin(entry)
  }

  #begin(entry: Named, held?: Held): void {
    this.#inFlight++
    this.#patience
      .allow(this.#task.visit(entry, held))
      .catch((error) => this.#fail(error))
      .finally(() => {
        this.#inFlight--
        this.goOn()
      })
  }

  #fail(error: Error): void {
    if (!this.#task.signal.aborted || error.name !== 'AbortError') this.#failure ??= { error }
  }

  #end(): void {
    this.#isOver = true
    this.#patience.end()
    this.#task.signal.removeEventListener('abort', this.goOn)
    if (this.#failure !== null) this.#reject(this.#failure.error)
    else this.#resolve(!this.#task.signal.aborted)
  }
}

/** `allow` resolves with the work, or when time is up. (A race with one promise for all would hold on to every one of them.) */
function giveUpAfter(signal: AbortSignal, milliseconds: number) {
  const waiting = new Set<() => void>()
  let timer: NodeJS.Timeout | undefined
  const begin = (): void => {
    timer = setTimeout(() => {
      for (const giveUp of waiting) giveUp()
    }, milliseconds)
  }
  signal.addEventListener('abort', begin)
  return {
    allow: (work: Promise<void>): Promise<void> =>
      new Promise<void>((resolve, reject) => {
        waiting.add(resolve)
        work.then(resolve, reject).finally(() => waiting.delete(resolve))
      }),
    end(): void {
      signal.removeEventListener('abort', begin)
      clearTimeout(timer)
    },
  }
}
