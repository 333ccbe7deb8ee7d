/** The headers of responses: the common ones, and those for budgets and web pages. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { ApiOptions } from '../../../src/api/create-context.ts'
import { hosted, look, redirecting, site, YESTERDAY } from '../../spec/observations.ts'
import { makeWorld } from '../../spec/world.ts'
import { sendRaw } from '../raw.ts'
import { createWorldApi } from '../world-api.ts'

const world = await makeWorld()
const { token } = await world.account({ plan: 'basic' })
const sources = Array.from({ length: 100 }, (_, index) => `source${index}.example`)
await world.ingest(
  hosted('example.com', ['192.0.2.1']),
  look('example.com', { web: site() }, '2026-11-19T01:02:03Z'),
  hosted('b.example', ['192.0.2.1']),
  look('bare.example'),
  ...sources.map((name) => redirecting(name, 'example.com')),
)

const PATHS = ['/v1.0/lookup', '/v1.0/nothing', '/account/quota', '/healthz', '/readyz', '/openapi.json', '/%']
const ask = (endpoint: string, query: string, headers = {}) => world.ask(endpoint, { token, query }, { headers })

/** Another API on the same store, with its own settings. */
async function apiOf(t: TestContext, cors: ApiOptions['settings']['cors']): Promise<string> {
  const settings = { cors, trustedProxies: [] }
  const now = () => world.clock.now
  const { app } = await createWorldApi(world, {
    settings,
    now,
  })
  t.after(() => app.close())
  return app.listen({ host: '127.0.0.1', port: 0 })
}

test('every response has its own Request-Id, nosniff, no-referrer, and is not cached', async () => {
  const ids = new Set<string | null>()
  for (const path of PATHS) {
    const { headers } = await world.send(path, {})
    ids.add(headers.get('request-id'))
    assert.equal(headers.get('x-content-type-options'), 'nosniff', path)
    assert.equal(headers.get('referrer-policy'), 'no-referrer', path)
    assert.equal(headers.get('cache-control'), 'private, no-store', path)
    assert.equal(headers.get('content-type'), 'application/json; charset=utf-8', path)
  }
  assert.equal(ids.size, PATHS.length)
  assert.ok(!ids.has(null))
})

test('authenticated responses have RateLimit-Policy and RateLimit, even if they reject', async () => {
  const { token } = await world.account({ plan: 'free' })
  const seen = async (endpoint: string, parameters: object) => {
    const { headers } = await world.ask(endpoint, { token, ...parameters })
    return [headers.get('ratelimit-policy'), headers.get('ratelimit')]
  }
  const policy = '"daily";q=100;w=86400'
  assert.deepEqual(await seen('lookup', { query: 'example.com' }), [policy, '"daily";r=99;t=43200'])
  assert.deepEqual(await seen('lookup', { query: 'unknown.example' }), [policy, '"daily";r=98;t=43200'])
  assert.deepEqual(await seen('lookup', {}), [policy, '"daily";r=98;t=43200'])
  assert.deepEqual(await seen('dnshistory', {}), [policy, '"daily";r=98;t=43200'])
  for (let call = 0; call < 98; call++) await seen('lookup', { query: 'example.com' })
  assert.deepEqual(await seen('lookup', { query: 'example.com' }), [policy, '"daily";r=0;t=43200'])
  const without = await world.ask('lookup', { query: 'example.com' })
  assert.equal(without.headers.get('ratelimit'), null)
})

test('Observed-At is the time when DNS and the web of the domain were last probed', async () => {
  const both = `dns="${YESTERDAY}", web="2026-11-19T01:02:03Z"`
  for (const endpoint of ['lookup', 'redirect', 'reverseip', 'dnshistory']) {
    assert.equal((await ask(endpoint, 'example.com')).headers.get('observed-at'), both, endpoint)
  }
  assert.equal((await ask('lookup', 'b.example')).headers.get('observed-at'), `dns="${YESTERDAY}"`)
  assert.equal((await ask('lookup', 'source1.example')).headers.get('observed-at'), `web="${YESTERDAY}"`)
  for (const query of ['bare.example', 'unknown.example']) {
    assert.equal((await ask('redirect', query)).headers.get('observed-at'), null)
  }
  assert.equal((await ask('reverseip', '192.0.2.1')).headers.get('observed-at'), null)
})

test('a response over 1 KiB is gzipped for clients that accept it, with Vary', async () => {
  const body = JSON.stringify({ token, query: 'example.com' })
  const request = (endpoint: string, accept: string) =>
    `POST /v1.0/${endpoint} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${accept}Content-Length: ${body.length}\r\n\r\n${body}`
  const plain = await sendRaw(world.address, request('redirect', ''))
  assert.ok(Buffer.byteLength(plain.body) > 1024)
  for (const accept of ['', 'Accept-Encoding: gzip;q=0\r\n', 'Accept-Encoding: br\r\n']) {
    const { head } = await sendRaw(world.address, request('redirect', accept))
    assert.doesNotMatch(head, /^Content-Encoding/m)
    assert.match(head, /^Vary: Accept-Encoding\r?$/m)
  }
  const zipped = await fetch(`${world.address}/v1.0/redirect`, { method: 'POST', body })
  assert.equal(zipped.headers.get('content-encoding'), 'gzip')
  assert.equal(zipped.headers.get('vary'), 'Accept-Encoding')
  assert.deepEqual(await zipped.json(), JSON.parse(plain.body))
  const { head } = await sendRaw(world.address, request('lookup', 'Accept-Encoding: gzip\r\n'))
  assert.doesNotMatch(head, /^Content-Encoding/m)
})

test('a body that all clients get is compressed well, by brotli if the client names that', async () => {
  const get = (encoding: string, method = 'GET') =>
    fetch(`${world.address}/openapi.json`, { method, headers: { 'Accept-Encoding': encoding } })
  const plain = await (await get('identity')).text()
  for (const [accepted, expected, maxShare] of [
    ['gzip, deflate, br', 'br', 0.06],
    ['gzip', 'gzip', 0.08],
    ['br;q=0, gzip', 'gzip', 0.08],
    ['identity', null, 1],
  ] as const)
    for (const method of ['GET', 'HEAD']) {
      const response = await get(accepted, method)
      await response.arrayBuffer() // the server waits for a client that does not read
      const { headers } = response
      const length = Number(headers.get('content-length'))
      assert.deepEqual([headers.get('content-encoding'), headers.get('vary')], [expected, 'Accept-Encoding'], accepted)
      assert.ok(length > 0 && length <= Buffer.byteLength(plain) * maxShare, `${accepted}: ${length} bytes`)
    }
  for (const accepted of ['br', 'gzip']) assert.equal(await (await get(accepted)).text(), plain)
})

test('HEAD is like GET without a body, and counts like it', async () => {
  const { token, account } = await world.account({ plan: 'basic' })
  for (const [endpoint, query] of [
    ['lookup', 'example.com'],
    ['redirect', 'example.com'],
    ['lookup', 'unknown.example'],
    ['dnshistory', 'no-dot'],
  ] as const) {
    const got = await world.ask(endpoint, { token, query }, { method: 'GET' })
    const head = await world.ask(endpoint, { token, query }, { method: 'HEAD' })
    assert.equal(head.text, '')
    assert.equal(head.status, got.status)
    for (const name of ['content-type', 'content-length', 'content-encoding', 'observed-at', 'vary']) {
      assert.equal(head.headers.get(name), got.headers.get(name), `${endpoint} ${name}`)
    }
  }
  const quota = await world.send('/account/quota', { headers: { Authorization: `Bearer ${token}` } })
  assert.equal((quota.body as { used: number }).used, 6, account.email)
})

test('OPTIONS on a known path: 204 with Allow and CORS, no token; on an unknown one 404', async () => {
  for (const path of ['/v1.0/lookup', '/v1.0/daily', '//v1.0/similar/']) {
    const { status, headers, text } = await world.send(path, { method: 'OPTIONS' })
    assert.deepEqual([status, text], [204, ''])
    assert.equal(headers.get('allow'), 'GET, HEAD, POST, OPTIONS')
    assert.equal(headers.get('access-control-allow-origin'), '*')
    assert.equal(headers.get('access-control-allow-methods'), 'GET, HEAD, POST, OPTIONS')
    assert.match(headers.get('access-control-allow-headers') ?? '', /Content-Type/)
    assert.equal(headers.get('access-control-allow-credentials'), null)
  }
  assert.equal((await world.send('/account/quota', { method: 'OPTIONS' })).status, 204)
  assert.equal((await world.send('/v1.0/nothing', { method: 'OPTIONS' })).status, 404)
})

test('any web page may read a response and its headers, including errors', async () => {
  for (const query of ['example.com', 'no-dot']) {
    const { headers } = await ask('lookup', query, { Origin: 'https://page.example' })
    assert.equal(headers.get('access-control-allow-origin'), '*')
    assert.match(headers.get('access-control-expose-headers') ?? '', /RateLimit, Retry-After/)
  }
})

test('if origins are listed, only their pages may read responses, and with an empty list no page may', async (t) => {
  const seen = async (address: string, origin: string) => {
    const { headers } = await fetch(`${address}/v1.0/lookup`, { method: 'OPTIONS', headers: { Origin: origin } })
    return [headers.get('access-control-allow-origin'), headers.get('vary')]
  }
  const listed = await apiOf(t, ['https://a.example'])
  assert.deepEqual(await seen(listed, 'https://a.example'), ['https://a.example', 'Accept-Encoding, Origin'])
  assert.deepEqual(await seen(listed, 'https://b.example'), [null, 'Accept-Encoding, Origin'])
  assert.deepEqual(await seen(await apiOf(t, []), 'https://a.example'), [null, 'Accept-Encoding'])
})

test('/healthz and /readyz: 200; during shutdown /readyz is 503 and every response is the last of its connection', async (t) => {
  const settings = { cors: [], trustedProxies: [] }
  const now = () => world.clock.now
  const api = await createWorldApi(world, {
    settings,
    now,
  })
  t.after(() => api.app.close())
  const address = await api.app.listen({ host: '127.0.0.1', port: 0 })
  const seen = async (path: string) => {
    const { status, headers } = await fetch(`${address}${path}`)
    return [status, headers.get('connection')]
  }
  assert.deepEqual(
    [await seen('/healthz'), await seen('/readyz')],
    [
      [200, 'keep-alive'],
      [200, 'keep-alive'],
    ],
  )
  api.drain()
  assert.deepEqual(
    [await seen('/healthz'), await seen('/readyz')],
    [
      [200, 'close'],
      [503, 'close'],
    ],
  )
  assert.deepEqual(await seen(`/v1.0/lookup?token=${token}&query=example.com`), [200, 'close'])
})
