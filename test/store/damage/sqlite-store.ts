/** The whole SQLite store of the tests of damage, and damaged copies of it. */

import { copyFileSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { openStore } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/port/store.ts'
import { defaultLedgerPath } from '../../../src/store/sqlite/locations.ts'
import { NOW } from '../conformance/world.ts'
import { completeIndexes, observeRound, ROUNDS } from './damaged-world.ts'
import type { DamagedTable, Row, RowDamage } from './random-damage.ts'
import type { DamagedStore } from './trial.ts'

const OPTIONS = { access: 'write', ledger: 'own', secret: null, now: () => NOW } as const

/** Tables of the processes: no response of the API follows from them, and no check confirms them. */
const UNCHECKED = [
  'job_run',
  'named_lock',
  'crawler',
  'probe_outcome',
  'certificate_log',
  'migration',
  'event',
  'event_count',
]

export type SqliteWorld = {
  /** The file of the whole store. */
  path: string
  /** The file at an earlier time. */
  before: string
  tables: readonly DamagedTable[]
  open(): Promise<Store>
  copy(): DamagedStore & { path: string }
}

/** Creates the whole store in a folder. */
export async function createSqliteWorld(folder: string): Promise<SqliteWorld> {
  const path = join(folder, 'whole.db')
  const earlier = join(folder, 'before.db')
  const open = (file: string): Promise<Store> => openStore(`sqlite:${file}`, OPTIONS)
  let before = new Map<string, Row[]>()
  const store = await open(path)
  for (const round of ROUNDS) {
    await observeRound(store, round)
    await completeIndexes(store)
    if (round !== ROUNDS.at(-2)) continue
    before = rowsByTable(path)
    withDatabase(path, (database) => database.exec('pragma wal_checkpoint(truncate)'))
    copyFileSync(path, earlier)
  }
  await store.close()
  const keys = primaryKeys(path)
  const tables = [...rowsByTable(path)].map(([name, rows]) => ({
    ...{ name, rows },
    key: keys.get(name)!,
    before: before.get(name) ?? [],
  }))
  let copies = 0
  return {
    path,
    before: earlier,
    tables,
    open: () => open(path),
    copy() {
      const inside = join(folder, String(++copies))
      mkdirSync(inside)
      const copied = join(inside, 'store.db')
      copyFileSync(path, copied)
      copyFileSync(defaultLedgerPath(path), defaultLedgerPath(copied))
      return {
        path: copied,
        plant: async (damage) => plantRows(copied, damage, keys),
        open: () => open(copied),
        drop: async () => rmSync(inside, { recursive: true }),
      }
    },
  }
}

function withDatabase<Result>(path: string, work: (database: DatabaseSync) => Result): Result {
  const database = new DatabaseSync(path)
  try {
    return work(database)
  } finally {
    database.close()
  }
}

function tableNames(database: DatabaseSync): string[] {
  const rows = database.prepare(
    `select name from sqlite_schema where type = 'table' and name not like 'sqlite%' order by 1`,
  )
  return rows.all().flatMap(({ name }) => (UNCHECKED.includes(name as string) ? [] : [name as string]))
}

function rowsByTable(path: string): Map<string, Row[]> {
  return withDatabase(
    path,
    (database) =>
      new Map(tableNames(database).map((name) => [name, database.prepare(`select * from "${name}"`).all() as Row[]])),
  )
}

function primaryKeys(path: string): Map<string, string[]> {
  const columns = 'select name from pragma_table_info(?) where pk > 0 order by pk'
  return withDatabase(
    path,
    (database) =>
      new Map(
        tableNames(database).map((table) => [
          table,
          database
            .prepare(columns)
            .all(table)
            .map(({ name }) => name as string),
        ]),
      ),
  )
}

/** Changes rows as a damaged disk does: no trigger runs. */
function plantRows(path: string, { what, removed, added }: RowDamage, keys: ReadonlyMap<string, string[]>): boolean {
  const [table = ''] = what.split('.')
  return withDatabase(path, (database) => {
    const triggers = database.prepare(`select name, sql from sqlite_schema where type = 'trigger'`).all()
    database.exec('begin')
    try {
      for (const { name } of triggers) database.exec(`drop trigger ${name}`)
      const key = keys.get(table)!
      for (const row of removed)
        database
          .prepare(`delete from "${table}" where ${key.map((column) => `${column} = ?`).join(' and ')}`)
          .run(...key.map((column) => row[column] as SQLInputValue))
      for (const row of added) {
        const columns = Object.keys(row)
        database
          .prepare(`insert into "${table}" (${columns}) values (${columns.map(() => '?')})`)
          .run(...(Object.values(row) as SQLInputValue[]))
      }
      for (const { sql } of triggers) database.exec(sql as string)
      database.exec('commit')
      return true
    } catch {
      database.exec('rollback') // a key that exists, or a null where none may be
      return false
    }
  })
}
