/** A real server whose clock differs from the clock of its database. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { clientOf } from '../api/client.ts'
import { noPostgres, postgresServer } from '../store/postgres/server.ts'
import { until } from '../until.ts'
import { serversOf } from './two-servers.ts'

/** A clock of the schema's own, `seconds` off. PostgreSQL finds it before its own one, which the path names later. */
const SHIFTED_CLOCK = `
  create table clock_shift (seconds integer not null);
  insert into clock_shift values (0);
  create function clock_timestamp() returns timestamptz language sql volatile
    as 'select pg_catalog.clock_timestamp() + seconds * interval ''1 second'' from clock_shift'`

/** Runs SQL in the database at `url`. */
async function runSql(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(sql).finally(() => client.end())
}

test('a server warns if its clock is over 2 seconds off, and is not ready if it is over 30 seconds off', {
  skip: noPostgres,
}, async (t) => {
  await postgresServer() // for the whole file
  const { url, serve } = await serversOf(t)
  await runSql(url, SHIFTED_CLOCK)
  const DOMAINDEX_STORE = url.replace(/(search_path%3D[^&]*)/, '$1,pg_catalog')
  const server = await serve({ DOMAINDEX_STORE, DOMAINDEX_WORKERS: '1' })
  const ready = async (): Promise<number> => {
    const { get, close } = clientOf(server.address)
    return (await get('/readyz').finally(close)).status
  }
  const logged = (words: RegExp) => until(async () => server.log().some(({ msg }) => words.test(String(msg))))
  assert.equal(await ready(), 200)
  await runSql(url, 'update clock_shift set seconds = 15')
  await logged(/^the clock of this machine is \d+ seconds behind that of the store: synchronize both by NTP$/)
  assert.equal(await ready(), 200)
  await runSql(url, 'update clock_shift set seconds = -45')
  await logged(/^not ready: the clock of this machine is \d+ seconds ahead of that of the store/)
  await until(async () => (await ready()) === 503)
  await runSql(url, 'update clock_shift set seconds = 0')
  await logged(/^the clock of this machine agrees with that of the store again$/)
  await until(async () => (await ready()) === 200)
})
