/**
 * A real server over a PostgreSQL that it takes for Citus with eight shards. The rows of one shard raise the error that
 * the coordinator gives for a worker that is away: names of that shard wait and get 500, all others are answered.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { partitionOfName } from '../../src/store/postgres/database/partition.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import { makeAccount, observe, serverOf } from '../api/server.ts'
import { hosted } from '../spec/observations.ts'
import { CITUS_STUBS, STUB_SHARDS, STUBS_DISTRIBUTED, withStubs } from '../store/postgres/citus/stubs.ts'
import { noPostgres, postgresServer } from '../store/postgres/server.ts'
import { until } from '../until.ts'

/** The crawl states of the partitions in `away` fail to be read, with the message that Citus 13 has for it. */
const WORKER_AWAY = `
  create table away (part smallint primary key);
  create function is_reachable(part smallint) returns boolean language plpgsql as $$ begin
    if exists (select from away a where a.part = is_reachable.part) then
      raise exception using errcode = 'connection_failure',
        message = 'connection to the remote node citus@10.0.0.9:5432 failed with the following error: Connection refused';
    end if;
    return true;
  end $$;
  alter table crawl_state rename to crawl_state_on_workers;
  create view crawl_state as select * from crawl_state_on_workers where is_reachable(part)`

/** The shards of names, by their partitions. */
async function shardsOf(client: pg.Client, names: readonly string[]): Promise<number[]> {
  const sql = `select ((hashint2($1)::bigint + 2147483648) * ${STUB_SHARDS} / 4294967296)::integer as shard`
  const shards: number[] = []
  for (const name of names) {
    const { rows } = await client.query(sql, [partitionOfName(name as DomainName)])
    shards.push(rows[0].shard)
  }
  return shards
}

test('names on a worker that is away get 500 with Retry-After, others 200, and the log names the worker', {
  skip: noPostgres || (process.env.DOMAINDEX_TEST_POSTGRES ? 'the server is not ours to change' : false),
}, async (t) => {
  const place = await (await postgresServer()).database()
  const url = `${place.url}&options=-csearch_path%3Dpublic`
  const { serve, withStore } = serverOf(t)
  t.after(place.drop)
  const names = Array.from({ length: 24 }, (_, number) => `n${number}.example`)
  const { token } = await withStore(async (store) => {
    for (const name of names) await observe(store, hosted(name, ['192.0.2.1']))
    return makeAccount(store, 'premium')
  }, url)
  const client = new pg.Client({ connectionString: withStubs(url) })
  client.on('error', () => {}) // the database is dropped first
  await client.connect()
  t.after(() => client.end())
  const shards = await shardsOf(client, names)
  assert.ok(new Set(shards).size > 2, 'the names are in several shards')
  for (const script of [WORKER_AWAY, CITUS_STUBS, STUBS_DISTRIBUTED]) await client.query(script)

  const server = await serve({ DOMAINDEX_STORE: withStubs(url), DOMAINDEX_WORKERS: '1', DOMAINDEX_POOL: '4' })
  const lookup = (name: string) => fetch(`${server.address}/v1.0/lookup?token=${token}&query=${name}`)
  for (const name of names) assert.equal((await lookup(name)).status, 200, name)

  const lost = names.filter((_, index) => shards[index] === shards[0])
  const others = names.filter((name) => !lost.includes(name))
  await client.query('insert into away select unnest($1::smallint[])', [
    [...new Set(lost.map((name) => partitionOfName(name as DomainName)))],
  ])
  const waiting = lost.map(lookup)
  for (const name of others) assert.equal((await lookup(name)).status, 200, name)
  for (const { status, headers } of await Promise.all(waiting)) {
    assert.equal(status, 500)
    assert.match(String(headers.get('retry-after')), /^\d+$/)
  }
  const message = /the worker 10\.0\.0\.9:5432 does not respond/
  await until(() => message.test(JSON.stringify(server.log())))
  await client.query('delete from away')
  for (const name of names) assert.equal((await lookup(name)).status, 200, name)
})
