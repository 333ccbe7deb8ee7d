/** Checks that API calls can use the database: tables, permissions, and a connection for writes. */

import type { Database } from './database/database.ts'

/** The tables that calls read. Citus may distribute the first ones, and reads them in a statement of their own. */
const DISTRIBUTED_TABLES = [
  ...['crawl_state', 'facts', 'dns_state', 'presence', 'address_count', 'redirect', 'redirect_count', 'pending_page'],
]
const LOCAL_TABLES = [
  ...['page_document', 'document', 'segment', 'posting', 'document_frequency'],
  ...['account', 'period', 'addon', 'token', 'secret'],
]
/** The writes of commit markers, which Citus may manage. */
const MARKER_STATEMENTS = [
  `insert into commit_marker (id) select '00000000-0000-0000-0000-000000000000'::uuid where false`,
  'delete from commit_marker where false',
]
/** The writes of calls, as the ledger makes them. */
const WRITE_STATEMENTS = [
  `insert into budget (account, day, used) select 0, '', 0 where false`,
  'update budget set used = used where false',
  `insert into token_lease (account, day, holder, units) select 0, '', '', 0 where false`,
  'update token_lease set units = units where false',
  'delete from token_lease where false',
  `insert into expired_lease (holder, account, day, units) select '', 0, '', 0 where false`,
  'delete from expired_lease where false',
  `insert into lease_holder (holder, heartbeat_at) select '', 0 where false`,
  'update lease_holder set heartbeat_at = heartbeat_at where false',
  `insert into usage (account, day, endpoint, token, calls) select 0, '', '', 0, 0 where false`,
  'update usage set calls = calls where false',
  'update token set last_used = last_used where false',
  `insert into paid_file (account, day, file) select 0, '', '' where false`,
]

/** Reads and writes no row, but the server checks tables and permissions. */
const PROBE_DISTRIBUTED = {
  name: 'probe.distributed',
  text: `select 1 from ${DISTRIBUTED_TABLES.map((table, number) => (number === 0 ? table : `join ${table} using (part)`)).join(' ')} where false`,
}
const PROBE_LOCAL = { name: 'probe.local', text: `select 1 from ${LOCAL_TABLES} where false` }
const PROBE_MARKERS = MARKER_STATEMENTS.map((text, number) => ({ name: `probe.marker-${number}`, text }))
const PROBE_WRITES = {
  name: 'probe.write',
  text: `with ${WRITE_STATEMENTS.map((statement, number) => `w${number} as (${statement})`)} select 1`,
}

/** Throws if calls would fail. */
export async function probeDatabase({
  read,
  emptyTransaction,
}: Pick<Database, 'read' | 'emptyTransaction'>): Promise<void> {
  const writes = [...PROBE_MARKERS, PROBE_WRITES]
  await Promise.all([
    ...[PROBE_DISTRIBUTED, PROBE_LOCAL].map((statement) => read(statement)),
    emptyTransaction(({ rows }) => Promise.all(writes.map((statement) => rows(statement)))),
  ])
}
