/** Maintenance on PostgreSQL: the check in slices, and sizes. */

import type { StoreMaintenance } from '../../port/store.ts'
import { sequentialCheck } from '../../shared/check/sequence.ts'
import type { CheckSlice } from '../../shared/check/slice.ts'
import type { Database } from '../database/database.ts'
import type { Session } from '../database/transaction.ts'
import { checkCrawlStatesPostgres } from './check/crawl-states.ts'
import { checkFactsPostgres } from './check/facts.ts'
import { checkLedgerPostgres } from './check/ledger.ts'
import { checkSchema } from './check/schema.ts'
import {
  checkAddressesPostgres,
  checkDocumentsPostgres,
  checkPresencePostgres,
  checkRedirectsPostgres,
  checkTargetsPostgres,
} from './check/shared.ts'

const CHECK_PARTS: readonly [string, (session: Session, after: string | null) => Promise<CheckSlice>][] = [
  ['schema', checkSchema],
  ['crawl_state', checkCrawlStatesPostgres],
  ['facts', checkFactsPostgres],
  ['presence', checkPresencePostgres],
  ['address_count', checkAddressesPostgres],
  ['redirect', checkRedirectsPostgres],
  ['redirect_count', checkTargetsPostgres],
  ['document', checkDocumentsPostgres],
  ['ledger', checkLedgerPostgres],
]

/** The tables of the current schema, and the log that was written since the last checkpoint. */
const READ_SIZES = {
  name: 'maintenance.sizes',
  text: `select (select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint from pg_class c
      where c.relkind = 'r' and c.relnamespace = to_regnamespace(quote_ident(current_schema()))) as facts,
    greatest(pg_wal_lsn_diff(pg_current_wal_lsn(), (select redo_lsn from pg_control_checkpoint())), 0)::bigint as log`,
}

const READ_PROGRESS = { name: 'maintenance.progress', text: 'select value from metadata where name = $1' }
const SAVE_PROGRESS = {
  name: 'maintenance.save-progress',
  text: 'insert into metadata (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value',
}
const FORGET_PROGRESS = { name: 'maintenance.delete-progress', text: 'delete from metadata where name = $1' }

export function postgresMaintenance({ read, snapshot, transaction }: Database): StoreMaintenance {
  return {
    check: sequentialCheck(
      CHECK_PARTS.map(([name, check]) => [name, (after) => snapshot((session) => check(session, after))]),
    ),
    async progress(job) {
      const [row] = await read<{ value: string }>(READ_PROGRESS, [`job:${job}`])
      return row?.value ?? null
    },
    async saveProgress(job, progress) {
      const values = [`job:${job}`, ...(progress === null ? [] : [progress])]
      await transaction((session) => session.run(progress === null ? FORGET_PROGRESS : SAVE_PROGRESS, values))
    },
    async sizes() {
      const [sizes] = await read<{ facts: number; log: number }>(READ_SIZES)
      return sizes!
    },
  }
}
