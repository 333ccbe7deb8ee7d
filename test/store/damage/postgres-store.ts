/** The whole PostgreSQL store of the tests of damage, and damaged copies of its database. */

import pg from 'pg'
import { openStore } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/port/store.ts'
import { NOW } from '../conformance/world.ts'
import type { Place, PostgresServer } from '../postgres/server.ts'
import { completeIndexes, observeRound, ROUNDS } from './damaged-world.ts'
import type { DamagedTable, Row, RowDamage } from './random-damage.ts'
import type { DamagedStore } from './trial.ts'

const OPTIONS = {
  access: 'write',
  ledger: 'own',
  secret: 'a secret for the tests that is long enough',
  pool: 2,
} as const

/**
 * The tables that follow from others. PostgreSQL finds damage to other rows by the checksums of its pages: the values of
 * their rows are confirmed by nothing else.
 */
const DERIVED = [
  ...['presence', 'address_count', 'redirect', 'redirect_count', 'address_first_seen', 'posting'],
  ...['document_frequency', 'inverse_block', 'inverse_run', 'orphan_document', 'segment'],
]

const READ_KEYS = `select c.relname as table, array_agg(a.attname::text order by a.attnum) as columns
  from pg_index i join pg_class c on c.oid = i.indrelid join pg_attribute a on a.attrelid = c.oid and a.attnum = any (i.indkey)
  where i.indisprimary and c.relnamespace = 'public'::regnamespace group by 1`
const INT8 = 20

export type PostgresWorld = {
  tables: readonly DamagedTable[]
  copy(): Promise<DamagedStore>
  drop(): Promise<void>
}

/** Creates the whole store in a database. */
export async function createPostgresWorld(server: PostgresServer): Promise<PostgresWorld> {
  const whole = await server.tables()
  const open = ({ url }: Place): Promise<Store> => openStore(url, { ...OPTIONS, now: () => NOW })
  let before = new Map<string, Row[]>()
  const store = await open(whole)
  for (const round of ROUNDS) {
    await observeRound(store, round)
    await completeIndexes(store)
    if (round === ROUNDS.at(-2)) before = await rowsByTable(whole)
  }
  await store.close()
  const keys = await primaryKeys(whole)
  const tables = [...(await rowsByTable(whole))].map(([name, rows]) => ({
    ...{ name, rows },
    key: keys.get(name) ?? ['document'],
    before: before.get(name) ?? [],
  }))
  return {
    tables,
    async copy() {
      const place = await server.copy(whole)
      return { plant: (damage) => plantRows(place, damage, keys), open: () => open(place), drop: place.drop }
    },
    drop: whole.drop,
  }
}

/** Numbers of 64 bits as numbers, and arrays as texts. */
function parserOf(type: number, format?: 'text' | 'binary') {
  const parser = pg.types.getTypeParser(type, format)
  return (value: string): unknown =>
    type === INT8 ? Number(value) : Array.isArray(parser(value)) ? value : parser(value)
}

async function withClient<Result>({ url }: Place, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({
    connectionString: url,
    types: { getTypeParser: parserOf as typeof pg.types.getTypeParser },
  })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

function rowsByTable(place: Place): Promise<Map<string, Row[]>> {
  return withClient(place, async (client) => {
    const rows = new Map<string, Row[]>()
    for (const table of DERIVED) rows.set(table, (await client.query(`select * from ${table}`)).rows as Row[])
    return rows
  })
}

function primaryKeys(place: Place): Promise<Map<string, string[]>> {
  return withClient(place, async (client) => {
    const { rows } = await client.query<{ table: string; columns: string }>(READ_KEYS)
    return new Map(rows.map(({ table, columns }) => [table, columns.slice(1, -1).split(',')]))
  })
}

/** Changes rows without their triggers. */
function plantRows(
  place: Place,
  { what, removed, added }: RowDamage,
  keys: ReadonlyMap<string, string[]>,
): Promise<boolean> {
  const [table = ''] = what.split('.')
  return withClient(place, async (client) => {
    await client.query('set session_replication_role = replica; begin')
    try {
      const key = keys.get(table) ?? ['document']
      for (const row of removed)
        await client.query(
          `delete from ${table} where ${key.map((column, index) => `${column} = $${index + 1}`).join(' and ')}`,
          key.map((column) => row[column]),
        )
      for (const row of added) {
        const columns = Object.keys(row)
        await client.query(
          `insert into ${table} (${columns}) overriding system value values (${columns.map((_, index) => `$${index + 1}`)})`,
          Object.values(row),
        )
      }
      await client.query('commit')
      return true
    } catch {
      await client.query('rollback') // a key that exists, or a value that a column may not have
      return false
    }
  })
}
