/** Tests restarts of two servers with one PostgreSQL, and of PostgreSQL itself, under load. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dayOf } from '../../src/values/time.ts'
import { clientOf } from '../api/client.ts'
import { makeAccount, observe } from '../api/server.ts'
import { hosted } from '../spec/observations.ts'
import { noPostgres, postgresServer } from '../store/postgres/server.ts'
import { pause, until } from '../until.ts'
import { proxyOver } from './proxy.ts'
import { serversOf } from './two-servers.ts'

const now = () => Math.floor(Date.now() / 1000)
const CLIENTS = 6
const ONE_WORKER = { DOMAINDEX_WORKERS: '1' }

if (!noPostgres) await postgresServer() // for the whole file
const notOurs = noPostgres || (process.env.DOMAINDEX_TEST_POSTGRES ? 'the server is not ours to restart' : false)

/** Sends requests on keep-alive connections until it is stopped. */
function loadOn(address: string, path: string) {
  const counts: Record<string, number> = {}
  const count = (outcome: string): void => {
    counts[outcome] = (counts[outcome] ?? 0) + 1
  }
  let isOver = false
  let isSlow = false
  const clients = Array.from({ length: CLIENTS }, async () => {
    const { get, close } = clientOf(address)
    while (!isOver) {
      await get(path).then(
        ({ status, text }) => count(status === 200 ? '200' : `${status} ${text}`),
        (error) => count(`${error}`),
      )
      await pause(isSlow)
    }
    close()
  })
  return {
    counts,
    /** Resolves after `more` further calls were answered. */
    async answers(more: number): Promise<void> {
      const requested = (counts['200'] ?? 0) + more
      await until(() => (counts['200'] ?? 0) >= requested, `${more} more answers`)
    },
    /** Sends few requests until `work` is done. */
    async slowDuring<Result>(work: Promise<Result>): Promise<Result> {
      isSlow = true
      return work.finally(() => (isSlow = false))
    },
    async end(): Promise<void> {
      isOver = true
      await Promise.all(clients)
    },
  }
}

test('two servers are restarted one after the other without a failed request', { skip: noPostgres }, async (t) => {
  const { serve, withStore } = await serversOf(t)
  const { account, token } = await withStore(async (store) => {
    await observe(store, hosted('example.com', ['192.0.2.1']))
    return makeAccount(store, 'premium')
  })
  const servers = await Promise.all([serve(), serve(ONE_WORKER)])
  const address = await proxyOver(
    t,
    servers.map((server) => server.address),
  )
  const load = loadOn(address, `/v1.0/lookup?token=${token}&query=example.com`)
  await load.answers(200)
  for (const [place, server] of servers.entries()) {
    server.process.kill('SIGTERM')
    assert.equal((await server.outcome).code, 0)
    await load.answers(200)
    const again = { ...ONE_WORKER, DOMAINDEX_PORT: new URL(server.address).port }
    servers[place] = await load.slowDuring(serve(again))
    await load.answers(200)
  }
  await load.end()
  for (const server of servers) server.process.kill('SIGTERM')
  for (const server of servers) assert.equal((await server.outcome).code, 0)
  const { 200: answered, ...failed } = load.counts
  assert.deepEqual(failed, {})
  assert.equal(await withStore(({ ledger }) => ledger.usedUnits(account.id, dayOf(now()))), answered)
})

test('if PostgreSQL dies and restarts, calls wait for it, and each is counted once', { skip: notOurs }, async (t) => {
  const { serve, withStore } = await serversOf(t)
  const { account, token } = await withStore(async (store) => {
    await observe(store, hosted('example.com', ['192.0.2.1']))
    return makeAccount(store, 'premium')
  })
  const servers = await Promise.all([serve(ONE_WORKER), serve(ONE_WORKER)])
  const loads = servers.map(({ address }) => loadOn(address, `/v1.0/lookup?token=${token}&query=example.com`))
  for (const load of loads) await load.answers(100)
  await (await postgresServer()).restart()
  for (const load of loads) await load.answers(100)
  for (const load of loads) await load.end()
  for (const server of servers) {
    await until(async () => (await fetch(`${server.address}/readyz`)).status === 200)
    server.process.kill('SIGTERM')
  }
  for (const server of servers) assert.equal((await server.outcome).code, 0)
  const answered = loads.reduce((sum, { counts }) => sum + counts['200']!, 0)
  for (const { counts } of loads) assert.deepEqual(Object.keys(counts), ['200'])
  const today = dayOf(now())
  const usage = await withStore(({ ledger }) => ledger.usage(account.id, today, today))
  assert.deepEqual(
    usage.map(({ calls }) => calls),
    [answered],
  )
  assert.equal(await withStore(({ ledger }) => ledger.usedUnits(account.id, today)), answered)
})
