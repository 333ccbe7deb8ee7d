/** Lookups of unknown names become crawl requests if the settings allow it. */

import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { slotRangeOf } from '../../src/values/domain-name.ts'
import { named } from '../probe/internet.ts'
import { until } from '../until.ts'
import { makeAccount, observe, serverOf } from './server.ts'

const ASKED = { DOMAINDEX_CRAWL_LOOKUP_REQUESTS: '2', DOMAINDEX_WORKERS: '1' }
const NAMES = ['first.example', 'second.example', 'third.example']

suite('a lookup of an unknown name', { concurrency: 2 }, () => {
  test('becomes a crawl request, up to the limit per account and day, with the same response', async (t) => {
    const { serve, withStore } = serverOf(t)
    const token = await withStore(async (store) => (await makeAccount(store, 'basic')).token)
    const { address } = await serve(ASKED)
    const look = async (query: string, method = 'GET') => {
      const { status, headers } = await fetch(`${address}/v1.0/lookup?token=${token}&query=${query}`, { method })
      return [status, headers.get('content-type')]
    }
    const expected = [404, 'application/json; charset=utf-8']
    assert.deepEqual(await look(NAMES[0]!, 'HEAD'), expected)
    assert.deepEqual(await look('no name'), [400, expected[1]])
    for (const name of [NAMES[0]!, NAMES[1]!]) assert.deepEqual(await look(name), expected)
    await withStore(async ({ crawlRequests }) => {
      await until(async () => (await crawlRequests.count('lookup')) >= 2)
      assert.deepEqual(await look(NAMES[2]!), expected)
      for (const name of NAMES.slice(0, 2)) {
        assert.deepEqual(await crawlRequests.inRange('lookup', slotRangeOf(named(name)), 9), [name])
      }
      const day = new Date().toISOString().slice(0, 10) as Parameters<typeof crawlRequests.requestFromLookup>[0]['day']
      const used = await crawlRequests.requestFromLookup({
        account: 1,
        day,
        name: named('fourth.example'),
        maxPerDay: 2,
      })
      assert.deepEqual([used, await crawlRequests.count('lookup')], [false, 2])
    })
  })

  test('causes no request by default, and neither does a lookup of a known name', async (t) => {
    const { serve, withStore } = serverOf(t)
    const token = await withStore(async (store) => {
      await observe(store, { domain: NAMES[0], observed_at: '2026-11-20T00:00:00Z' })
      return (await makeAccount(store, 'basic')).token
    })
    const asking = await serve(ASKED)
    assert.equal((await fetch(`${asking.address}/v1.0/lookup?token=${token}&query=${NAMES[0]}`)).status, 200)
    const usual = await serve({ DOMAINDEX_WORKERS: '1' })
    assert.equal((await fetch(`${usual.address}/v1.0/lookup?token=${token}&query=${NAMES[1]}`)).status, 404)
    for (const { process, outcome } of [asking, usual]) {
      process.kill('SIGTERM')
      await outcome
    }
    await withStore(async ({ crawlRequests }) => assert.equal(await crawlRequests.count('lookup'), 0))
  })
})
