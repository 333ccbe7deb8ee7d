/** Limits per client address, before its token is checked: requests per second, and failed authentications. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { ClientLimitSettings } from '../../../../src/api/http/limits/client-limits.ts'
import { ApiMetrics } from '../../../../src/api/http/metrics.ts'
import { clientAddressKey } from '../../../../src/values/client-address.ts'
import { makeWorld } from '../../../spec/world.ts'
import { createWorldApi } from '../../world-api.ts'

const world = await makeWorld()
const { token } = await world.account({ plan: 'premium' })
const other = await world.account({ plan: 'premium' })

/** An API behind a trusted proxy, so that clients can choose their addresses. */
async function apiOf(t: TestContext, settings: Partial<ClientLimitSettings>) {
  const clock = { ticks: 0 }
  const metrics = new ApiMetrics()
  const { app } = await createWorldApi(world, {
    settings: { cors: [], trustedProxies: ['127.0.0.1'], ...settings },
    monotonicMs: () => clock.ticks,
    metrics,
  })
  t.after(() => app.close())
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const ask = async (path: string, from: string) => {
    const answer = await fetch(`${address}${path}`, { headers: { 'X-Forwarded-For': from } })
    return { status: answer.status, retry: answer.headers.get('retry-after'), text: await answer.text() }
  }
  return { clock, ask, metrics }
}

test('requests per second of a client address are limited, including documents, except health checks', async (t) => {
  const { clock, ask, metrics } = await apiOf(t, { clientRequests: 3, clientExempt: ['192.0.2.9'] })
  for (const path of ['/crawler', '/openapi.json', '/crawler']) assert.equal((await ask(path, '192.0.2.1')).status, 200)
  const refused = await ask(`/v1.0/lookup?token=${token}&query=a.example`, '192.0.2.1')
  assert.deepEqual([refused.status, refused.retry], [500, '1'])
  assert.equal(JSON.parse(refused.text).result.error, 'internal_error')
  for (const path of ['/docs/static/index.css', '/v1.0/daily', '/v1.0/nothing']) {
    const { status, text } = await ask(path, '192.0.2.1')
    assert.deepEqual([status, JSON.parse(text).error], [500, 'internal_error'], path)
  }
  assert.equal((await ask('/healthz', '192.0.2.1')).status, 200)
  assert.equal((await ask('/crawler', '192.0.2.2')).status, 200)
  for (let count = 0; count < 5; count++) assert.equal((await ask('/crawler', '192.0.2.9')).status, 200)
  assert.match(await metrics.registry.metrics(), /^domaindex_requests_rejected_total\{reason="client_requests"\} 4$/m)
  clock.ticks = 1_000
  assert.equal((await ask('/crawler', '192.0.2.1')).status, 200)
})

test('addresses of one /64 are one client', async (t) => {
  const { ask } = await apiOf(t, { clientRequests: 1 })
  assert.equal((await ask('/crawler', '2001:db8:1:2::1')).status, 200)
  assert.equal((await ask('/crawler', '2001:db8:1:2:ffff::1')).status, 500)
  assert.equal((await ask('/crawler', '2001:db8:1:3::1')).status, 200)
  assert.equal(clientAddressKey('::ffff:192.0.2.1'), '192.0.2.1')
})

test('after too many failed authentications only recently used tokens are checked, for a minute', async (t) => {
  const { clock, ask, metrics } = await apiOf(t, { clientFailures: 3 })
  const lookup = (given: string) => ask(`/v1.0/lookup?token=${given}&query=a.example`, '192.0.2.1')
  assert.equal((await lookup(token)).status, 404)
  assert.equal((await lookup('')).status, 401)
  assert.equal((await lookup('nonsense')).status, 401)
  assert.equal((await ask('/account/quota', '192.0.2.1')).status, 401)
  for (const given of ['', 'nonsense', other.token]) {
    const { status, retry } = await lookup(given)
    assert.deepEqual([status, retry], [500, '60'], given)
  }
  assert.equal((await lookup(token)).status, 404)
  clock.ticks = 30_000
  assert.equal((await lookup(token)).status, 404, 'also when it has to be asked for again')
  assert.equal((await ask(`/v1.0/lookup?token=${other.token}&query=a.example`, '192.0.2.2')).status, 404)
  assert.match(await metrics.registry.metrics(), /^domaindex_requests_rejected_total\{reason="client_failures"\} 3$/m)
  clock.ticks = 60_000
  assert.equal((await lookup('nonsense')).status, 401)
})
