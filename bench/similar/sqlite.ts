/** A store in a SQLite file, and the size of its tables. */

import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { openStore } from '../../src/store/open.ts'
import type { SimilarStore, Sizes } from './store.ts'

/** The tables of /similar with their indexes. */
const TABLES = {
  document: ['document', 'document_digest'],
  page_document: ['page_document', 'page_document_document'],
  posting: ['posting'],
  document_frequency: ['document_frequency'],
  segment: ['segment'],
}

/** Opens the store at a path, and creates it if it does not exist. */
export async function openSqliteStore(path: string): Promise<SimilarStore> {
  const isNew = !existsSync(path)
  const open = (access: 'read' | 'write') => openStore(`sqlite:${path}`, { access, ledger: 'own', secret: null })
  const store = await open('write')
  return {
    isNew,
    store,
    openReader: () => open('read'),
    serverCpuSeconds: null,
    sizes: async () => sizesOf(path),
    settle: async () => {},
    close: () => store.close(),
  }
}

/** Counts whole pages of the file. */
function sizesOf(path: string): Sizes {
  const database = new DatabaseSync(path, { readOnly: true })
  const rows = database.prepare('select name, pgsize from dbstat where aggregate = 1').all() as {
    name: string
    pgsize: number
  }[]
  database.close()
  const bytes = new Map(rows.map(({ name, pgsize }) => [name, pgsize]))
  const tables = Object.entries(TABLES).map(([table, parts]) => [
    table,
    parts.reduce((sum, part) => sum + bytes.get(part)!, 0),
  ])
  return { tables: Object.fromEntries(tables), free: null }
}
