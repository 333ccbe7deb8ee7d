/** Migrations of a database: numbered SQL files in two folders, each run once, in order, and remembered with its digest. */

import { setTimeout as sleep } from 'node:timers/promises'
import { AwayFault } from '../fault.ts'
import { type Migration, migrationFault, migrations, unapplied } from '../migrations.ts'
import type { Database } from './database.ts'
import { PROOFS } from './proof.ts'
import { isLocked } from './trouble.ts'

/** What the tables are for: each has a folder of migrations of its own. */
export type Part = 'facts' | 'ledger'

export const PARTS: readonly (readonly [Part, URL])[] = [
  ['facts', new URL('./schema/facts/', import.meta.url)],
  ['ledger', new URL('./schema/ledger/', import.meta.url)],
]

/** For a lock nobody is kept waiting longer than this, and then all have two seconds in between; five minutes in all. */
const SHORT = `set local lock_timeout = '300ms'`
const BETWEEN = 2_000
const LOCKED =
  'others use its tables for too long: end them (pg_stat_activity shows statements and transactions that are open for minutes)'

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

/** How a migration waits for locks; `tell` hears of each try that gave up. */
type Patience = { tries: number; wait: () => Promise<unknown>; tell: (words: string) => void }

const PATIENCE: Patience = { tries: 150, wait: () => sleep(BETWEEN), tell: () => {} }

/** Applies what is pending, each in a transaction of its own, and returns it; with `plan` only returns it. Throws StoreFault. */
export async function migrate(
  database: Database,
  part: Part,
  folder: URL,
  { plan = false, ...patience }: Partial<Patience> & { plan?: boolean } = {},
): Promise<Migration[]> {
  const todo = await pending(database, part, folder)
  if (!plan) for (const migration of todo) await applyPatiently(database, part, migration, { ...PATIENCE, ...patience })
  return todo
}

/** Everybody who wants a table waits behind a migration that waits for it: so it gives up soon, lets them pass, and tries again. */
async function applyPatiently(
  database: Database,
  part: Part,
  migration: Migration,
  { tries, wait, tell }: Patience,
): Promise<void> {
  for (let tried = 1; ; tried++) {
    try {
      return await apply(database, part, migration)
    } catch (error) {
      if (!isLocked(error) || tried >= tries) throw faultOf(part, migration, error)
      tell(`${part}/${migration.name} waits for others who use its tables, and tries again (${tried} of ${tries})`)
      await wait()
    }
  }
}

async function apply(database: Database, part: Part, { number, name, checksum, sql }: Migration): Promise<void> {
  await database.once(async (session) => {
    await session.script(SHORT)
    await session.rows(LOCK)
    await session.script(TABLE)
    const applied = await session.rows<Migration>(APPLIED, [part])
    if (applied.some((migration) => migration.number === number)) return // another process was faster
    await session.script(sql)
    await session.run(NOTE, [part, number, name, checksum])
  })
}

function faultOf(part: Part, migration: Migration, error: unknown): unknown {
  if (error instanceof AwayFault) return error
  const { message, cause } = error as Error
  const words = cause instanceof Error ? `${cause.message} (${message})` : message
  return migrationFault(part, migration, isLocked(error) ? LOCKED : words, error)
}
