/** A PostgreSQL that does not respond for a while, and statements that fail because of an earlier one. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { StoreFault, StoreUnavailableFault } from '../../../src/store/port/fault.ts'
import { CREATE_COMMIT_MARKERS } from '../../../src/store/postgres/database/commit-marker.ts'
import { type Database, openDatabase } from '../../../src/store/postgres/database/database.ts'
import { groupCommit } from '../../../src/store/postgres/ledger/ledger.ts'
import { postgresStoreExists } from '../../../src/store/postgres/upgrade.ts'
import { until } from '../../until.ts'
import { proxyTo } from './proxy.ts'
import { noPostgres, postgresServer } from './server.ts'

if (!noPostgres) await postgresServer() // for the whole file

const ONE = { name: 'one', text: 'select 1 as one' }

/** A schema with the table of commit markers, and its own client. */
async function schemaOf(t: TestContext) {
  const { url, drop } = await (await postgresServer()).tables()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(CREATE_COMMIT_MARKERS)
  t.after(async () => {
    await client.end()
    await drop()
  })
  return { url, client }
}

const write = ({ transaction }: Database): Promise<unknown> => transaction(({ rows }) => rows(ONE))

test('reads and writes give up a server that does not respond, and try it again later', {
  skip: noPostgres,
}, async (t) => {
  const { url } = await schemaOf(t)
  const proxy = await proxyTo(url)
  t.after(() => proxy.close())
  const database = await openDatabase(proxy.url, { pool: 4, applicationName: 'test', maxSilence: 1_500 })
  t.after(() => database.close())
  await Promise.all([database.read(ONE), write(database)])
  proxy.freeze(true)
  const asked = [database.read(ONE), database.read(ONE), database.readLong(ONE), write(database), write(database)]
  const outcomes = await Promise.allSettled(asked)
  for (const outcome of outcomes) {
    assert.ok(outcome.status === 'rejected' && outcome.reason instanceof StoreFault, String(outcome.status))
    assert.match(outcome.reason.message, /the server does not respond|are all in use/)
  }
  assert.ok(outcomes.some((each) => each.status === 'rejected' && each.reason instanceof StoreUnavailableFault))
  proxy.freeze(false)
  assert.deepEqual(await database.read(ONE), [{ one: 1 }])
  await write(database)
})

test('a look whether there is a store gives up a server that accepts the connection and is silent then', async (t) => {
  const accepted = Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I', 'latin1') // AuthenticationOk, ReadyForQuery
  const silent = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.write(accepted))
  }).listen(0, '127.0.0.1')
  t.after(() => silent.close())
  await once(silent, 'listening')
  const url = `postgres://user@127.0.0.1:${(silent.address() as AddressInfo).port}/store`
  await assert.rejects(postgresStoreExists(url, 1_000), StoreUnavailableFault)
})

test('a single long statement may exceed the timeout, and arriving responses keep a connection', {
  skip: noPostgres,
}, async (t) => {
  const { url } = await schemaOf(t)
  const database = await openDatabase(url, { pool: 4, applicationName: 'test', maxSilence: 2_000 })
  t.after(() => database.close())
  const slow = { name: 'slow', text: 'select 1 as one from pg_sleep(5)' }
  const dripping = { name: 'drip', text: 'select repeat(n::text, 9000) || pg_sleep(0.4) from generate_series(1, 12) n' }
  const [once, drops, silent] = await Promise.allSettled([
    database.transactionOnce(({ rows }) => rows(slow)),
    database.read(dripping),
    database.readLong(slow),
  ])
  assert.deepEqual(once, { status: 'fulfilled', value: [{ one: 1 }] })
  assert.ok(drops.status === 'fulfilled' && drops.value.length === 12)
  assert.ok(silent.status === 'rejected' && silent.reason instanceof StoreUnavailableFault)
})

test('writes that wait for another one fail with it if the store is unavailable', async () => {
  const failures = Promise.withResolvers<never>()
  let writes = 0
  const { send, idle } = groupCommit<string>(() => {
    writes++
    return failures.promise
  })
  const first = send('a', null)
  const began = first.catch(() => {})
  while (writes === 0) await new Promise(setImmediate)
  const others = [send('b', null), send('c', 5)]
  failures.reject(new StoreUnavailableFault('away'))
  for (const each of [first, ...others]) await assert.rejects(each, StoreUnavailableFault)
  await began
  await idle()
  assert.equal(writes, 1)
})

test('a failed Parse affects only itself: later statements of the pipeline are answered', {
  skip: noPostgres,
}, async (t) => {
  const { url, client } = await schemaOf(t)
  await client.query('create table held (one integer); insert into held values (1)')
  const database = await openDatabase(url, { pool: 2, applicationName: 'neighbours' })
  t.after(() => database.close())
  const [{ pid }] = (await database.read<{ pid: number }>({ name: 'pid', text: 'select pg_backend_pid() as pid' })) as [
    { pid: number },
  ]
  await client.query('begin; lock table held in access exclusive mode')
  const read = () => database.read({ name: 'held', text: 'select one from held' })
  const first = Promise.allSettled([read()]) // awaited from here, because it may fail before the cancel request is answered
  const others = Promise.allSettled([read(), read()])
  const waiting = `select 1 from pg_locks where pid = $1 and not granted`
  await until(async () => (await client.query(waiting, [pid])).rowCount !== 0)
  await client.query('select pg_cancel_backend($1::integer)', [pid])
  const [failed] = await first // before it could get the lock
  await client.query('rollback')
  assert.ok(failed.status === 'rejected' && /timed out and was cancelled/.test(String(failed.reason)))
  for (const other of await others) assert.deepEqual(other, { status: 'fulfilled', value: [{ one: 1 }] })
  assert.deepEqual(await read(), [{ one: 1 }])
})

test('a transaction whose first statement cannot be prepared reports the reason, whatever statements follow in the pipeline', {
  skip: noPostgres,
}, async (t) => {
  const { url } = await schemaOf(t)
  const database = await openDatabase(url, { pool: 2, applicationName: 'test' })
  t.after(() => database.close())
  const missing = { name: 'missing', text: 'select 1 from nowhere' }
  await assert.rejects(
    database.transaction(async ({ rows }) => {
      const [, second] = await Promise.allSettled([rows(missing), rows(missing)])
      if (second.status === 'rejected') throw second.reason
    }),
    /tables of the store are missing/,
  )
})
