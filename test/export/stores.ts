/** Stores for the tests of exports, and the lines that an export of one has. */

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LineFormat, linesOfName, nameHistories } from '../../src/export/export.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/port/store.ts'
import { inForm } from '../long.ts'
import { NOW } from '../store/conformance/world.ts'
import { noPostgres, postgresServer } from '../store/postgres/server.ts'

type Opened = { store: Store; close: () => Promise<void> }

export async function openSqlite(): Promise<Opened> {
  const folder = await mkdtemp(join(tmpdir(), 'domaindex-export-'))
  const options = { access: 'write', ledger: 'own', secret: null, now: () => NOW } as const
  const store = await openStore(`sqlite:${join(folder, 'store.db')}`, options)
  return { store, close: () => store.close().then(() => rm(folder, { recursive: true })) }
}

async function openPostgres(): Promise<Opened> {
  const { url, drop } = await (await postgresServer()).tables()
  const store = await openStore(url, { access: 'write', ledger: 'own', secret: null, now: () => NOW })
  return { store, close: () => store.close().then(drop) }
}

/** Each engine, why its tests are skipped, and how many random histories they try. */
export const EXPORTED_ENGINES = [
  ['SQLite', openSqlite, false, inForm(15, 40)],
  ['PostgreSQL', openPostgres, noPostgres, inForm(3, 6)],
] as const

/** In these tests nobody writes while an export reads. */
export const noneUnread = (names: readonly string[]): void => assert.fail(`unread: ${names}`)

export async function exported(store: Store, format: LineFormat): Promise<string[]> {
  const { signal } = new AbortController()
  const listing = await store.listing.start({ signal })
  const lines: string[] = []
  for await (const batch of nameHistories(store, listing, signal, noneUnread))
    for (const history of batch) lines.push(...linesOfName(format, history, listing.startedAt))
  await listing.close()
  return lines
}
