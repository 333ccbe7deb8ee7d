/** Checks that API calls can use the database: tables, permissions, and a connection for writes. */

import type { Database } from './database/database.ts'

/** The tables that calls read. */
const READ_TABLES = [
  ...['crawl_state', 'facts', 'dns_state', 'presence', 'address_count', 'redirect', 'redirect_count'],
  ...['pending_page', 'page_document', 'document', 'segment', 'posting', 'document_frequency'],
  ...['account', 'period', 'addon', 'token', 'secret'],
]
/** The writes of calls, as the ledger makes them. */
const WRITE_STATEMENTS = [
  'insert into commit_marker (id) select gen_random_uuid() where false',
  'delete from commit_marker where false',
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
const PROBE_READS = { name: 'probe.read', text: `select 1 from ${READ_TABLES} where false` }
const PROBE_WRITES = {
  name: 'probe.write',
  text: `with ${WRITE_STATEMENTS.map((statement, number) => `w${number} as (${statement})`)} select 1`,
}

/** Throws if calls would fail. */
export async function probeDatabase({
  read,
  emptyTransaction,
}: Pick<Database, 'read' | 'emptyTransaction'>): Promise<void> {
  await Promise.all([read(PROBE_READS), emptyTransaction(({ rows }) => rows(PROBE_WRITES))])
}
