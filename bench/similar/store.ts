/** A store of start pages for the bench: filling, indexing and measuring. */

import { setTimeout } from 'node:timers/promises'
import { indexOnce } from '../../src/similar/index/run-indexer.ts'
import { ingest } from '../../src/store/ingest.ts'
import { type LockClock, processHolderName } from '../../src/store/named-lock.ts'
import type { Store } from '../../src/store/port/store.ts'
import type { DomainName } from '../../src/values/domain-name.ts'

export type Page = { name: string; text: string }

/** The store of a run. */
export type SimilarStore = {
  /** Whether the store is empty. */
  isNew: boolean
  store: Store
  /** Opens the store as a worker of `serve` does, which only reads. */
  openReader(): Promise<Store>
  /** Returns the processor time that the engine's own processes have used so far. Null if the engine has none. */
  serverCpuSeconds: (() => number) | null
  sizes(): Promise<Sizes>
  /** Runs the maintenance that the engine does in time, so that later measurements do not depend on chance. */
  settle(): Promise<void>
  close(): Promise<void>
}

/**
 * `tables`: bytes of each table of /similar with its indexes. `free`: bytes of them that are free for new rows, or null
 * if unknown.
 */
export type Sizes = { tables: Record<string, number>; free: number | null }

/**
 * The time that a part of the work took, in seconds: processor time, processor time of the engine's processes, and wall
 * time.
 */
export type TimeSpent = { cpu: number; serverCpuSeconds: number; wall: number }

const BATCH = 2000
const PROGRESS_STEP = 10_000

const clock: LockClock = {
  monotonicMs: () => performance.now(),
  wait: (milliseconds, signal) => setTimeout(milliseconds, undefined, { signal }).catch(() => {}),
}

/** Stores pages as observations. Returns their number. */
export async function storePages(store: Store, pages: Iterable<Page>): Promise<number> {
  const observed_at = await store.now()
  let [batch, stored]: [Parameters<typeof ingest>[1][number][], number] = [[], 0]
  const flush = async (): Promise<void> => {
    await ingest(store, batch)
    stored += batch.length
    batch = []
    if (stored % 100_000 < BATCH) console.error(`  ${stored} pages stored`)
  }
  for (const { name, text } of pages) {
    batch.push({ domain: name as DomainName, observed_at, dns: null, web: { ...WEBSITE, text } })
    if (batch.length === BATCH) await flush()
  }
  await flush()
  return stored
}

const WEBSITE = {
  has_website: true,
  redirect_to_https: false,
  redirect_to_www: false,
  only_with_www: false,
  redirects_to: null,
  ssl: 'nocert',
  social_accounts: [],
} as const

/** Indexes all pages that are pending. */
export async function indexAll({
  store,
  serverCpuSeconds,
}: Pick<SimilarStore, 'store' | 'serverCpuSeconds'>): Promise<{ indexed: number; time: TimeSpent }> {
  let lastShown = 0
  const progress = ({ indexed }: { indexed: number }): void => {
    if (indexed < lastShown + PROGRESS_STEP) return
    lastShown = indexed
    console.error(`  ${indexed} pages in the index`)
  }
  const index = { store, holder: processHolderName(), clock, reporter: { progress } }
  const { result, time } = await measureTime(serverCpuSeconds, () => indexOnce(index, new AbortController().signal))
  return { indexed: result!.indexed, time }
}

export async function measureTime<Result>(
  serverCpuSeconds: SimilarStore['serverCpuSeconds'],
  work: () => Promise<Result>,
): Promise<{ result: Result; time: TimeSpent }> {
  const [cpu, before, wall] = [process.cpuUsage(), serverCpuSeconds?.() ?? 0, performance.now()]
  const result = await work()
  const wallSeconds = (performance.now() - wall) / 1e3
  const { user, system } = process.cpuUsage(cpu)
  return {
    result,
    time: { cpu: (user + system) / 1e6, serverCpuSeconds: (serverCpuSeconds?.() ?? 0) - before, wall: wallSeconds },
  }
}
