/** Whether a database gives what the calls of the API ask of it: their tables, the rights on them, and a connection to write by. */

import type { Database } from './database/database.ts'

/** What calls read. */
const READ_TABLES = [
  ...['crawl_state', 'facts', 'dns_state', 'presence', 'address_count', 'redirect', 'redirect_count'],
  ...['pending_page', 'page_document', 'document', 'segment', 'posting', 'document_frequency'],
  ...['account', 'period', 'addon', 'token', 'secret'],
]
/** What calls write, as the ledger writes it. */
const WRITE_STATEMENTS = [
  'insert into commit_marker (id) select gen_random_uuid() where false',
  'delete from commit_marker where false',
  `insert into budget (account, day, used) select 0, '', 0 where false`,
  'update budget set used = used where false',
  `insert into token_lease (account, day, holder, units) select 0, '', '', 0 where false`,
  'update token_lease set units = units where false',
  'delete from token_lease where false',
  `insert into lease_holder (holder, heartbeat_at) select '', 0 where false`,
  'update lease_holder set heartbeat_at = heartbeat_at where false',
  `insert into usage (account, day, endpoint, token, calls) select 0, '', '', 0, 0 where false`,
  'update usage set calls = calls where false',
  'update token set last_used = last_used where false',
  `insert into paid_file (account, day, file) select 0, '', '' where false`,
]

/** Reads no row and writes none: the server looks at tables and rights all the same. */
const PROBE_READS = { name: 'probe.read', text: `select 1 from ${READ_TABLES} where false` }
const PROBE_WRITES = {
  name: 'probe.write',
  text: `with ${WRITE_STATEMENTS.map((statement, number) => `w${number} as (${statement})`)} select 1`,
}

/** Throws what hinders. */
export async function probeDatabase({
  read,
  rolledBackTransaction: trial,
}: Pick<Database, 'read' | 'rolledBackTransaction'>): Promise<void> {
  await Promise.all([read(PROBE_READS), trial(({ rows }) => rows(PROBE_WRITES))])
}
