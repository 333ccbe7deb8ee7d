/** Tests `domaindex serve`: several processes that behave as one. */

import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { suite, test } from 'node:test'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/port/store.ts'
import { dayOf } from '../../src/values/time.ts'
import { clientOf } from '../api/client.ts'
import { makeAccount, observe, serverOf, spend } from '../api/server.ts'
import { hosted } from '../spec/observations.ts'
import { until } from '../until.ts'

const now = () => Math.floor(Date.now() / 1000)

suite('domaindex serve', { concurrency: 2 }, () => {
  test('64 parallel clients of several processes get exactly the limit', async (t) => {
    const { serve, withStore } = serverOf(t)
    const begin = async (store: Store, plan: 'free' | 'basic', limit: number, used: number) => {
      const made = await makeAccount(store, plan)
      await spend(store, made.account, limit, used)
      return { ...made, limit, used }
    }
    const budgets = await withStore(async (store) => {
      await observe(store, hosted('example.com', ['192.0.2.1']))
      return Promise.all([begin(store, 'free', 100, 0), begin(store, 'basic', 25_000, 23_900)])
    })
    const server = await serve()
    for (const { account, token, limit, used } of budgets) {
      const counts = new Map<number, number>()
      await Promise.all(
        Array.from({ length: 64 }, async () => {
          const { get, close } = clientOf(server.address)
          for (let refused = 0; refused < 2; ) {
            const { status } = await get(`/v1.0/lookup?token=${token}&query=example.com`)
            counts.set(status, (counts.get(status) ?? 0) + 1)
            if (status !== 200) refused++
          }
          close()
        }),
      )
      assert.deepEqual(Object.fromEntries(counts), { 200: limit - used, 429: 128 }, account.plan)
    }
    server.process.kill('SIGTERM')
    assert.equal((await server.outcome).code, 0)
    for (const { account, limit } of budgets)
      assert.equal(await withStore(({ ledger }) => ledger.usedUnits(account.id, dayOf(now()))), limit)
  })

  test('whatever is killed, the server never answers more calls than the limit', async (t) => {
    const { serve, withStore } = serverOf(t)
    const limit = 25_000
    const left = 1_200
    const { token } = await withStore(async (store) => {
      await observe(store, hosted('example.com', ['192.0.2.1']))
      const made = await makeAccount(store, 'basic')
      await spend(store, made.account, limit, limit - left)
      return made
    })
    const first = await serve()
    let running = Promise.resolve(first)
    const seen = { answered: 0, refused: 0 }
    t.after(() => seen.refused++)
    const load = Array.from({ length: 32 }, async () => {
      while (seen.refused === 0) {
        const { get, close } = clientOf((await running).address)
        const answer = await get(`/v1.0/lookup?token=${token}&query=example.com`).catch(() => null)
        if (answer?.status === 200) seen.answered++
        if (answer?.status === 429) seen.refused++
        close()
      }
    })
    const killed = new Set<unknown>()
    while (killed.size < 3) {
      const { pid } = await until(() => first.log().findLast(({ path, pid }) => path !== undefined && !killed.has(pid)))
      killed.add(pid)
      process.kill(pid as number, 'SIGKILL')
    }
    first.process.kill('SIGKILL')
    running = first.outcome.then(() => serve())
    await Promise.all(load)
    assert.ok(seen.answered <= left && seen.answered > left / 2, `${seen.answered} of ${left}`)
  })

  test('at SIGTERM under load no request is lost, keep-alive connections are notified, and the exit code is 0', async (t) => {
    const { serve, withStore } = serverOf(t)
    const { token, account } = await withStore(async (store) => {
      await observe(store, hosted('example.com', ['192.0.2.1']))
      return makeAccount(store, 'premium')
    })
    const server = await serve()
    const idle = clientOf(server.address)
    await idle.get('/healthz')
    let answered = 0
    const load = Array.from({ length: 16 }, async () => {
      const { get, close } = clientOf(server.address)
      for (let isLast = false; !isLast; answered++) {
        const answer = await get(`/v1.0/lookup?token=${token}&query=example.com`)
        assert.equal(answer.status, 200)
        assert.equal(JSON.parse(answer.text).meta.query, 'example.com')
        isLast = answer.isLast
      }
      close()
    })
    await until(() => answered >= 500)
    server.process.kill('SIGTERM')
    await Promise.all(load)
    assert.deepEqual(await idle.get('/readyz'), { status: 503, text: '{"status":"draining"}', isLast: true })
    idle.close()
    const late = async (): Promise<never> => {
      for (;;) assert.equal((await clientOf(server.address).get('/healthz')).isLast, true)
    }
    await assert.rejects(late(), { code: 'ECONNREFUSED' }) // until the listener is closed, a late client gets a response
    const { code, signal, stdout, stderr } = await server.outcome
    assert.deepEqual([code, signal], [0, null])
    assert.equal(await withStore(({ ledger }) => ledger.usedUnits(account.id, dayOf(now()))), answered)
    assert.equal(stdout, `domaindex listens on ${server.address}\n`)
    assert.equal(server.log().filter(({ path }) => path === '/v1.0/lookup').length, answered)
    assert.ok(!stderr.includes(token))
  })

  test('the workers of one server', async (t) => {
    const { serve } = serverOf(t)
    const server = await serve()

    await t.test('the admin listener serves only the metrics of all workers and of the store', async () => {
      await Promise.all(Array.from({ length: 8 }, () => fetch(`${server.address}/healthz`)))
      await until(() => server.log().length >= 9)
      const { port } = server.log().find(({ msg }) => msg === 'admin listener started')!
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
      assert.match(text, /^domaindex_request_duration_seconds_count\{endpoint="other",status="200"\} 8$/m)
      assert.match(text, /^domaindex_workers 2$/m)
      assert.match(text, /^domaindex_store_bytes\{file="wal"\} \d+$/m)
      assert.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 404)
      for (const name of ['documents', 'segments']) assert.match(text, new RegExp(`^domaindex_similar_${name} 0$`, 'm'))
      assert.doesNotMatch(text, /^domaindex_similar_lag_seconds /m, 'of an index that nobody ever kept')
      assert.equal((await fetch(`${server.address}/metrics`)).status, 404)
    })

    await t.test('a worker that dies is replaced, and the others answer meanwhile', async () => {
      const pidOf = async (): Promise<number> => {
        const { get, close } = clientOf(server.address)
        assert.equal((await get('/healthz')).status, 200)
        close()
        const { pid } = await until(() => server.log().findLast(({ path }) => path === '/healthz'))
        return pid as number
      }
      const victim = await pidOf()
      process.kill(victim, 'SIGKILL')
      await until(() => server.log().some(({ msg }) => msg === 'worker died, replacing it'))
      for (let call = 0; call < 20; call++) await pidOf()
      server.process.kill('SIGTERM')
      assert.equal((await server.outcome).code, 0)
    })
  })

  test('a port in use and a store of the demo are reported with one clear line and exit code 1', async (t) => {
    const { run, path } = serverOf(t)
    const taken = createServer()
    const port = await new Promise<number>((resolve) => {
      taken.listen(0, '127.0.0.1', () => resolve((taken.address() as { port: number }).port))
    })
    t.after(() => taken.close())
    const env = { DOMAINDEX_ADMIN: 'off', DOMAINDEX_WORKERS: '2' }
    assert.deepEqual(await run(['serve'], { env: { ...env, DOMAINDEX_PORT: `${port}` } }), {
      code: 1,
      signal: null,
      stdout: '',
      stderr: `domaindex: 127.0.0.1:${port} is in use: set another port with DOMAINDEX_PORT\n`,
    })
    const byOptions = await run(['serve', '--port', `${port}`, '--host', '127.0.0.1'], {
      env: { ...env, DOMAINDEX_PORT: '1' },
    })
    assert.match(byOptions.stderr, new RegExp(`^domaindex: 127\\.0\\.0\\.1:${port} is in use`))
    const invalid = await run(['serve', '--port', '70000'], { env })
    assert.equal(invalid.code, 2)
    assert.match(invalid.stderr, /--port.*It must be/)
    const admin = await run(['serve'], { env: { DOMAINDEX_PORT: '0', DOMAINDEX_ADMIN: `127.0.0.1:${port}` } })
    assert.equal(admin.stderr, `domaindex: 127.0.0.1:${port} is in use: set another port with DOMAINDEX_ADMIN\n`)
    const demo = `sqlite:${path('demo.db')}`
    await (await openStore(demo, { access: 'write', ledger: 'own', secret: null, demo: true })).close()
    const refused = await run(['serve'], { env: { ...env, DOMAINDEX_PORT: '0', DOMAINDEX_STORE: demo } })
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /^domaindex: .*demo.*\n$/)
  })
})
