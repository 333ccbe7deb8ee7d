/** A virtual clock: if everything that uses it waits, it jumps to the next time that something waits for. */

import type { CrawlClock } from '../../src/crawler/notifier.ts'

type Timer = { at: number; order: number; wake: () => void }

export class VirtualClock implements CrawlClock {
  #now = 0
  #order = 0
  #heap: Timer[] = []
  /** Pending work other than waits on this clock. */
  #busy = 0

  monotonicMs(): number {
    return this.#now
  }

  /** Also resolves when the signal is aborted. */
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

  /** Stops the clock until the work is done. */
  async hold<Result>(work: Promise<Result>): Promise<Result> {
    this.#busy++
    try {
      return await work
    } finally {
      this.#busy--
    }
  }

  /** Runs until the time `until`, in milliseconds, or until `isDone` returns true. */
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

  #push(timer: Timer): void {
    const heap = this.#heap
    let at = heap.push(timer) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isEarlier(timer, heap[parent]!)) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = timer
  }

  #pop(): Timer {
    const heap = this.#heap
    const [first] = heap as [Timer]
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

function isEarlier(a: Timer, b: Timer): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}
