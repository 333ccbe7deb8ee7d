/** A whole store as rows of tables, for copying it from one engine to the other and for comparing two stores. */

import { hash } from 'node:crypto'
import { columnNames, type FactTable } from '../shared/tables.ts'
import { PRUNED_UNTIL } from './retention.ts'

export type BulkValue = string | number | Uint8Array | null
/**
 * A row's values in the order of its table's columns. If the table has `belongsToName`, the name follows as the last
 * value.
 */
export type BulkRow = readonly BulkValue[]

/** A table, the same for every engine. `key`: how many of the first columns form the primary key. */
export type BulkTable = {
  name: string
  columns: readonly string[]
  key: number
  /** Its rows are stored under the id of a name. */
  belongsToName?: true
  /** The column that determines the partition of a row. */
  partitionKey?: 'slot' | 'name' | 'address' | 'target' | 'sha256' | 'number'
}

/** By table of the facts: how many columns form the key, and what determines the partition. */
const FACTS_KEYS: Record<FactTable, Omit<BulkTable, 'name' | 'columns'>> = {
  crawl_state: { key: 2, partitionKey: 'slot' },
  facts: { key: 1, partitionKey: 'name' },
  dns_state: { key: 3, belongsToName: true },
  dns_interruption: { key: 3, belongsToName: true },
  address_first_seen: { key: 2, belongsToName: true },
  pending_page: { key: 1, belongsToName: true },
  presence: { key: 2, partitionKey: 'address' },
  address_count: { key: 1, partitionKey: 'address' },
  redirect: { key: 2, partitionKey: 'target' },
  redirect_count: { key: 1, partitionKey: 'target' },
  certificate: { key: 1, partitionKey: 'sha256' },
}

const FACTS_TABLES: readonly BulkTable[] = Object.entries(FACTS_KEYS).map(([name, keys]) => ({
  name,
  columns: columnNames(name as FactTable),
  ...keys,
}))

export const LEDGER_TABLES: readonly BulkTable[] = [
  { name: 'account', columns: ['id', 'email', 'role', 'plan', 'created', 'suspended'], key: 1 },
  { name: 'period', columns: ['account', 'first', 'last', 'plan'], key: 2 },
  { name: 'addon', columns: ['account', 'addon'], key: 2 },
  {
    name: 'token',
    columns: ['id', 'account', 'hash', 'name', 'hint', 'created', 'expires', 'last_used', 'revoked'],
    key: 1,
  },
  { name: 'budget', columns: ['account', 'day', 'used'], key: 2 },
  { name: 'token_lease', columns: ['account', 'day', 'holder', 'units'], key: 3 },
  { name: 'lease_holder', columns: ['holder', 'heartbeat_at'], key: 1 },
  { name: 'usage', columns: ['account', 'day', 'endpoint', 'token', 'calls'], key: 4 },
  { name: 'closed_usage', columns: ['account', 'day', 'endpoint', 'token', 'calls'], key: 4 },
  { name: 'secret', columns: ['number', 'bytes', 'replaced_at'], key: 1 },
  { name: 'crawl_request', columns: ['kind', 'slot_range', 'name'], key: 3 },
  { name: 'lookup_request_count', columns: ['account', 'day', 'requests'], key: 2 },
  { name: 'paid_file', columns: ['account', 'day', 'file'], key: 3 },
  { name: 'place_mark', columns: ['place', 'mark'], key: 1 },
  { name: 'account_password', columns: ['account', 'hash', 'changed'], key: 1 },
  {
    name: 'session',
    columns: ['id', 'account', 'hash', 'created', 'last_used', 'browser', 'address'],
    key: 1,
  },
  { name: 'one_time_link', columns: ['hash', 'kind', 'account', 'email', 'expires'], key: 1 },
  { name: 'attempt', columns: ['key', 'count', 'ends'], key: 1 },
  {
    name: 'operator_token',
    columns: ['id', 'name', 'hint', 'hash', 'created', 'expires', 'last_used', 'revoked'],
    key: 1,
  },
  {
    name: 'idempotent_answer',
    columns: ['holder', 'key', 'request', 'created', 'status', 'body'],
    key: 2,
  },
  {
    name: 'watch',
    columns: ['id', 'account', 'kind', 'value', 'threshold', 'types', 'created', 'muted', 'version'],
    key: 1,
  },
  {
    name: 'webhook',
    columns: [
      ...['id', 'account', 'url', 'watches', 'secret_number', 'sealed', 'created', 'seen', 'failures', 'failing_since'],
      ...['last_success', 'last_error', 'paused_until', 'disabled', 'tests', 'tested', 'test_result', 'due'],
    ],
    key: 1,
  },
  {
    name: 'delivery',
    columns: ['webhook', 'event', 'event_time', 'since', 'attempts', 'tried', 'due', 'error'],
    key: 2,
  },
  { name: 'digest', columns: ['account', 'period', 'key', 'seen', 'due', 'failures', 'sent'], key: 1 },
  { name: 'feed', columns: ['account', 'hash', 'created'], key: 1 },
  { name: 'delivery_count', columns: ['outcome', 'count'], key: 1 },
  { name: 'release_request', columns: ['day', 'requested'], key: 1 },
  {
    name: 'audit',
    columns: ['id', 'time', 'actor', 'origin', 'action', 'account', 'email', 'details'],
    key: 1,
  },
]

/** The part of the schedule that the crawl is judged by; the rest is rebuilt. */
const OUTCOME_TABLE: BulkTable = {
  name: 'probe_outcome',
  columns: ['hour', 'kind', 'probes', 'servfail', 'nxdomain', 'no_website'],
  key: 2,
}

/** Without the leases. */
const LOG_TABLE: BulkTable = {
  name: 'certificate_log',
  columns: ['id', 'url', 'state', 'saved_at', 'problem'],
  key: 1,
}

const EVENT_TABLE: BulkTable = {
  name: 'event',
  columns: ['number', 'account', 'watch', 'name', 'time', 'observed_at', 'differences'],
  key: 1,
}

/** The documents of start pages. Their index is rebuilt. */
const SIMILAR_TABLES: readonly BulkTable[] = [
  { name: 'page_document', columns: ['id', 'document', 'name'], key: 1, belongsToName: true },
  { name: 'document', columns: ['number', 'digest', 'vector'], key: 1, partitionKey: 'number' },
]

/** What the store says of itself. Most of it is about the files or the database of the store. */
const METADATA_TABLE: BulkTable = { name: 'metadata', columns: ['name', 'value'], key: 1 }

/** In the order in which they are copied. */
export const BULK_TABLES: readonly BulkTable[] = [
  ...FACTS_TABLES,
  METADATA_TABLE,
  ...LEDGER_TABLES,
  OUTCOME_TABLE,
  LOG_TABLE,
  EVENT_TABLE,
  ...SIMILAR_TABLES,
]

/** SQL condition, valid in every engine, of the rows of a table to copy. Without one, all rows are copied. */
export const COPY_CONDITIONS: Readonly<Record<string, string>> = {
  document: 'exists (select 1 from page_document r where r.document = t.number)',
  metadata: `t.name = '${PRUNED_UNTIL}'`,
}

/** The highest number ever assigned in each numbered table. Numbers are never reused. */
export type LastNumbers = Record<
  'account' | 'token' | 'session' | 'operator_token' | 'audit' | 'watch' | 'webhook' | 'document' | 'event',
  number
>

/** Ends a copy: the table with the last change of the watches is not copied. SQL of every engine. */
export const COPY_WATCH_VERSION = 'update watch_version set version = (select coalesce(max(version), 0) from watch)'

/** One side of a copy. No other process may write to the store meanwhile. */
export interface BulkStore {
  count(table: BulkTable): Promise<number>
  /**
   * At most `limit` rows in the order of the engine's key. `next` is the position to continue from; null at the end.
   */
  read(table: BulkTable, after: string | null, limit: number): Promise<{ rows: BulkRow[]; next: string | null }>
  /** Writes rows that do not exist yet, and the progress, in one transaction. Ledger tables may repeat rows. */
  write(table: BulkTable, rows: readonly BulkRow[], progress: string): Promise<void>
  /** The progress of a copy into this store; null if there is none. */
  progress(): Promise<string | null>
  lastNumbers(): Promise<LastNumbers>
  /** Ends the copy: new numbers continue after `numbered`, and the progress is deleted. */
  finish(numbered: LastNumbers): Promise<void>
  close(): Promise<void>
}

/** Sums the digests of rows, in any order. Two tables with the same sum have the same rows. */
export class TableDigest {
  readonly #sums = new Uint32Array(4)
  #rows = 0

  add(row: BulkRow, { columns }: BulkTable): void {
    const digest = hash('sha256', rowToJson(row.slice(0, columns.length)), 'buffer')
    for (let index = 0; index < 4; index++) this.#sums[index]! += digest.readUInt32LE(4 * index)
    this.#rows++
  }

  get rows(): number {
    return this.#rows
  }

  /** The sum: 128 bits, in hexadecimal. */
  get digest(): string {
    return [...this.#sums].map((index) => index.toString(16).padStart(8, '0')).join('')
  }
}

/** A row as text: a position in a table. */
export function rowToJson(row: BulkRow): string {
  return JSON.stringify(
    row.map((value) => (value instanceof Uint8Array ? { hex: Buffer.from(value).toString('hex') } : value)),
  )
}

export function rowFromJson(text: string): BulkValue[] {
  const values = JSON.parse(text) as (string | number | null | { hex: string })[]
  return values.map((value) => (typeof value === 'object' && value !== null ? Buffer.from(value.hex, 'hex') : value))
}
