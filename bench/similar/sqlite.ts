/** A store in a file of SQLite, and what its tables take. */

import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { openStore } from '../../src/store/open.ts'
import type { Place, Sizes } from './store.ts'

/** Each table of /similar with its index. */
const TABLES = {
  document: ['document', 'document_digest'],
  page_document: ['page_document', 'page_document_document'],
  posting: ['posting'],
  document_frequency: ['document_frequency'],
  segment: ['segment'],
}

/** The store at a path, made where there is none. */
export async function placeInSqlite(path: string): Promise<Place> {
  const isNew = !existsSync(path)
  const store = await openStore(`sqlite:${path}`, { access: 'write', ledger: 'own', secret: null })
  return {
    isNew,
    store,
    served: null,
    sizes: async () => sizesOf(path),
    settle: async () => {},
    close: () => store.close(),
  }
}

/** Of whole pages of the file. */
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
