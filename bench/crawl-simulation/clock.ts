/**
 * A clock that nobody waits for: when all that runs on it waits, it jumps to the next moment that somebody waits for.
 */

import type { CrawlClock } from '../../src/crawler/notifier.ts'

type Waiter = { at: number; order: number; wake: () => void }

export class VirtualClock implements CrawlClock {
  #now = 0
  #order = 0
  #heap: Waiter[] = []
  /** Works under way that are no waits of this clock's. */
  #busy = 0

  monotonicMs(): number {
    return this.#now
  }

  /** Resolves also when the signal comes. */
  wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = (): void => {
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      this.#push({ at: this.#now + Math.max(0, milliseconds), order: this.#order++, wake })
      signal?.addEventListener('abort', wake)
    })
  }

  /** The clock stands still while this is under way. */
  async hold<Result>(work: Promise<Result>): Promise<Result> {
    this.#busy++
    try {
      return await work
    } finally {
      this.#busy--
    }
  }

  /** Runs until the moment, in milliseconds, or until `isDone`. */
  async run(until: number, isDone: () => boolean = () => false): Promise<void> {
    for (;;) {
      do await new Promise(setImmediate)
      while (this.#busy > 0)
      const next = this.#heap[0]
      if (isDone()) return
      if (next === undefined || next.at > until) break
      this.#now = Math.max(this.#now, next.at)
      while (this.#heap.length > 0 && this.#heap[0]!.at <= this.#now) this.#pop().wake()
    }
    this.#now = Math.max(this.#now, until)
  }

  #push(waiter: Waiter): void {
    const heap = this.#heap
    let at = heap.push(waiter) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isEarlier(waiter, heap[parent]!)) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = waiter
  }

  #pop(): Waiter {
    const heap = this.#heap
    const [first] = heap as [Waiter]
    const last = heap.pop()!
    if (heap.length === 0) return first
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isEarlier(heap[child + 1]!, heap[child]!)) child++
      if (!isEarlier(heap[child]!, last)) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = last
    return first
  }
}

function isEarlier(a: Waiter, b: Waiter): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}
