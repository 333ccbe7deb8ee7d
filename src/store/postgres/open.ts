/** Opens a store in a PostgreSQL database. Its tables are in the current schema of the connection. */

import type { OpenStoreOptions } from '../port/engine.ts'
import { StoreFault } from '../port/fault.ts'
import type { Store } from '../port/store.ts'
import { storeWorkerSettings } from './database/citus/worker-settings.ts'
import { type Database, openDatabase } from './database/database.ts'
import {
  createPostgresSchema,
  missingSchemaParts,
  pendingPostgresMigrations,
  SCHEMA_PARTS,
} from './database/migrate.ts'
import type { TransactionWork } from './database/transaction.ts'
import { postgresEventRemover, postgresEvents } from './facts/events.ts'
import { postgresFacts } from './facts/facts.ts'
import { postgresObservations } from './facts/observations.ts'
import { postgresPruning } from './facts/pruning.ts'
import { postgresInverse } from './inverse/inverse.ts'
import { postgresInverseIndex } from './inverse/maintenance.ts'
import { openPostgresLedger } from './ledger/ledger.ts'
import { postgresListing } from './listing/listing.ts'
import { redactPostgresUrl } from './locations.ts'
import { postgresMaintenance } from './maintenance/maintenance.ts'
import { postgresCertificateLogs, postgresJobs } from './schedule/jobs.ts'
import { postgresSchedule } from './schedule/schedule.ts'
import { postgresIndexer } from './similar/indexer.ts'
import { postgresSimilar } from './similar/similar.ts'

/** The tables that calls read. Citus may distribute the first ones, and reads them in a statement of their own. */
const DISTRIBUTED_TABLES = [
  ...[
    'crawl_state',
    'facts',
    'dns_state',
    'presence',
    'address_count',
    'redirect',
    'redirect_count',
    'pending_page',
    'certificate',
  ],
]
const LOCAL_TABLES = [
  ...['page_document', 'document', 'segment', 'posting', 'document_frequency', 'inverse_run', 'inverse_block'],
  ...['account', 'period', 'addon', 'token', 'secret', 'watch', 'webhook', 'event'],
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

/** Default connections of a process. */
const DEFAULT_POOL_SIZE = 8

/** The oldest version that the tests use. */
const MIN_POSTGRES_VERSION = 15

const READ_SERVER = {
  name: 'open.server',
  text: `select current_setting('server_encoding') as encoding, current_setting('server_version_num')::int / 10000 as version`,
}
const RECORD_DEMO = `insert into metadata (name, value) values ('demo', 'yes') on conflict do nothing`

export async function openPostgres(url: string, options: OpenStoreOptions): Promise<Store> {
  const { secret, now, demo = false, pool = DEFAULT_POOL_SIZE, maxSilence } = options
  const open = () => openDatabase(url, { pool, applicationName: 'domaindex', maxSilence })
  let database = await open()
  try {
    const mustReconnect = await createSchemaIfMissing(database, url, async (session) => {
      if (demo) await session.script(RECORD_DEMO)
    })
    if (mustReconnect) {
      await database.close()
      database = await open()
    }
    await checkStorePurpose(database, url, demo)
    const ledger = await openPostgresLedger(database, { secret, now })
    return {
      observations: postgresObservations(database, now),
      schedule: postgresSchedule(database, now),
      facts: postgresFacts(database),
      eventRemover: postgresEventRemover(database),
      events: postgresEvents(database, now ? async () => now() : database.now),
      inverse: postgresInverse(database),
      inverseIndex: postgresInverseIndex(database),
      ledger,
      crawlRequests: ledger,
      listing: postgresListing({ ...database, now: now ? async () => now() : database.now }),
      maintenance: postgresMaintenance(database),
      pruning: postgresPruning(database),
      jobs: postgresJobs(database, now),
      certificateLogs: postgresCertificateLogs(database, now),
      similar: postgresSimilar(database),
      similarIndex: postgresIndexer(database),
      now: now ? async () => now() : database.now,
      probe: () => probeDatabase(database),
      async close() {
        await ledger.close()
        await database.close()
      },
    }
  } catch (error) {
    await database.close()
    throw error
  }
}

/**
 * Creates the tables if there are none, and runs `complete` in the same transaction. Another process may do the same
 * concurrently. Returns true if the connections of the database lack settings and must be replaced. Throws StoreFault.
 */
export async function createSchemaIfMissing(
  database: Database,
  url: string,
  complete: TransactionWork<void> = async () => {},
): Promise<boolean> {
  const [server] = await database.read<ServerInfo>(READ_SERVER)
  const reason = unsupportedReason(server!)
  if (reason !== null) throw new StoreFault(`${redactPostgresUrl(url)} ${reason}`)
  const missing = await missingSchemaParts(database)
  for (const [part, folder] of SCHEMA_PARTS)
    if (!missing.includes(part) && (await pendingPostgresMigrations(database, part, folder)).length > 0)
      throw new StoreFault(`${redactPostgresUrl(url)} is of an older release: run domaindex migrate`)
  if (missing.length > 0) await createPostgresSchema(database, complete)
  return database.hasCitus && (await storeWorkerSettings(database))
}

type ServerInfo = { encoding: string; version: number }

/** Why a database cannot be a store, and what to do about it; null if it can. */
export function unsupportedReason({ encoding, version }: ServerInfo): string | null {
  if (version < MIN_POSTGRES_VERSION)
    return `is PostgreSQL ${version}: version ${MIN_POSTGRES_VERSION} or later is required`
  return encoding === 'UTF8'
    ? null
    : `has encoding ${encoding}: create the database with createdb --encoding=UTF8 --template=template0`
}

/** Throws StoreFault if the store is a demo store or an unfinished copy. */
export async function checkStorePurpose(database: Database, url: string, demo: boolean): Promise<void> {
  const metadata = await database.read<{ name: string }>({ name: 'open.metadata', text: 'select name from metadata' })
  if (!demo && metadata.some(({ name }) => name === 'demo'))
    throw new StoreFault(
      `${redactPostgresUrl(url)} holds the generated data of a demo: set DOMAINDEX_STORE to another store`,
    )
  if (metadata.some(({ name }) => name === 'copy'))
    throw new StoreFault(
      `${redactPostgresUrl(url)} holds an unfinished copy of another store: run domaindex copy again to resume it`,
    )
}

/** Throws if calls would fail. */
async function probeDatabase({ read, emptyTransaction }: Pick<Database, 'read' | 'emptyTransaction'>): Promise<void> {
  const writes = [...PROBE_MARKERS, PROBE_WRITES]
  await Promise.all([
    ...[PROBE_DISTRIBUTED, PROBE_LOCAL].map((statement) => read(statement)),
    emptyTransaction(({ rows }) => Promise.all(writes.map((statement) => rows(statement)))),
  ])
}
