/** Maintenance on PostgreSQL: the check in slices, and sizes. */

import type { StoreMaintenance, TableSize } from '../../port/store.ts'
import { FREQUENCIES_CHECK, keyColumnsOf, POSTINGS_CHECK } from '../../shared/check/checksummed-rows.ts'
import { type KeyColumn, skippingDamage } from '../../shared/check/damaged.ts'
import { type CheckPart, sequentialCheck } from '../../shared/check/sequence.ts'
import type { CheckSlice } from '../../shared/check/slice.ts'
import type { Database } from '../database/database.ts'
import { damageMessage, isTimedOut } from '../database/errors.ts'
import type { Shards } from '../database/shards.ts'
import type { Session } from '../database/transaction.ts'
import { checkFactsPostgres } from './check/facts.ts'
import {
  checkCertificatesPostgres,
  checkInverseBlocks,
  checkInverseNames,
  checkInverseRuns,
  checkKeysOfNames,
} from './check/inverse.ts'
import { checkSchema } from './check/schema.ts'
import {
  checkFrequenciesPostgres,
  checkPostedTermsPostgres,
  checkPostingsPostgres,
  checkSegmentDocumentsPostgres,
  checkSegmentsPostgres,
} from './check/segments.ts'
import {
  checkAddressesPostgres,
  checkCrawlStatesPostgres,
  checkDocumentsPostgres,
  checkEventCountsPostgres,
  checkLedgerPostgres,
  checkPresencePostgres,
  checkRedirectsPostgres,
  checkTargetsPostgres,
} from './check/shared.ts'
import { postgresRepair } from './repair.ts'

type PostgresCheckPart = {
  name: string
  columns: readonly KeyColumn[]
  check(session: Session, after: string | null, limit: number, shards: Shards): Promise<CheckSlice>
}

const CHECK_PARTS: readonly PostgresCheckPart[] = [
  { name: 'schema', columns: [], check: checkSchema },
  { name: 'crawl_state', columns: ['part', 'slot', 'text'], check: checkCrawlStatesPostgres },
  { name: 'facts', columns: ['part', 'number'], check: checkFactsPostgres },
  { name: 'presence', columns: ['part', 'hex', 'text'], check: checkPresencePostgres },
  { name: 'address_count', columns: ['part', 'hex'], check: checkAddressesPostgres },
  { name: 'redirect', columns: ['part', 'text', 'text'], check: checkRedirectsPostgres },
  { name: 'redirect_count', columns: ['part', 'text'], check: checkTargetsPostgres },
  { name: 'document', columns: ['number'], check: checkDocumentsPostgres },
  { name: 'posting', columns: keyColumnsOf(POSTINGS_CHECK), check: checkPostingsPostgres },
  { name: 'document_frequency', columns: keyColumnsOf(FREQUENCIES_CHECK), check: checkFrequenciesPostgres },
  { name: 'segment', columns: [], check: checkSegmentsPostgres },
  { name: 'posted_term', columns: [], check: checkPostedTermsPostgres },
  { name: 'segment_document', columns: [], check: checkSegmentDocumentsPostgres },
  { name: 'inverse_run', columns: ['number'], check: checkInverseRuns },
  { name: 'inverse_block', columns: ['number', 'number', 'hex'], check: checkInverseBlocks },
  { name: 'inverse_name', columns: ['part', 'number'], check: checkInverseNames },
  { name: 'name_key', columns: ['part', 'slot', 'text'], check: checkKeysOfNames },
  { name: 'certificate', columns: ['part', 'hex'], check: checkCertificatesPostgres },
  { name: 'event_count', columns: [], check: checkEventCountsPostgres },
  { name: 'ledger', columns: [], check: checkLedgerPostgres },
]

/** Plans that read only the rows of the slice. Any other plan would fail at a damaged page of another slice, too. */
const READ_BY_KEY = 'set local enable_seqscan = off; set local enable_hashjoin = off; set local enable_mergejoin = off'

/** Checks of a slice of a store in shards, whose snapshots are not of one moment: a fault must be found each time. */
const SHARD_CHECKS = 3

/** A part that skips damaged rows. */
function checkPart({ snapshot, shards }: Database, { name, columns, check }: PostgresCheckPart): [string, CheckPart] {
  const checkRows = async (after: string | null, limit: number): Promise<CheckSlice> => {
    const all = await shards()
    const readSlice = (): Promise<CheckSlice> =>
      snapshot(async (session) => {
        await session.script(READ_BY_KEY)
        return check(session, after, limit, all)
      })
    const slice = await readSlice()
    for (let checks = 1; all.groups.length > 1 && checks < SHARD_CHECKS && slice.faults.length > 0; checks++) {
      const found = new Set((await readSlice()).faults.map((fault) => JSON.stringify(fault)))
      slice.faults = slice.faults.filter((fault) => found.has(JSON.stringify(fault)))
    }
    return slice
  }
  return [name, skippingDamage({ name, columns, check: checkRows }, damageMessage, isTimedOut)]
}

/** The tables of the current schema, and the log that was written since the last checkpoint. */
const READ_SIZES = {
  name: 'maintenance.sizes',
  text: `select (select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint from pg_class c
      where c.relkind = 'r' and c.relnamespace = to_regnamespace(quote_ident(current_schema()))) as facts,
    greatest(pg_wal_lsn_diff(pg_current_wal_lsn(), (select redo_lsn from pg_control_checkpoint())), 0)::bigint as "writeAheadLog",
    0 as ledger, null as unused`,
}

/**
 * The tables of the current schema with their indexes; the parts of a partitioned table count as one. The rows are those
 * of the last analysis.
 */
const READ_TABLE_SIZES = {
  name: 'maintenance.table-sizes',
  text: `select coalesce(p.relname, c.relname)::text as name, sum(pg_total_relation_size(c.oid))::bigint as bytes,
      sum(pg_indexes_size(c.oid))::bigint as indexes, sum(nullif(c.reltuples, -1))::bigint as rows
    from pg_class c left join pg_inherits i on i.inhrelid = c.oid left join pg_class p on p.oid = i.inhparent
    where c.relkind = 'r' and c.relnamespace = to_regnamespace(quote_ident(current_schema())) group by 1`,
}

const READ_PROGRESS = { name: 'maintenance.progress', text: 'select value from metadata where name = $1' }
const SAVE_PROGRESS = {
  name: 'maintenance.save-progress',
  text: 'insert into metadata (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value',
}
const DELETE_PROGRESS = { name: 'maintenance.delete-progress', text: 'delete from metadata where name = $1' }

export function postgresMaintenance(database: Database): StoreMaintenance {
  const { read, transaction } = database
  return {
    check: sequentialCheck(CHECK_PARTS.map((part) => checkPart(database, part))),
    pageFaults: async () => [],
    repair: postgresRepair(database),
    async progress(job) {
      const [row] = await read<{ value: string }>(READ_PROGRESS, [`job:${job}`])
      return row?.value ?? null
    },
    async saveProgress(job, progress) {
      const values = [`job:${job}`, ...(progress === null ? [] : [progress])]
      await transaction((session) => session.run(progress === null ? DELETE_PROGRESS : SAVE_PROGRESS, values))
    },
    tableSizes: () => read<TableSize>(READ_TABLE_SIZES, []),
    async sizes() {
      const [sizes] = await read<Awaited<ReturnType<StoreMaintenance['sizes']>>>(READ_SIZES)
      return sizes!
    },
  }
}
