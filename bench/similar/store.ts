/** A store of start pages as a bench needs it: filled with pages, brought into the index, and measured. */

import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { indexOnce } from '../../src/retrieval/indexer.ts'
import type { Clock } from '../../src/store/duty.ts'
import { holderName } from '../../src/store/duty.ts'
import { ingest } from '../../src/store/ingest.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import type { Name } from '../../src/words/name.ts'

export type Page = { name: string; text: string }

/** What a part of the work took of a processor and of the clock, in seconds. */
export type Spent = { cpu: number; wall: number }

const BATCH = 2000
const TABLES = new Set(['wording', 'wording_digest', 'reading', 'reading_wording', 'posting', 'frequency', 'segment'])
const SHOWN = 10_000

const clock: Clock = {
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
    batch.push({ domain: name as Name, observed_at, dns: null, web: { ...WEBSITE, text } })
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
export async function bringIn(store: Store): Promise<{ filed: number; spent: Spent }> {
  let shown = 0
  const progress = ({ filed }: { filed: number }): void => {
    if (filed < shown + SHOWN) return
    shown = filed
    console.error(`  ${filed} pages in the index`)
  }
  const index = { store, holder: holderName(), clock, tell: { progress } }
  const { result, spent } = await spentOn(() => indexOnce(index, new AbortController().signal))
  return { filed: result!.filed, spent }
}

export async function spentOn<Result>(work: () => Promise<Result>): Promise<{ result: Result; spent: Spent }> {
  const [cpu, wall] = [process.cpuUsage(), performance.now()]
  const result = await work()
  const { user, system } = process.cpuUsage(cpu)
  return { result, spent: { cpu: (user + system) / 1e6, wall: (performance.now() - wall) / 1e3 } }
}

/** A store of its own at a path, made where there is none. */
export function openStoreIn(path: string): Promise<Store> {
  return openStore(`sqlite:${path}`, { access: 'write', ledger: 'own', secret: null })
}

/** Bytes of each table and index of /similar, of whole pages of the file. */
export function sizesOf(path: string): Record<string, number> {
  const database = new DatabaseSync(path, { readOnly: true })
  const rows = database.prepare('select name, pgsize from dbstat where aggregate = 1').all() as {
    name: string
    pgsize: number
  }[]
  database.close()
  return Object.fromEntries(rows.filter(({ name }) => TABLES.has(name)).map(({ name, pgsize }) => [name, pgsize]))
}
