/** Upkeep on PostgreSQL: the check in slices, and sizes. */

import { checkOf } from '../check/parts.ts'
import type { Slice } from '../check/slice.ts'
import type { Archive } from '../store.ts'
import { checkFacts } from './check/facts.ts'
import { checkLedger } from './check/ledger.ts'
import { checkSchema } from './check/schema.ts'
import { checkAddresses, checkPresence, checkRedirects, checkTargets, checkWordings } from './check/shared.ts'
import { checkVisits } from './check/visits.ts'
import type { Database } from './database.ts'
import type { Session } from './writer.ts'

const PARTS: readonly [string, (session: Session, after: string | null) => Promise<Slice>][] = [
  ['schema', checkSchema],
  ['visit', checkVisits],
  ['facts', checkFacts],
  ['presence', checkPresence],
  ['address', checkAddresses],
  ['redirect', checkRedirects],
  ['target', checkTargets],
  ['wording', checkWordings],
  ['ledger', checkLedger],
]

/** The tables of the current schema; what was logged since the last checkpoint is not written back yet. */
const SIZES = {
  name: 'archive.sizes',
  text: `select (select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint from pg_class c
      where c.relkind = 'r' and c.relnamespace = to_regnamespace(quote_ident(current_schema()))) as facts,
    greatest(pg_wal_lsn_diff(pg_current_wal_lsn(), (select redo_lsn from pg_control_checkpoint())), 0)::bigint as log`,
}

const PROGRESS = { name: 'archive.progress', text: 'select value from mark where name = $1' }
const KEEP_PROGRESS = {
  name: 'archive.keep-progress',
  text: 'insert into mark (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value',
}
const FORGET_PROGRESS = { name: 'archive.forget-progress', text: 'delete from mark where name = $1' }

export function archiveOf({ read, snapshot, transaction }: Database): Archive {
  return {
    check: checkOf(PARTS.map(([name, check]) => [name, (after) => snapshot((session) => check(session, after))])),
    async progress(job) {
      const [row] = await read<{ value: string }>(PROGRESS, [`job:${job}`])
      return row?.value ?? null
    },
    async keepProgress(job, progress) {
      const values = [`job:${job}`, ...(progress === null ? [] : [progress])]
      await transaction((session) => session.run(progress === null ? FORGET_PROGRESS : KEEP_PROGRESS, values))
    },
    async sizes() {
      const [sizes] = await read<{ facts: number; log: number }>(SIZES)
      return sizes!
    },
  }
}
