/** Reading requests, however unusual they are. */

import assert from 'node:assert/strict'
import { METHODS } from 'node:http'
import { test } from 'node:test'
import fc from 'fast-check'
import { acceptsGzip } from '../../../src/api/http/request.ts'
import { assertRefused } from '../../spec/errors.ts'
import { look, ok } from '../../spec/observations.ts'
import { makeWorld } from '../../spec/world.ts'
import { sendRaw } from '../raw.ts'

const KIB = 1024

const world = await makeWorld()
await world.ingest(look('example.com', { dns: ok({ A: ['192.0.2.1'] }) }))
const { token } = await world.account({ plan: 'premium' })
const query = 'example.com'

const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  world.send(path, { method: 'POST', body, headers })

test('a POST is read as JSON whatever Content-Type says', async () => {
  const body = JSON.stringify({ token, query })
  const types = [
    'application/json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'nonsense',
    '/',
    ';;',
    'a/b; c="',
  ]
  for (const type of types) {
    const seen = await post('/v1.0/lookup', body, { 'Content-Type': type })
    assert.equal(seen.status, 200, type)
  }
  const head = `POST /v1.0/lookup HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`
  assert.equal((await sendRaw(world.address, head + body)).status, 200)
})

test('a chunked body, with chunks of any size, is one body', async () => {
  const body = JSON.stringify({ token, query })
  const chunks = [...body].map((char) => `1\r\n${char}\r\n`).join('')
  const head = 'POST /v1.0/lookup HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n'
  assert.equal((await sendRaw(world.address, `${head}${chunks}0\r\n\r\n`)).status, 200)
})

test('a body that is not a JSON object has no token: 401 token_missing, and msg says so', async () => {
  for (const body of ['', '{', '[]', '"text"', 'null', '7', `token=${token}`, `{"token":"${token}",}`, '\u0000']) {
    for (const endpoint of ['lookup', 'dnshistory']) {
      const msg = assertRefused(await post(`/v1.0/${endpoint}`, body), endpoint, 'token_missing')
      assert.match(msg, /not a JSON object/, body)
    }
  }
})

test('the query string of a POST is not read', async () => {
  assertRefused(await post(`/v1.0/lookup?token=${token}`, '{}'), 'lookup', 'token_missing')
  assertRefused(await post('/v1.0/lookup?query=example.com', JSON.stringify({ token })), 'lookup', 'query_missing')
})

test('of a repeated GET parameter the last one counts', async () => {
  const last = await world.send(`/v1.0/lookup?token=nonsense&token=${token}&query=&query=example.com`, {})
  assert.equal(last.status, 200)
  const empty = await world.send(`/v1.0/lookup?token=${token}&query=example.com&query=`, {})
  assertRefused(empty, 'lookup', 'query_missing')
})

test('repeated and trailing slashes are read as one', async () => {
  for (const path of ['/v1.0/lookup/', '//v1.0/lookup', '/v1.0//lookup', '///v1.0///lookup//']) {
    const got = await sendRaw(
      world.address,
      `GET ${path}?token=${token}&query=example.com HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    )
    assert.equal(got.status, 200, path)
  }
})

test('any other path under /v1.0/, and a path that cannot be decoded, is endpoint_unknown at the top level', async () => {
  const paths = [
    '/v1.0',
    '/v1.0/',
    '/v1.0/nothing',
    '/v1.0/lookup/more',
    '/v1.0/Lookup',
    '/v1.0/%zz',
    '/v1.0/%',
    '/v1.0/%ff',
  ]
  for (const path of [...paths, '/', '/v2.0/lookup', '/v1/lookup', '/lookup', '/favicon.ico', '/docs/static/none.js']) {
    for (const method of ['GET', 'POST']) {
      const body = method === 'POST' ? { body: JSON.stringify({ token, query }) } : {}
      const seen = await world.send(path, { method, ...body })
      assertRefused(seen, '', 'endpoint_unknown')
      assert.equal(seen.headers.get('allow'), null)
    }
  }
})

test('a method other than GET, HEAD, POST and OPTIONS is endpoint_unknown, with Allow if the path is known', async () => {
  const others = METHODS.filter((method) => !['GET', 'HEAD', 'POST', 'OPTIONS', 'CONNECT'].includes(method))
  for (const method of others) {
    for (const [path, allow] of [
      ['/v1.0/lookup', 'GET, HEAD, POST, OPTIONS'],
      ['/v1.0//daily/', 'GET, HEAD, POST, OPTIONS'],
      ['/account/quota', 'GET, HEAD, OPTIONS'],
      ['/v1.0/nothing', null],
    ] as const) {
      const got = await sendRaw(world.address, `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
      assert.equal(got.status, 404, method)
      assert.equal(JSON.parse(got.body).error, 'endpoint_unknown')
      const allowed = /^Allow: (.*)$/m.exec(got.head)?.[1]
      assert.deepEqual(allowed?.split(', ').toSorted(), allow?.split(', ').toSorted(), `${method} ${path}`)
    }
  }
})

test('a body over 64 KiB is body_too_large, before the token check, in the format of its endpoint', async () => {
  const fits = JSON.stringify({ token, query, padding: '' })
  const exactly = JSON.stringify({ token, query, padding: 'x'.repeat(64 * KIB - fits.length) })
  assert.equal((await post('/v1.0/lookup', exactly)).status, 200)
  assertRefused(await post('/v1.0/lookup', `${exactly} `), 'lookup', 'body_too_large')
  assertRefused(await post('/v1.0/dnshistory', 'x'.repeat(65 * KIB)), 'dnshistory', 'body_too_large')
  assertRefused(await post('/v1.0/nothing', 'x'.repeat(65 * KIB)), '', 'endpoint_unknown')
})

test('a client that sends 10 MB receives the complete response', async () => {
  const body = 'x'.repeat(10 * KIB * KIB)
  assertRefused(await post('/v1.0/lookup', body), 'lookup', 'body_too_large')
  const head = 'POST /v1.0/lookup HTTP/1.1\r\nHost: x\r\nConnection: close\r\n'
  const raw = await sendRaw(world.address, `${head}Content-Length: ${body.length}\r\n\r\n${body}`)
  assert.equal(JSON.parse(raw.body).result.error, 'body_too_large')
})

test('bytes that are not a request are also answered with an error object', async () => {
  const broken = await sendRaw(world.address, 'nonsense\r\n\r\n')
  assert.deepEqual([broken.status, JSON.parse(broken.body).error], [404, 'endpoint_unknown'])
  const long = await sendRaw(
    world.address,
    `GET /v1.0/lookup?query=${'x'.repeat(20 * KIB)} HTTP/1.1\r\nHost: x\r\n\r\n`,
  )
  assert.deepEqual([long.status, JSON.parse(long.body).error], [413, 'body_too_large'])
  for (const { head } of [broken, long]) assert.match(head, /^Request-Id: \S+/m)
})

test('any JSON object is answered, never with 500', async () => {
  const value = fc.oneof(fc.jsonValue(), fc.constantFrom('example.com', 'A', '1', 1, '2026-11-19'))
  const keys = ['query', 'limit', 'next', 'type', 'date', 'followup', 'download', 'enriched', '__proto__', 'toString']
  const parameters = fc.dictionary(fc.constantFrom(...keys), value, { noNullPrototype: true })
  const endpoints = ['lookup', 'redirect', 'reverseip', 'dnshistory', 'daily', 'snapshot', 'similar']
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...endpoints), parameters, async (endpoint, given) => {
      const { status } = await world.ask(endpoint, { ...given, token })
      assert.ok([200, 400, 403, 404].includes(status))
    }),
    { numRuns: 300 },
  )
})

test('gzip is used if Accept-Encoding names it or *, and its weight is not 0', () => {
  const taken = [
    'gzip',
    'GZIP',
    'deflate, gzip;q=0.5',
    'br;q=1, gzip ; q=0.001',
    '*',
    'x-gzip',
    'identity;q=0, *;q=0.1',
  ]
  const refused = ['', 'br', 'gzip;q=0', 'gzip;q=0.000, *', 'identity', '*;q=0', 'gzipped', 'gzip;q=none']
  for (const header of taken) assert.equal(acceptsGzip(header), true, header)
  for (const header of [...refused, undefined]) assert.equal(acceptsGzip(header), false, header)
})
