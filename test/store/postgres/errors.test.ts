/** A PostgreSQL in a bad state and the messages about it, and connections lost at the wrong moment. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import type { Plan } from '../../../src/accounts/account.ts'
import { openStore } from '../../../src/store/open.ts'
import { StoreFault, UncertainWriteFault } from '../../../src/store/port/fault.ts'
import { CREATE_COMMIT_MARKERS, isCommitted } from '../../../src/store/postgres/database/commit-marker.ts'
import { openDatabase } from '../../../src/store/postgres/database/database.ts'
import { toStoreFault } from '../../../src/store/postgres/database/errors.ts'
import { idAllocator } from '../../../src/store/postgres/database/ids.ts'
import { TESTER } from '../../tester.ts'
import { noPostgres, postgresServer } from './server.ts'

if (!noPostgres) await postgresServer() // for the whole file

const OPTIONS = { access: 'write', ledger: 'own', secret: null, pool: 2 } as const

async function schemaOf(t: TestContext): Promise<string> {
  const { url, drop } = await (await postgresServer()).tables()
  t.after(drop)
  return url
}

async function clientOf(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return client
}

test('each of two concurrent saves gets as many ids as it requests, and none twice', async () => {
  let block = 0
  const read = async (_: unknown, [blocks]: readonly number[]) =>
    Array.from({ length: blocks! }, () => ({ first: ++block * 1000 }))
  const take = idAllocator(read as never)
  const kept = await take(100)
  const taken = await Promise.all([take(1900), take(1900), take(500)])
  assert.deepEqual(
    taken.map(({ length }) => length),
    [1900, 1900, 500],
  )
  assert.equal(new Set([...kept, ...taken.flat()]).size, 4400)
})

test('no connection stays open, including those being established', { skip: noPostgres }, async (t) => {
  const url = await schemaOf(t)
  const who = `domaindex ${process.pid}`
  const database = await openDatabase(url, { pool: 8, applicationName: who })
  await Promise.all(Array.from({ length: 12 }, () => database.read({ name: 'one', text: 'select 1' })))
  await database.close()
  const client = await clientOf(url)
  const left = 'select 1 from pg_stat_activity where application_name = $1'
  while ((await client.query(left, [who])).rowCount !== 0) await new Promise(setImmediate) // connections that are closing
  await client.end()
})

test('a commit that another connection is still processing stays in doubt, however long the wait', {
  skip: noPostgres,
}, async (t) => {
  const url = await schemaOf(t)
  const id = '00000000-0000-4000-8000-000000000000'
  const hanging = await clientOf(url)
  await hanging.query(CREATE_COMMIT_MARKERS)
  await hanging.query('begin')
  await hanging.query('insert into commit_marker (id) values ($1)', [id])
  const pool = new pg.Pool({ connectionString: url, lock_timeout: 20 })
  await assert.rejects(
    isCommitted(() => pool.connect(), { id, obsolete: [] }),
    UncertainWriteFault,
  )
  await pool.end()
  await hanging.end()
})

test('a range is read in the order of its key, even if its table was empty when the statement was planned', {
  skip: noPostgres,
}, async (t) => {
  const url = await schemaOf(t)
  await (await openStore(url, OPTIONS)).close()
  const database = await openDatabase(url, { pool: 2, applicationName: 'test' })
  const text = `explain select * from presence where part = 0 and (part, address, name) > (0, '', '') order by part, address, name limit 500`
  const plan = JSON.stringify(await database.read({ name: 'plan', text }))
  await database.close()
  assert.match(plan, /Index Scan using presence_pkey/)
  assert.doesNotMatch(plan, /Sort/)
})

test('a migration may run for long, and nothing else may', { skip: noPostgres }, async (t) => {
  const url = await schemaOf(t)
  await (await openStore(url, OPTIONS)).close()
  const database = await openDatabase(url, { pool: 2, applicationName: 'test' })
  const max = { name: 'max', text: `select current_setting('statement_timeout') as max` }
  assert.deepEqual(await database.transactionOnce((session) => session.rows(max)), [{ max: '0' }])
  assert.deepEqual(await database.transaction((session) => session.rows(max)), [{ max: '1min' }])
  await database.close()
})

test('a migration that the server ends because of a deadlock is repeated, but not forever', {
  skip: noPostgres,
}, async (t) => {
  const url = await schemaOf(t)
  const client = await clientOf(url)
  await client.query(`create sequence tries; create table allowed (failures integer); insert into allowed values (3);
    create function collide() returns void language plpgsql as $$ begin
      if nextval('tries') <= (select failures from allowed) then raise exception 'planted' using errcode = '40P01'; end if;
    end $$`)
  const database = await openDatabase(url, { pool: 2, applicationName: 'test' })
  const migrate = () =>
    database.transactionOnce(({ script }) => script('create table made (n integer); select collide()'))
  await migrate()
  assert.deepEqual((await client.query('select last_value from tries')).rows, [{ last_value: '4' }])
  await client.query('update allowed set failures = 1000000; drop table made')
  await assert.rejects(migrate(), /planted/)
  await database.close()
  await client.end()
})

test('a read-only server is reported as read-only', { skip: noPostgres }, async (t) => {
  const place = new URL(await schemaOf(t))
  await (await openStore(place.href, OPTIONS)).close()
  place.searchParams.set('options', `${place.searchParams.get('options')} -cdefault_transaction_read_only=on`)
  const store = await openStore(place.href, OPTIONS)
  await assert.rejects(
    store.ledger.as(TESTER).setPlan(1, 'free' as Plan),
    /the server is read-only: use the primary server/,
  )
  await store.close()
})

test('a missing connection or an unavailable lock is reported in a sentence', () => {
  const words = (message: string) => (toStoreFault(new Error(message), 'postgres://u:secret@h/d') as Error).message
  assert.match(words('timeout expired'), /^postgres:\/\/u@h\/d: the server does not respond/)
  assert.match(words('timeout exceeded when trying to connect'), /all in use: raise DOMAINDEX_POOL$/)
})

test('a database with an encoding other than UTF8 is rejected before anything is created in it', {
  skip: noPostgres,
}, async (t) => {
  const url = await schemaOf(t)
  const name = `latin_${process.pid}`
  const client = await clientOf(url)
  await client.query(`create database ${name} template template0 encoding 'LATIN1' locale 'C'`)
  const place = new URL(url)
  place.searchParams.delete('options')
  place.pathname = name
  await assert.rejects(openStore(place.href, OPTIONS), (fault) => {
    assert.ok(fault instanceof StoreFault)
    assert.match(
      fault.message,
      /has encoding LATIN1: create the database with createdb --encoding=UTF8 --template=template0/,
    )
    return true
  })
  await client.query(`drop database ${name}`)
  await client.end()
})
