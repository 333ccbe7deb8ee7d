/**
 * A worker of Citus that is away. A real server raises the errors that the coordinator gives then, by their codes and
 * messages.
 */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { openBulkStore, openStore } from '../../../../src/store/open.ts'
import { BULK_TABLES, type BulkRow } from '../../../../src/store/port/bulk.ts'
import { StoreFault, StoreUnavailableFault } from '../../../../src/store/port/fault.ts'
import { lostWorkerOf, workerRetries } from '../../../../src/store/postgres/database/citus/lost-worker.ts'
import { storeWorkerSettings } from '../../../../src/store/postgres/database/citus/worker-settings.ts'
import { CREATE_COMMIT_MARKERS } from '../../../../src/store/postgres/database/commit-marker.ts'
import { openDatabase } from '../../../../src/store/postgres/database/database.ts'
import { damageMessage, isConnectionLost, toStoreFault } from '../../../../src/store/postgres/database/errors.ts'
import { until } from '../../../until.ts'
import { proxyTo } from '../proxy.ts'
import { noPostgres, postgresServer } from '../server.ts'
import { isDistributed } from './waiting.ts'

if (!noPostgres) await postgresServer() // for the whole file

const REFUSED =
  'connection to the remote node citus@10.0.0.9:5432 failed with the following error: could not connect to server: Connection refused'
const COPY_FAILED = 'failed to COPY to shard 102008 on 10.0.0.9:5432'
const REMOTE = { where: 'while executing command on 10.0.0.9:5432' }

const errorOf = (code: string, message: string, details: object = {}): Error =>
  Object.assign(new Error(message), { code, severity: 'ERROR', ...details })

test('an error of the coordinator names the worker that is away, and other errors name none', () => {
  for (const error of [
    errorOf('08006', REFUSED),
    errorOf('08006', 'connection to the remote node 10.0.0.9:5432 failed'),
    errorOf('08006', 'could not establish any connections to the node 10.0.0.9:5432 after 30000 ms'),
    errorOf('XX000', 'connection error: 10.0.0.9:5432'),
    errorOf('58030', COPY_FAILED),
    errorOf('57P01', 'terminating connection due to administrator command', REMOTE),
    errorOf('57P03', 'the database system is starting up', REMOTE),
    errorOf('XX000', 'server closed the connection unexpectedly', REMOTE),
  ]) {
    assert.equal(lostWorkerOf(error), '10.0.0.9:5432', error.message)
    assert.equal(isConnectionLost(error), false, error.message)
    const fault = toStoreFault(error, 'postgres://h/d')
    assert.ok(fault instanceof StoreUnavailableFault)
    assert.equal(fault.message, 'postgres://h/d: the worker 10.0.0.9:5432 does not respond: check that it runs')
    assert.throws(() => damageMessage(error), error)
  }
  for (const error of [
    errorOf('57P01', 'terminating connection due to administrator command'),
    errorOf('40P01', 'deadlock detected', REMOTE),
    errorOf('XX001', 'invalid page in block 7 of relation base/1/2', REMOTE),
    new Error('Connection terminated unexpectedly'),
  ])
    assert.equal(lostWorkerOf(error), null, error.message)
})

test('a call waits for a worker, and after its time no more; it waits for nothing else', async () => {
  assert.equal(await workerRetries()(errorOf('08006', REFUSED)), true)
  assert.equal(await workerRetries(0)(errorOf('08006', REFUSED)), false)
  assert.equal(await workerRetries()(errorOf('23505', 'duplicate key')), false)
})

test('calls of one outage wait until the same moment; after it each tries once, and a later outage is another one', async () => {
  const clock = { now: 0 }
  const known = new Map()
  const retries = () => workerRetries(1_000, known, () => clock.now)
  const lost = errorOf('08006', REFUSED)
  assert.equal(await retries()(lost), true)
  clock.now = 1_000
  assert.equal(await retries()(lost), false, 'the outage is older than the wait')
  clock.now = 6_000
  assert.equal(await retries()(lost), false, 'it lasts')
  clock.now = 60_000
  assert.equal(await retries()(lost), true)
})

/** A schema whose function `worker()` fails while the table `away` has a row. The sequence `tries` counts its calls. */
async function clusterOf(t: TestContext) {
  const { url, drop } = await (await postgresServer()).schema()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`${CREATE_COMMIT_MARKERS}; create table away (yes integer); create table written (n integer);
    create sequence tries;
    create function worker() returns integer language plpgsql as $$ begin
      perform nextval('tries');
      if exists (select from away) then raise exception using errcode = '08006', message = '${REFUSED}'; end if;
      return 1;
    end $$;
    insert into away values (1)`)
  t.after(async () => {
    await client.end()
    await drop()
  })
  const database = await openDatabase(url, { pool: 2, applicationName: 'workers' })
  t.after(() => database.close())
  const triesReach = (count: number) =>
    until(async () => (await client.query('select last_value from tries')).rows[0].last_value >= count)
  return { client, database, triesReach, comesBack: () => client.query('delete from away') }
}

const PID = { name: 'pid', text: 'select pg_backend_pid() as pid' }
const WORKER = { name: 'worker', text: 'select worker() as one' }

test('a read waits until the worker is back; others are answered meanwhile on the same connection', {
  skip: noPostgres,
}, async (t) => {
  const { database, triesReach, comesBack } = await clusterOf(t)
  const before = await database.read(PID)
  const waiting = database.read(WORKER)
  await triesReach(2)
  assert.deepEqual(await database.read(PID), before)
  await comesBack()
  assert.deepEqual(await waiting, [{ one: 1 }])
  assert.deepEqual(await database.read(PID), before)
})

test('a transaction waits until the worker is back, and is written once', { skip: noPostgres }, async (t) => {
  const { client, database, triesReach, comesBack } = await clusterOf(t)
  const waiting = database.transaction(async ({ run, rows }) => {
    await run({ name: 'write', text: 'insert into written values (1)' })
    await rows(WORKER)
  })
  await triesReach(2)
  await comesBack()
  await waiting
  assert.equal((await client.query('select from written')).rowCount, 1)
})

/** Many rows of a table; `onMiddle` is called while they are copied. */
function* manyRows(onMiddle: () => void): Generator<BulkRow> {
  for (let slot = 0; slot < 60_000; slot++) {
    if (slot === 30_000) onMiddle()
    yield [slot, `n${slot}.example`, null, 1, 0, null, 0, 0, 0, 0, null]
  }
}

const CRAWL_STATE = BULK_TABLES.find(({ name }) => name === 'crawl_state')!

test('a connection or a worker that is lost inside COPY is reported in a sentence, and nothing was written', {
  skip: noPostgres,
}, async (t) => {
  const { url, drop } = await (await postgresServer()).tables()
  t.after(drop)
  const proxy = await proxyTo(url)
  t.after(() => proxy.close())
  const broken = await openBulkStore(proxy.url, 'write')
  await assert.rejects(
    broken.write(CRAWL_STATE, manyRows(proxy.loseAll) as never, 'half'),
    (fault) => fault instanceof StoreUnavailableFault && /the server does not respond/.test(fault.message),
  )
  await broken.close()
  const bulk = await openBulkStore(url, 'write')
  t.after(() => bulk.close())
  assert.equal(await bulk.count(CRAWL_STATE), 0)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  if (await isDistributed(client)) {
    await client.end()
    return t.diagnostic('no worker is lost: Citus has no triggers on distributed tables')
  }
  await client.query(`create function fail() returns trigger language plpgsql as $$ begin
      if new.slot > 40000 then raise exception using errcode = '58030', message = '${COPY_FAILED}'; end if; return new;
    end $$; create trigger fail before insert on crawl_state for each row execute function fail()`)
  await client.end()
  await assert.rejects(
    bulk.write(CRAWL_STATE, manyRows(() => {}) as never, 'half'),
    (fault) => fault instanceof StoreFault && /the worker 10\.0\.0\.9:5432 does not respond/.test(fault.message),
  )
  assert.equal(await bulk.count(CRAWL_STATE), 0)
})

test('the settings of workers are stored once for the role in the database of the store', {
  skip: noPostgres || (process.env.DOMAINDEX_TEST_POSTGRES ? 'the server is not ours to change' : false),
}, async (t) => {
  const { url, drop } = await (await postgresServer()).database()
  await (await openStore(url, { access: 'write', ledger: 'own', secret: null, pool: 2 })).close()
  const database = await openDatabase(url, { pool: 2, applicationName: 'settings' })
  const stored = await Promise.all([storeWorkerSettings(database), storeWorkerSettings(database)])
  assert.ok(stored.includes(true), 'the connections must be replaced')
  const other = new pg.Client({ connectionString: url })
  await other.connect()
  t.after(async () => {
    await other.end()
    await database.close()
    await drop()
  })
  const { rows } = await other.query(
    `select current_setting('lock_timeout') as lock, current_setting('enable_seqscan') as seqscan, current_setting('jit') as jit`,
  )
  assert.deepEqual(rows, [{ lock: '20s', seqscan: 'off', jit: 'off' }])
  const version = `select xmin::text from pg_db_role_setting where setdatabase = (select oid from pg_database where datname = current_database())`
  const before = (await other.query(version)).rows
  assert.equal(await storeWorkerSettings(database), false)
  assert.deepEqual((await other.query(version)).rows, before)
})
