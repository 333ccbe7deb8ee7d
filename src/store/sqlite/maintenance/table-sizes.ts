/** The sizes of the tables on SQLite, with their indexes: the pages of each B-tree (the virtual table dbstat). */

import { DatabaseSync } from 'node:sqlite'
import type { TableSize } from '../../port/store.ts'

type Tree = { name: string; table: string }

/** Reads every page of both files, one B-tree per transaction, so that the write-ahead log can be merged in between. */
export function sqliteTableSizes(facts: DatabaseSync, ledgerPath: string): TableSize[] {
  const ledger = new DatabaseSync(ledgerPath, { readOnly: true })
  try {
    return [...sizesOf(facts), ...sizesOf(ledger).map(({ name, bytes }) => ({ name: `ledger.${name}`, bytes }))]
  } finally {
    ledger.close()
  }
}

function sizesOf(database: DatabaseSync): TableSize[] {
  const trees = database
    .prepare(`select name, tbl_name as "table" from sqlite_schema where rootpage > 0`)
    .all() as Tree[]
  const size = database.prepare('select pgsize as bytes from dbstat where name = ? and aggregate = true')
  const sizes = new Map<string, number>()
  for (const { name, table } of trees) {
    const { bytes } = (size.get(name) as { bytes: number } | undefined) ?? { bytes: 0 }
    sizes.set(table, (sizes.get(table) ?? 0) + bytes)
  }
  return [...sizes].map(([name, bytes]) => ({ name, bytes }))
}
