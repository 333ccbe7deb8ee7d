/** Migrations of a database: numbered SQL files in two folders, each run once, in order, and remembered with its digest. */

import { type Migration, migrations, unapplied } from '../migrations.ts'
import type { Database } from './database.ts'
import { PROOFS } from './proof.ts'

/** What the tables are for: each has a folder of migrations of its own. */
export type Part = 'facts' | 'ledger'

export const PARTS: readonly (readonly [Part, URL])[] = [
  ['facts', new URL('./schema/facts/', import.meta.url)],
  ['ledger', new URL('./schema/ledger/', import.meta.url)],
]

const LOCK = { name: 'migrate.lock', text: `select pg_advisory_xact_lock(hashtext('domaindex ' || current_schema()))` }
const THERE = {
  name: 'migrate.there',
  text: `select to_regclass(quote_ident(current_schema()) || '.migration') is not null as there`,
}
const APPLIED = {
  name: 'migrate.applied',
  text: 'select number, name, checksum from migration where part = $1 order by number',
}
const NOTE = {
  name: 'migrate.note',
  text: `insert into migration (part, number, name, checksum, applied) values ($1, $2, $3, $4, to_char(now(), 'YYYY-MM-DD"T"HH24:MI:SS'))`,
}
const TABLE = `create table if not exists migration (
  part text collate "C" not null, number integer not null, name text not null, checksum text not null, applied text not null,
  primary key (part, number));
  ${PROOFS}`

/** True where any migration was applied. */
export async function hasTables({ read }: Pick<Database, 'read'>): Promise<boolean> {
  const [row] = await read<{ there: boolean }>(THERE)
  return row!.there
}

/** Those that the database still lacks. Throws StoreFault where it is newer than this release, or has another past. */
export async function pending(database: Pick<Database, 'read'>, part: Part, folder: URL): Promise<Migration[]> {
  const applied = (await hasTables(database)) ? await database.read<Migration>(APPLIED, [part]) : []
  return unapplied(migrations(folder), applied)
}

/** Applies what is pending, each in a transaction of its own, and returns it; with `plan` only returns it. */
export async function migrate(database: Database, part: Part, folder: URL, plan = false): Promise<Migration[]> {
  const todo = await pending(database, part, folder)
  if (plan) return todo
  for (const { number, name, checksum, sql } of todo) {
    await database.once(async (session) => {
      await session.rows(LOCK)
      await session.script(TABLE)
      const applied = await session.rows<Migration>(APPLIED, [part])
      if (applied.some((migration) => migration.number === number)) return // another process was faster
      await session.script(sql)
      await session.run(NOTE, [part, number, name, checksum])
    })
  }
  return todo
}
