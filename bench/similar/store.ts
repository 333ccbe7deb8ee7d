/** A store of start pages as a bench needs it: filled with pages, brought into the index, and measured. */

import { setTimeout } from 'node:timers/promises'
import { indexOnce } from '../../src/similar/index/run-indexer.ts'
import { ingest } from '../../src/store/ingest.ts'
import type { WaitClock } from '../../src/store/named-lock.ts'
import { processHolderName } from '../../src/store/named-lock.ts'
import type { Store } from '../../src/store/port/store.ts'
import type { DomainName } from '../../src/values/domain-name.ts'

export type Page = { name: string; text: string }

/** Where the store of a run is. */
export type Place = {
  /** Nothing is in it yet. */
  isNew: boolean
  store: Store
  /** Seconds of a processor that the engine's own processes took so far; null where it has none. */
  served: (() => number) | null
  sizes(): Promise<Sizes>
  /** Tidies up as the engine does by itself in time, so that what is measured from then on is not by chance. */
  settle(): Promise<void>
  close(): Promise<void>
}

/**
 * `tables`: bytes of each table of /similar with its indexes; `free`: those of them for rows to come, null where not
 * known.
 */
export type Sizes = { tables: Record<string, number>; free: number | null }

/** What a part of the work took of a processor, of one for the engine's own processes, and of the clock, in seconds. */
export type Spent = { cpu: number; served: number; wall: number }

const BATCH = 2000
const SHOWN = 10_000

const clock: WaitClock = {
  wait: (milliseconds, signal) => setTimeout(milliseconds, undefined, { signal }).catch(() => {}),
}

/** Stores pages as observations are. */
export async function fill(store: Store, pages: Iterable<Page>): Promise<number> {
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

/** Brings everything that waits into the index. */
export async function bringIn({
  store,
  served,
}: Pick<Place, 'store' | 'served'>): Promise<{ filed: number; spent: Spent }> {
  let shown = 0
  const progress = ({ indexed }: { indexed: number }): void => {
    if (indexed < shown + SHOWN) return
    shown = indexed
    console.error(`  ${indexed} pages in the index`)
  }
  const index = { store, holder: processHolderName(), clock, reporter: { progress } }
  const { result, spent } = await spentOn(served, () => indexOnce(index, new AbortController().signal))
  return { filed: result!.indexed, spent }
}

export async function spentOn<Result>(
  served: Place['served'],
  work: () => Promise<Result>,
): Promise<{ result: Result; spent: Spent }> {
  const [cpu, before, wall] = [process.cpuUsage(), served?.() ?? 0, performance.now()]
  const result = await work()
  const took = (performance.now() - wall) / 1e3
  const { user, system } = process.cpuUsage(cpu)
  return { result, spent: { cpu: (user + system) / 1e6, served: (served?.() ?? 0) - before, wall: took } }
}
