/** Tests two servers with one PostgreSQL: one budget, one list of tokens, one secret. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Store } from '../../src/store/port/store.ts'
import { dayOf } from '../../src/values/time.ts'
import { clientOf } from '../api/client.ts'
import { makeAccount, observe, spend } from '../api/server.ts'
import { hosted } from '../spec/observations.ts'
import { proxyTo } from '../store/postgres/proxy.ts'
import { noPostgres, postgresServer } from '../store/postgres/server.ts'
import { TESTER } from '../tester.ts'
import { until } from '../until.ts'
import { serversOf } from './two-servers.ts'

const now = () => Math.floor(Date.now() / 1000)
const CLIENTS = 64

/** Adds a known name, and an account that has spent a part of its budget. */
async function begin(store: Store, plan: 'free' | 'basic', limit: number, used: number, email?: string) {
  await observe(store, hosted('example.com', ['192.0.2.1']))
  const made = await makeAccount(store, plan, email)
  await spend(store, made.account, limit, used)
  return { ...made, limit, used, path: `/v1.0/lookup?token=${made.token}&query=example.com` }
}

if (!noPostgres) await postgresServer() // for the whole file

test('two servers over one PostgreSQL', { skip: noPostgres }, async (t) => {
  const { serve, withStore } = await serversOf(t)
  const budgets = await withStore((store) =>
    Promise.all([begin(store, 'free', 100, 0), begin(store, 'basic', 25_000, 23_900)]),
  )
  const servers = await Promise.all([serve(), serve({ DOMAINDEX_WORKERS: '1' })])

  await t.test('a revoked token is rejected by both servers, and stays so', async (t) => {
    const { account, path } = await withStore((store) => begin(store, 'basic', 25_000, 0, 'revoked@example.com'))
    const clients = servers.map(({ address }) => clientOf(address))
    t.after(() => {
      for (const { close } of clients) close()
    })
    const ask = () => Promise.all(clients.map(async ({ get }) => (await get(path)).status))
    assert.deepEqual(await ask(), [200, 200])
    await withStore(async ({ ledger }) => {
      const [token] = await ledger.tokens(account.id)
      assert.equal(await ledger.as(TESTER).revokeToken(account.id, token!.id, now()), true)
    })
    await until(async () => (await ask()).every((status) => status === 401)) // also if it is used continuously
    assert.deepEqual(await ask(), [401, 401])
  })

  await t.test('a client can continue a pagination on the other server with its cursors', async () => {
    const names = Array.from({ length: 9 }, (_, index) => `name-${index}.example`)
    const { token } = await withStore(async (store) => {
      for (const name of names) await observe(store, hosted(name, ['192.0.2.9']))
      return makeAccount(store, 'premium')
    })
    const seen: string[] = []
    let cursor = ''
    for (let page = 0; page < 5; page++) {
      const { get, close } = clientOf(servers[page % 2]!.address)
      const { status, text } = await get(`/v1.0/reverseip?token=${token}&query=192.0.2.9&limit=2&next=${cursor}`)
      close()
      const { result, meta } = JSON.parse(text)
      assert.equal(status, 200, text)
      seen.push(...result.map(({ target }: { target: string }) => target))
      cursor = meta.next
    }
    assert.deepEqual([seen, cursor], [names, null])
  })

  for (const { account, path, limit, used } of budgets)
    await t.test(`64 clients of two servers get exactly the limit: ${account.plan}`, async () => {
      const counts = new Map<number, number>()
      await Promise.all(
        Array.from({ length: CLIENTS }, async (_, client) => {
          const { get, close } = clientOf(servers[client % 2]!.address)
          for (let refused = 0; refused < 2; ) {
            const { status } = await get(path)
            counts.set(status, (counts.get(status) ?? 0) + 1)
            if (status !== 200) refused++
          }
          close()
        }),
      )
      assert.deepEqual(Object.fromEntries(counts), { 200: limit - used, 429: 2 * CLIENTS })
    })

  await t.test('two servers that end in order have used exactly the limits', async () => {
    for (const server of servers) server.process.kill('SIGTERM')
    for (const server of servers) assert.equal((await server.outcome).code, 0)
    for (const { account, limit } of budgets)
      assert.equal(await withStore(({ ledger }) => ledger.usedUnits(account.id, dayOf(now()))), limit)
  })
})

test('if one of two servers is killed, no more calls than the limit are answered', { skip: noPostgres }, async (t) => {
  const { serve, withStore } = await serversOf(t)
  const [limit, left] = [25_000, 1_200]
  const { path } = await withStore((store) => begin(store, 'basic', limit, limit - left))
  const servers = await Promise.all([serve({ DOMAINDEX_WORKERS: '1' }), serve()])
  let alive = 2
  let answered = 0
  const load = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let status = 0; status !== 429; ) {
      const { get, close } = clientOf(servers[client % alive]!.address)
      status = await get(path).then(
        (answer) => answer.status,
        () => 0,
      )
      if (status === 200 && ++answered === left / 4) {
        alive = 1
        servers[1]!.process.kill('SIGKILL')
      }
      close()
    }
  })
  await Promise.all(load)
  await servers[1]!.outcome
  assert.ok(answered <= left && answered > left / 2, `${answered} of ${left}`)
})

test('a server with another secret, or without it, refuses to start', { skip: noPostgres }, async (t) => {
  const { serve, run } = await serversOf(t)
  const DOMAINDEX_SECRET = 'the secret of this installation and no other'
  await serve({ DOMAINDEX_SECRET, DOMAINDEX_WORKERS: '1' })
  const env = { DOMAINDEX_PORT: '0', DOMAINDEX_ADMIN: 'off' }
  const other = await run(['serve'], { ...env, DOMAINDEX_SECRET: 'another secret that is just as long as that one' })
  assert.deepEqual([other.code, other.stdout], [1, ''])
  assert.match(other.stderr, /^domaindex: DOMAINDEX_SECRET is not the secret of this installation: .*\n$/)
  const without = await run(['serve'], env)
  assert.deepEqual([without.code, without.stdout], [1, ''])
  assert.match(without.stderr, /^domaindex: the secret of this installation is set by DOMAINDEX_SECRET: .*\n$/)
})

test('a server reports that its database is unavailable, and continues once it is back', {
  skip: noPostgres,
}, async (t) => {
  const { url, serve } = await serversOf(t)
  const proxy = await proxyTo(url)
  const server = await serve({ DOMAINDEX_STORE: proxy.url })
  t.after(() => proxy.close())
  const { port } = await until(() => server.log().find(({ msg }) => msg === 'admin listener started'))
  const metrics = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const ready = async (): Promise<unknown> => (await fetch(`${server.address}/readyz`)).json()
  assert.deepEqual(await ready(), { status: 'ok' })
  const before = await metrics()
  assert.match(before, /^domaindex_workers 2$/m)
  assert.match(before, /^domaindex_store_bytes\{file="facts"\} [1-9]\d*$/m)
  proxy.cut(true)
  await until(async () => /^domaindex_workers_ready 0$/m.test(await metrics()))
  assert.deepEqual(await ready(), { status: 'waiting for the store' })
  assert.equal((await fetch(`${server.address}/healthz`)).status, 200)
  proxy.cut(false)
  await until(async () => /^domaindex_workers_ready 2$/m.test(await metrics()))
  await until(async () => (await fetch(`${server.address}/readyz`)).status === 200)
})
