/** The writes of the indexer under control of a test: counted, stopped before any of them, and with a test clock. */

import type { LockClock } from '../../src/store/named-lock.ts'
import type { SimilarIndexStore } from '../../src/store/port/similar.ts'
import type { Store } from '../../src/store/port/store.ts'

/** The writes of the port, each of which takes the hold. */
const WRITES = [
  'filePages',
  'beginSegment',
  'writeRows',
  'publishSegment',
  'removeTombstones',
  'removeReplaced',
  'setIndexedUntil',
] as const
type Write = (typeof WRITES)[number]

/** A store that calls the test before each write, with its number and kind. */
export function watched(store: Store, before: (place: number, write: Write) => Promise<void> | void): Store {
  let place = 0
  const indexing: Record<string, unknown> = {}
  for (const key of ['pending', 'documents', 'countDocuments', 'rows', 'tombstones'] as const)
    indexing[key] = store.similarIndex[key].bind(store.similarIndex)
  for (const key of WRITES) {
    const write = store.similarIndex[key].bind(store.similarIndex) as (...args: unknown[]) => Promise<unknown>
    indexing[key] = async (...args: unknown[]) => {
      await before(++place, key)
      return write(...args)
    }
  }
  return {
    similar: store.similar,
    jobs: store.jobs,
    similarIndex: indexing as unknown as SimilarIndexStore,
    now: () => store.now(),
  } as unknown as Store
}

/** A clock whose waits end when the test says so. */
export class Patience implements LockClock {
  private readonly waiting: { milliseconds: number; resolve: () => void }[] = []
  private readonly expected: { milliseconds: number; resolve: () => void }[] = []

  monotonicMs(): number {
    return 0
  }

  wait(milliseconds: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const waits = { milliseconds, resolve }
      this.waiting.push(waits)
      signal.addEventListener('abort', () => this.end(waits), { once: true })
      for (const each of this.expected.filter((expected) => expected.milliseconds === milliseconds)) {
        this.expected.splice(this.expected.indexOf(each), 1)
        each.resolve()
      }
    })
  }

  /** Resolves when somebody waits this long. */
  async waits(milliseconds: number): Promise<void> {
    if (this.waiting.some((each) => each.milliseconds === milliseconds)) return
    await new Promise<void>((resolve) => this.expected.push({ milliseconds, resolve }))
  }

  /** Ends all waits of this length. */
  pass(milliseconds: number): void {
    for (const each of this.waiting.filter((waiting) => waiting.milliseconds === milliseconds)) this.end(each)
  }

  private end(waits: { milliseconds: number; resolve: () => void }): void {
    const at = this.waiting.indexOf(waits)
    if (at >= 0) this.waiting.splice(at, 1)
    waits.resolve()
  }
}
