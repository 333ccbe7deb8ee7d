/**
 * The tables of the facts: each column described once, for the statements of both engines, for copies and for
 * checksums.
 */

/**
 * What a column holds. `word`: a text without quotes, commas and backslashes. `addresses`: a list of packed addresses.
 */
export type ColumnType = 'smallint' | 'integer' | 'bigint' | 'word' | 'text' | 'bytes' | 'addresses'

/**
 * `checksum`: the first version of the row's checksum that covers the column, on SQLite. `since`: the migration of both
 * engines that added the column; rows of older releases have null there.
 */
export type Column = { readonly type: ColumnType; readonly checksum?: number; readonly since?: number }

const smallint: Column = { type: 'smallint' }
const integer: Column = { type: 'integer' }
const bigint: Column = { type: 'bigint' }
const word: Column = { type: 'word' }
const text: Column = { type: 'text' }
const bytes: Column = { type: 'bytes' }

/** A column that every version of the checksum covers. */
const summed = (column: Column): Column => ({ ...column, checksum: 0 })

/**
 * By table, in the order of the primary key and then of the checksum. A new column goes to the end; if the checksum
 * covers it, with the next version.
 */
export const FACT_TABLES = {
  crawl_state: {
    slot: integer,
    name: word,
    id: bigint,
    version: bigint,
    clock: bigint,
    other_clocks: bytes,
    dns_fingerprint: bigint,
    web_fingerprint: bigint,
    due: bigint,
    failures: smallint,
    registered: integer,
  },
  facts: {
    id: summed(bigint),
    name: summed(word),
    status: summed(word),
    ip: summed(word),
    flags: summed(integer),
    ssl: summed(word),
    redirects_to: summed(word),
    social_networks: summed(text),
    social_accounts: summed(text),
    text_digest: summed(word),
    addresses: summed({ type: 'addresses' }),
    states: summed(text),
    redirect_host: summed({ type: 'word', since: 6 }),
  },
  dns_state: {
    id: summed(bigint),
    type: summed(smallint),
    first_seen: summed(bigint),
    last_confirmed: summed(bigint),
    records: summed(text),
    serial: summed(bigint),
    base_first_seen: summed(bigint),
  },
  dns_interruption: {
    id: summed(bigint),
    type: summed(smallint),
    seen_again: summed(bigint),
    last_seen: summed(bigint),
  },
  address_first_seen: { id: bigint, address: bytes, first_seen: bigint },
  pending_page: { id: bigint, digest: word, terms: bytes },
  presence: { address: bytes, name: word, since: word },
  address_count: { address: bytes, names: bigint },
  redirect: { target: word, source: word },
  redirect_count: { target: word, sources: bigint },
  certificate: { sha256: summed(bytes), details: summed(text), states: bigint, logged_at: bigint },
} satisfies Record<string, Record<string, Column>>

export type FactTable = keyof typeof FACT_TABLES
export type ColumnsOf<Table extends FactTable> = keyof (typeof FACT_TABLES)[Table] & string

/** The columns of a table, in order. */
export function columnNames<Table extends FactTable>(table: Table): ColumnsOf<Table>[] {
  return Object.keys(FACT_TABLES[table]) as ColumnsOf<Table>[]
}

/** The types of the columns of a table. */
export function columnTypes<Table extends FactTable>(table: Table): Record<ColumnsOf<Table>, ColumnType> {
  const entries = Object.entries<Column>(FACT_TABLES[table]).map(([name, { type }]) => [name, type])
  return Object.fromEntries(entries) as Record<ColumnsOf<Table>, ColumnType>
}

/** The columns that the checksums of a table cover, in order, by version. */
export function checksumColumns(table: FactTable): string[][] {
  const columns = Object.entries<Column>(FACT_TABLES[table])
  const newest = Math.max(...columns.map(([, { checksum = 0 }]) => checksum))
  return Array.from({ length: newest + 1 }, (_, version) =>
    columns.flatMap(([name, { checksum }]) => (checksum !== undefined && checksum <= version ? [name] : [])),
  )
}
