/** Tests /readyz of a real server: it reports that calls fail, and that they work again, as `domaindex doctor` does. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startDnsServer } from '../../lab/dns.ts'
import { clientOf } from '../api/client.ts'
import { makeAccount, observe, type Served } from '../api/server.ts'
import { hosted } from '../spec/observations.ts'
import { noPostgres, postgresServer } from '../store/postgres/server.ts'
import { until } from '../until.ts'
import { roleOf } from './postgres-role.ts'
import { serversOf } from './two-servers.ts'

if (!noPostgres) await postgresServer() // for the whole file

/** Changes of the database that make calls fail, and how to undo them. `ROLE` is the role of the server. */
const HINDRANCES: readonly [what: string, doIt: string, undo: string, words: RegExp][] = [
  [
    'tables are missing',
    'alter table facts rename to elsewhere',
    'alter table elsewhere rename to facts',
    /not ready.*missing/,
  ],
  [
    'a right to read is taken away',
    'revoke all on token from ROLE',
    'grant all on token to ROLE',
    /not ready.*owner of the schema/,
  ],
  [
    'a right to write is taken away',
    'revoke insert on token_lease from ROLE',
    'grant insert on token_lease to ROLE',
    /owner of the schema/,
  ],
  [
    'it may only be read',
    `alter role ROLE set default_transaction_read_only = on; select pg_terminate_backend(pid) from pg_stat_activity where usename = 'ROLE'`,
    `alter role ROLE reset default_transaction_read_only; select pg_terminate_backend(pid) from pg_stat_activity where usename = 'ROLE'`,
    /read-only/,
  ],
  [
    'its connections are used up',
    `alter role ROLE connection limit 0; select pg_terminate_backend(pid) from pg_stat_activity where usename = 'ROLE'`,
    'alter role ROLE connection limit 100',
    /no free connections/,
  ],
]

async function serverWithRole(t: TestContext) {
  const { url, serve, run: command, withStore } = await serversOf(t)
  const { token } = await withStore(async (store) => {
    await observe(store, hosted('example.com', ['192.0.2.1']))
    return makeAccount(store, 'premium')
  })
  const { url: place, name, client } = await roleOf(t, url)
  const env = { DOMAINDEX_STORE: place, DOMAINDEX_WORKERS: '1', DOMAINDEX_POOL: '2' }
  const run = (sql: string): Promise<unknown> => client.query(sql.replaceAll('ROLE', name))
  const server = await serve(env)
  const listener = { ...env, DOMAINDEX_PORT: new URL(server.address).port }
  const resolver = await startDnsServer({})
  t.after(() => resolver.close())
  const options = ['--resolver', `${resolver.address}:${resolver.port}`]
  const doctor = async (): Promise<string> => (await command(['doctor', ...options], listener)).stdout
  return { server, run, doctor, path: `/v1.0/lookup?token=${token}&query=example.com` }
}

async function get({ address }: Served, path: string) {
  const { get, close } = clientOf(address)
  return get(path).finally(close)
}

test('the server is not ready while the database makes calls fail, whatever the cause, and ready again afterwards', {
  skip: noPostgres,
}, async (t) => {
  const { server, run, doctor, path } = await serverWithRole(t)
  for (const [what, doIt, undo, words] of HINDRANCES) {
    assert.deepEqual([(await get(server, path)).status, (await get(server, '/readyz')).status], [200, 200], what)
    await run(doIt)
    await until(async () => (await get(server, '/readyz')).status === 503)
    assert.equal((await get(server, '/healthz')).status, 200)
    await until(async () => server.log().some(({ msg }) => words.test(String(msg))))
    assert.match(await doctor(), /^fault {3}API: the server is not ready: waiting for the store$/m)
    await run(undo)
    await until(async () => (await get(server, '/readyz')).status === 200)
  }
  assert.match(await doctor(), /^ok {6}API: domaindex answers on 127\.0\.0\.1:\d+$/m)
  assert.equal((await get(server, path)).status, 200)
})
