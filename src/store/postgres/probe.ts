/** Whether a database gives what the calls of the API ask of it: their tables, the rights on them, and a connection to write by. */

import type { Database } from './database/database.ts'

/** What calls read. */
const READ_TABLES = [
  ...['visit', 'facts', 'state', 'presence', 'address', 'redirect', 'target'],
  ...['page', 'reading', 'wording', 'segment', 'posting', 'frequency'],
  ...['account', 'period', 'addon', 'token', 'secret'],
]
/** What calls write, as the ledger writes it. */
const WRITE_STATEMENTS = [
  'insert into proof (id) select gen_random_uuid() where false',
  'delete from proof where false',
  `insert into budget (account, day, used) select 0, '', 0 where false`,
  'update budget set used = used where false',
  `insert into hold (account, day, holder, units) select 0, '', '', 0 where false`,
  'update hold set units = units where false',
  'delete from hold where false',
  `insert into holder (holder, heard) select '', 0 where false`,
  'update holder set heard = heard where false',
  `insert into usage (account, day, endpoint, token, calls) select 0, '', '', 0, 0 where false`,
  'update usage set calls = calls where false',
  'update token set last_used = last_used where false',
  `insert into download (account, day, file) select 0, '', '' where false`,
]

/** Reads no row and writes none: the server looks at tables and rights all the same. */
const PROBE_READS = { name: 'probe.read', text: `select 1 from ${READ_TABLES} where false` }
const PROBE_WRITES = {
  name: 'probe.write',
  text: `with ${WRITE_STATEMENTS.map((statement, number) => `w${number} as (${statement})`)} select 1`,
}

/** Throws what hinders. */
export async function probeDatabase({ read, rolledBackTransaction: trial }: Pick<Database, 'read' | 'rolledBackTransaction'>): Promise<void> {
  await Promise.all([read(PROBE_READS), trial(({ rows }) => rows(PROBE_WRITES))])
}
