/** Tests the workers of a real `domaindex serve` that hang, cannot start, or return with their database. */

import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { clientOf } from '../api/client.ts'
import { observe, type Served, serverOf } from '../api/server.ts'
import { hosted } from '../spec/observations.ts'
import { proxyTo } from '../store/postgres/proxy.ts'
import { noPostgres, postgresServer } from '../store/postgres/server.ts'
import { until } from '../until.ts'
import { roleOf } from './postgres-role.ts'
import { serversOf } from './two-servers.ts'

if (!noPostgres) await postgresServer() // for the whole file

/** Ends the read connection of one worker. */
const LOSE_ONE = `select pg_terminate_backend(pid) from pg_stat_activity
  where usename = $1 and query like 'select 1 from crawl_state,%' or usename = $1 and query like '%clock_timestamp%' limit 1`

/** Returns whether a line of the log contains the words. */
function output({ log }: Served, words: string): boolean {
  return log().some(({ msg }) => msg === words)
}

async function metricsOf(server: Served): Promise<() => Promise<string>> {
  await until(() => output(server, 'admin listener started'))
  const { port } = server.log().find(({ msg }) => msg === 'admin listener started')!
  return async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
}

async function statusOf({ address }: Served, path: string): Promise<number> {
  const { get, close } = clientOf(address)
  const { status } = await get(path).catch(() => ({ status: 0 }))
  close()
  return status
}

/** Returns the workers that have answered so far. */
function workersOf({ log }: Served): number[] {
  return [...new Set(log().flatMap(({ path, pid }) => (path === undefined ? [] : [pid as number])))]
}

/** Returns every worker of a server, once each has answered a call. */
async function allWorkersOf(server: Served, count: number): Promise<number[]> {
  await until(async () => {
    await statusOf(server, '/healthz')
    return workersOf(server).length >= count
  })
  return workersOf(server)
}

suite('workers', { concurrency: 3 }, () => {
  test('a worker that hangs is reported by /metrics, which keeps working, and is replaced', async (t) => {
    const { serve } = serverOf(t)
    const server = await serve()
    const metrics = await metricsOf(server)
    const [victim] = await allWorkersOf(server, 2)
    assert.deepEqual((await metrics()).match(/^domaindex_worker_stale.*$/gm), [
      'domaindex_worker_stale{worker="1"} 0',
      'domaindex_worker_stale{worker="2"} 0',
    ])
    const counted = /^domaindex_request_duration_seconds_count\{endpoint="other",status="200"\} (\d+)$/m
    const before = Number(counted.exec(await metrics())![1])
    process.kill(victim!, 'SIGSTOP')
    const stopped = await metrics()
    assert.match(stopped, /^domaindex_worker_stale\{worker="[12]"\} 1$/m)
    assert.match(stopped, /^domaindex_workers 2$/m)
    assert.match(stopped, /^domaindex_workers_ready 1$/m)
    assert.match(stopped, /^domaindex_store_bytes\{file="facts"\} \d+$/m)
    assert.equal(Number(counted.exec(stopped)![1]), before, 'what it has counted stands')
    await until(() => output(server, 'worker heartbeat timed out, killing it'))
    const { childPid: pid, seconds } = server.log().find(({ msg }) => msg === 'worker heartbeat timed out, killing it')!
    assert.deepEqual([pid, seconds], [victim, 10])
    await until(async () => /^domaindex_workers_ready 2$/m.test(await metrics()))
    assert.ok(output(server, 'worker died, replacing it'))
    await until(async () => (await statusOf(server, '/readyz')) === 200)
    server.process.kill('SIGTERM')
    assert.equal((await server.outcome).code, 0)
  })

  test('a worker that cannot start is retried, the server answers meanwhile, and is ready once all have started', {
    skip: noPostgres,
  }, async (t) => {
    const { url, serve, withStore } = await serversOf(t)
    await withStore((store) => observe(store, hosted('example.com', ['192.0.2.1'])))
    const role = await roleOf(t, url)
    await role.client.query(`alter role ${role.name} connection limit 4`)
    const env = { DOMAINDEX_STORE: role.url, DOMAINDEX_POOL: '2', DOMAINDEX_WORKERS: '3' }
    const server = await serve(env)
    await until(() => output(server, 'worker cannot start, retrying'))
    const { reason, worker } = server.log().find(({ msg }) => msg === 'worker cannot start, retrying')!
    assert.match(reason as string, /the server has no free connections/)
    assert.ok(worker === 2 || worker === 3)
    assert.equal(await statusOf(server, '/healthz'), 200)
    assert.equal(await statusOf(server, '/readyz'), 503)
    await role.client.query(`alter role ${role.name} connection limit 100`)
    await until(async () => (await statusOf(server, '/readyz')) === 200)
    assert.equal((await allWorkersOf(server, 3)).length, 3)
    await role.client.query(`alter role ${role.name} connection limit 0`)
    await until(async () => (await role.client.query(LOSE_ONE, [role.name])).rowCount === 1)
    const statuses = () => Promise.all(Array.from({ length: 12 }, () => statusOf(server, '/readyz')))
    await until(async () => (await statuses()).every((status) => status === 503))
    await role.client.query(`alter role ${role.name} connection limit 100`)
    await until(async () => (await statuses()).every((status) => status === 200))
    server.process.kill('SIGTERM')
    assert.equal((await server.outcome).code, 0)
  })

  test('workers that died while the database was unavailable are back soon after it is', {
    skip: noPostgres,
  }, async (t) => {
    const { url, serve } = await serversOf(t)
    const proxy = await proxyTo(url)
    const server = await serve({ DOMAINDEX_STORE: proxy.url })
    t.after(() => proxy.close())
    const workers = await allWorkersOf(server, 2)
    proxy.cut(true)
    for (const worker of workers) process.kill(worker, 'SIGKILL')
    const failures = (): number => server.log().filter(({ msg }) => msg === 'worker cannot start, retrying').length
    await until(() => failures() >= 3)
    assert.equal(await statusOf(server, '/healthz'), 500, 'the primary answers for those who cannot')
    proxy.cut(false)
    await until(async () => (await statusOf(server, '/readyz')) === 200)
    server.process.kill('SIGTERM')
    assert.equal((await server.outcome).code, 0)
  })
})
