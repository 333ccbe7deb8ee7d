/** General conventions and versioning: paths, methods, headers, and the same response for every form of a request. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { sendRaw } from '../api/raw.ts'
import { assertRefused } from './errors.ts'
import { hosted, look, ok, redirecting } from './observations.ts'
import { makeWorld } from './world.ts'

const world = await makeWorld()
const { token } = await world.account({ plan: 'premium', addons: ['export'], periods: ['premium:2026-01-01..'] })
const ENDPOINTS = ['lookup', 'redirect', 'reverseip', 'dnshistory', 'daily', 'snapshot', 'similar']

before(async () => {
  const sources = Array.from({ length: 40 }, (_, index) => `source${index}.example`)
  await world.ingest(...sources.flatMap((name) => [redirecting(name, 'hub.example'), hosted(name, ['192.0.2.1'])]))
  await world.ingest(look('hub.example', { dns: ok({ A: ['192.0.2.1'], AAAA: [], TXT: [['text']] }) }))
})

for (const [endpoint, parameters] of [
  ['lookup', { query: 'hub.example' }],
  ['lookup', { query: 'unknown.example' }],
  ['lookup', {}],
  ['redirect', { query: 'hub.example', limit: 7 }],
  ['redirect', { query: 'nodot' }],
  ['reverseip', { query: 'hub.example', limit: 7 }],
  ['reverseip', { query: '192.0.2.1', limit: 'x' }],
  ['dnshistory', { query: 'hub.example', type: 'a', limit: 3 }],
  ['dnshistory', { query: 'hub.example', next: 'x' }],
  ['daily', { date: '2026-11-01', followup: 7 }],
  ['snapshot', { enriched: 1 }],
  ['similar', { query: 'hub.example' }],
] as const) {
  test(`GET with the same parameters in the query string: /${endpoint} ${JSON.stringify(parameters)}`, async () => {
    const byPost = await world.ask(endpoint, { token, ...parameters })
    const byGet = await world.ask(endpoint, { token, ...parameters }, { method: 'GET' })
    assert.deepEqual([byGet.status, byGet.body], [byPost.status, byPost.body])
  })
}

test('POST is read as JSON whatever Content-Type says', async () => {
  const body = JSON.stringify({ token, query: 'hub.example' })
  const types = [
    'application/json',
    'application/x-www-form-urlencoded',
    'text/plain',
    'multipart/form-data',
    'no type',
    '',
  ]
  for (const type of types) {
    const seen = await world.send('/v1.0/lookup', { method: 'POST', headers: { 'Content-Type': type }, body })
    assert.equal(seen.status, 200, type)
  }
})

test('every response is JSON, even for clients that accept only something else', async () => {
  for (const Accept of ['application/json', 'text/html', 'image/png', '*/*']) {
    const seen = await world.ask('lookup', { token, query: 'hub.example' }, { headers: { Accept } })
    assert.equal(seen.headers.get('Content-Type'), 'application/json; charset=utf-8')
  }
})

for (const endpoint of ENDPOINTS) {
  const parameters = { token, query: 'hub.example', date: '2026-11-01' }
  test(`HEAD /${endpoint}: status and headers of GET, no body`, async () => {
    const get = await world.ask(endpoint, parameters, { method: 'GET', headers: { 'Accept-Encoding': 'identity' } })
    const head = await world.ask(endpoint, parameters, { method: 'HEAD', headers: { 'Accept-Encoding': 'identity' } })
    assert.equal(head.status, get.status)
    assert.equal(head.text, '')
    for (const name of ['Content-Type', 'Content-Length', 'Vary', 'Observed-At', 'RateLimit-Policy']) {
      assert.equal(head.headers.get(name), get.headers.get(name), name)
    }
  })

  test(`OPTIONS /${endpoint}: 204 with Allow and CORS (*, no credentials), no token`, async () => {
    const headers = { Origin: 'https://page.example', 'Access-Control-Request-Method': 'POST' }
    const seen = await world.send(`/v1.0/${endpoint}`, { method: 'OPTIONS', headers })
    assert.equal(seen.status, 204)
    assert.equal(seen.text, '')
    assert.equal(seen.headers.get('Allow'), 'GET, HEAD, POST, OPTIONS')
    assert.equal(seen.headers.get('Access-Control-Allow-Origin'), '*')
    assert.equal(seen.headers.get('Access-Control-Allow-Credentials'), null)
    assert.match(seen.headers.get('Access-Control-Allow-Methods') ?? '', /POST/)
    assert.match(seen.headers.get('Access-Control-Allow-Headers') ?? '', /Content-Type/i)
  })

  test(`/${endpoint}: a method other than GET, HEAD, POST, OPTIONS: 404 endpoint_unknown, top level, with Allow`, async () => {
    for (const method of ['PUT', 'DELETE', 'PATCH', 'PROPFIND']) {
      const seen = await world.send(`/v1.0/${endpoint}`, { method, ...(method === 'PUT' && { body: '{}' }) })
      assertRefused(seen, '', 'endpoint_unknown')
      assert.deepEqual(new Set(seen.headers.get('Allow')?.split(', ')), new Set(['GET', 'HEAD', 'POST', 'OPTIONS']))
    }
  })
}

for (const path of [
  '/v1.0/nothing',
  '/v1.0/',
  '/v1.0',
  '/v1.0/lookup/more',
  '/v1.0/Lookup',
  '/V1.0/lookup',
  '/v1.0/lookup.json',
  '/v1.0/..%2flookup',
  '/v1.0/lookup%00',
  '/v1.0/%',
  '/v1.0/%zz',
  '/v1.0/%ff',
  '/v1.0/;',
  '/v1.0/account/quota',
  '/v1/lookup',
  '/v1.1/lookup',
  '/v2.0/lookup',
  '/lookup',
  '/',
  '//',
  '/index.html',
  '/account',
]) {
  test(`unknown endpoints, versions and paths get a JSON 404 endpoint_unknown, always top level: ${path}`, async () => {
    for (const method of ['GET', 'POST']) {
      const body = method === 'POST' ? JSON.stringify({ token, query: 'hub.example' }) : null
      assertRefused(await world.send(path, { method, body }), '', 'endpoint_unknown')
    }
  })
}

for (const path of ['/v1.0/lookup/', '//v1.0//lookup', '/v1.0///lookup//', '/v1.0/lookup//?']) {
  test(`repeated and trailing slashes are read as one: ${path}`, async () => {
    const mark = path.endsWith('?') ? '' : '?'
    const get = await world.send(`${path}${mark}token=${token}&query=hub.example`, {})
    assert.equal(get.status, 200)
    const body = JSON.stringify({ token, query: 'hub.example' })
    assert.equal((await world.send(path, { method: 'POST', body })).status, 200)
    assert.equal((await world.send(path, { method: 'OPTIONS' })).status, 204)
  })
}

for (const line of ['GET /v1.0/%', 'TRACE /v1.0/lookup', 'BREW /v1.0/lookup', 'GET lookup', 'GET /v1.0/\xff\xfe']) {
  test(`a path that cannot be decoded, or an invalid method: 404 endpoint_unknown: ${JSON.stringify(line)}`, async () => {
    const answer = await sendRaw(world.address, `${line} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
    assert.equal(answer.status, 404)
    assert.match(answer.head, /\r\nrequest-id: \S+/i)
    assert.equal((JSON.parse(answer.body) as { error: string }).error, 'endpoint_unknown')
  })
}

for (const [what, head] of [
  ['without Host', ''],
  ['with an Expect that nobody knows', 'Host: a\r\nExpect: a-miracle\r\n'],
] as const) {
  test(`every status ≥ 400 has our error object: a request ${what} is answered like any other`, async () => {
    const line = `GET /v1.0/lookup?token=${token}&query=hub.example HTTP/1.1`
    const { status, body } = await sendRaw(world.address, `${line}\r\n${head}Connection: close\r\n\r\n`)
    assert.equal(status, 200)
    assert.equal((JSON.parse(body) as { meta: { query: string } }).meta.query, 'hub.example')
  })
}

test('every response has its own Request-Id', async () => {
  const answers = [
    await world.ask('lookup', { token, query: 'hub.example' }),
    await world.ask('lookup', { token, query: 'hub.example' }),
    await world.ask('lookup', {}),
    await world.ask('nothing', {}),
    await world.ask('lookup', {}, { method: 'OPTIONS' }),
    await world.ask('lookup', { token }, { method: 'HEAD' }),
    await world.send('/healthz', {}),
    await world.send('/docs/', {}).catch(() => null),
  ]
  const ids = answers.filter((seen) => seen !== null).map(({ headers }) => headers.get('Request-Id'))
  assert.ok(
    ids.every((id) => id !== null && /^[\w-]{8,}$/.test(id)),
    String(ids),
  )
  assert.equal(new Set(ids).size, ids.length)
})

test('responses for one reader are not cached: private, no-store; no-referrer; nosniff', async () => {
  for (const seen of [await world.ask('lookup', { token, query: 'hub.example' }), await world.ask('lookup', {})]) {
    assert.equal(seen.headers.get('Cache-Control'), 'private, no-store')
    assert.equal(seen.headers.get('Referrer-Policy'), 'no-referrer')
    assert.equal(seen.headers.get('X-Content-Type-Options'), 'nosniff')
    assert.equal(seen.headers.get('Access-Control-Allow-Origin'), '*')
  }
})

test('JSON over 1 KiB is gzipped for clients that accept it, with Vary; 1 KiB and less is not', async () => {
  const encoding = async (query: string, accept: string) => {
    const seen = await world.ask('redirect', { token, query }, { headers: { 'Accept-Encoding': accept } })
    assert.equal(seen.headers.get('Vary'), 'Accept-Encoding')
    return seen.headers.get('Content-Encoding')
  }
  for (const accept of ['gzip', 'gzip, deflate, br', 'br;q=1.0, gzip;q=0.2', '*', 'GZIP', 'x-gzip']) {
    assert.equal(await encoding('hub.example', accept), 'gzip', accept)
  }
  for (const accept of ['identity', 'br', 'gzip;q=0', '*;q=0', 'identity, gzip;q=0.0, *']) {
    assert.equal(await encoding('hub.example', accept), null, accept)
  }
  assert.equal(await encoding('unknown.example', 'gzip'), null)
})

test('a gzipped page has the same content', async () => {
  const ask = (accept: string) =>
    world.ask('redirect', { token, query: 'hub.example' }, { headers: { 'Accept-Encoding': accept } })
  const [plain, zipped] = [await ask('identity'), await ask('gzip')]
  assert.deepEqual(zipped.body, plain.body)
  assert.ok(Number(zipped.headers.get('Content-Length')) < Number(plain.headers.get('Content-Length')))
})
