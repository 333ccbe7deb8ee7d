/** The access log: one line per request, never with a token, wherever a client sends one. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Writable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { beginAccessRecord, endAccessRecord } from '../../../src/api/http/access-log.ts'
import type { ApiRequest } from '../../../src/api/http/exchange.ts'
import { ApiMetrics } from '../../../src/api/http/metrics.ts'
import type { FactsReader } from '../../../src/store/port/store.ts'
import { assertRefused } from '../../spec/errors.ts'
import { hosted } from '../../spec/observations.ts'
import { makeWorld } from '../../spec/world.ts'
import { sendRaw } from '../raw.ts'
import { createWorldApi } from '../world-api.ts'

const world = await makeWorld()
const { token, account } = await world.account({ plan: 'free' })
await world.ingest(hosted('example.com', ['192.0.2.1']))

type Line = Record<string, unknown>

/** An API with a captured log. The facts reader can be replaced. */
async function apiOf(t: TestContext, facts: FactsReader = world.store.facts, trustedProxies: string[] = []) {
  let text = ''
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += chunk
      done()
    },
  })
  const metrics = new ApiMetrics()
  const { app } = await createWorldApi(world, {
    store: { ...world.store, facts },
    settings: { cors: '*', trustedProxies, clientRequests: 1_000 },
    log: pino({}, stream),
    metrics,
  })
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  let isClosed = false
  /** Ends the server, so that every line is written. */
  const lines = async (): Promise<Line[]> => {
    if (!isClosed) await app.close()
    isClosed = true
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  }
  t.after(lines)
  return { address, lines, metrics, text: () => text, server: app.server }
}

test('one line per request: method, path without query string, status, time, request and account', async (t) => {
  const { address, lines } = await apiOf(t)
  const got = await fetch(`${address}/v1.0/lookup?token=${token}&query=example.com`)
  await got.text()
  await (await fetch(`${address}//v1.0/lookup/`, { method: 'POST', body: '{}' })).text()
  const [first, second, ...more] = await lines()
  assert.equal(more.length, 0)
  const { level: _, time: __, pid: ___, hostname: ____, ms, ...line } = first!
  assert.deepEqual(line, {
    request: got.headers.get('request-id'),
    method: 'GET',
    path: '/v1.0/lookup',
    status: 200,
    account: account.id,
    client: '127.0.0.1',
    msg: 'request',
  })
  assert.equal(typeof ms, 'number')
  assert.deepEqual([second?.path, second?.status, second?.account], ['/v1.0/lookup', 401, null])
})

test('the line of a batch and of a call of tools counts the calls by endpoint', async (t) => {
  const { address, lines } = await apiOf(t)
  const queries = ['lookup', 'lookup', 'reverseip', 'none']
  const body = queries.map((endpoint) => JSON.stringify({ endpoint, query: 'example.com' })).join('\n')
  const headers = { Authorization: `Bearer ${token}`, Accept: 'application/json, text/event-stream' }
  await (await fetch(`${address}/batch`, { method: 'POST', headers, body })).text()
  const call = { name: 'look_up_domain', arguments: { domain: 'example.com' } }
  await (
    await fetch(`${address}/mcp`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
    })
  ).text()
  assert.deepEqual(
    (await lines()).map(({ path, calls }) => [path, calls]),
    [
      ['/batch', { lookup: 2, reverseip: 1, other: 1 }],
      ['/mcp', { domain: 1 }],
    ],
  )
})

test('an X-Forwarded-For that names no address leaves the nearest address that it does name', async (t) => {
  const { address, lines } = await apiOf(t, world.store.facts, ['127.0.0.0/8', '10.0.0.0/8'])
  const cases = [
    ['garbage', '127.0.0.1'],
    ['198.51.100.7, garbage', '127.0.0.1'],
    ['198.51.100.7, , 10.0.0.2', '10.0.0.2'],
    ['garbage, 198.51.100.7', '198.51.100.7'],
    ['garbage, 198.51.100.7, 10.0.0.2', '198.51.100.7'],
    ['198.51.100.7:4711', '198.51.100.7'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['2001:db8::1', '2001:db8::1'],
    ['fe80::1%eth0', '127.0.0.1'],
    ['', '127.0.0.1'],
    [',', '127.0.0.1'],
    ['"198.51.100.7"', '127.0.0.1'],
  ] as const
  for (const [value] of cases)
    for (const path of ['/healthz', '/v1.0/lookup', '/v1.0/daily'])
      await (await fetch(`${address}${path}`, { headers: { 'X-Forwarded-For': value } })).text()
  const clients = (await lines()).map(({ client }) => client)
  assert.deepEqual(
    clients,
    cases.flatMap(([, client]) => [client, client, client]),
  )
})

test('X-Forwarded-For counts only if the proxy that sends it is trusted', async (t) => {
  const headers = { 'X-Forwarded-For': '198.51.100.7' }
  for (const [trusted, client] of [
    [[], '127.0.0.1'],
    [['127.0.0.0/8'], '198.51.100.7'],
  ] as const) {
    const { address, lines } = await apiOf(t, world.store.facts, [...trusted])
    await (await fetch(`${address}/healthz`, { headers })).text()
    assert.equal((await lines())[0]?.client, client)
  }
})

test('no token appears in the log, wherever it is in a request', async (t) => {
  const { address, lines, text } = await apiOf(t)
  const encoded = [...token].map((char) => `%${char.charCodeAt(0).toString(16)}`).join('')
  const paths = [
    `/v1.0/lookup?token=${token}&query=example.com`,
    `/v1.0/lookup?query=${token}&token=${token}`,
    `/v1.0/lookup&token=${token}`,
    `/v1.0/lookup/${token}`,
    `/${token}/v1.0/lookup`,
    `/v1.0/${encoded}`,
    `/v1.0/%zz${token}`,
    `/docs/static/${token}`,
    `/v1.0/lookup#${token}`,
    `/v1.0/lookup;token=${token}`,
  ]
  for (const path of paths) {
    await sendRaw(address, `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
  }
  for (const body of [JSON.stringify({ token, query: token }), `{"token":"${token}"`, `{"${token}":"${token}"}`]) {
    await (await fetch(`${address}/v1.0/lookup`, { method: 'POST', body })).text()
  }
  for (const authorization of [`Bearer ${token}`, `Basic ${token}`, token]) {
    await (await fetch(`${address}/account/quota`, { headers: { authorization } })).text()
  }
  await sendRaw(address, `${token} nonsense\r\n\r\n`)
  assert.equal((await lines()).length, paths.length + 6)
  assert.ok(!text().includes(token))
  assert.ok(!text().includes(encoded))
})

test('a fault is answered with 500 internal_error, logged completely, and free of charge', async (t) => {
  const facts: FactsReader = {
    ...world.store.facts,
    lookup: async () => {
      throw new Error('the disk is broken')
    },
  }
  const { address, lines } = await apiOf(t, facts)
  const used = () => world.store.ledger.usedUnits(account.id, '2026-11-20' as never)
  const before = await used()
  const response = await fetch(`${address}/v1.0/lookup?token=${token}&query=example.com`)
  const text = await response.text()
  const seen = { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
  assertRefused(seen, 'lookup', 'internal_error')
  assert.doesNotMatch(text, /disk/)
  const [fault, line] = await lines()
  assert.match(`${(fault!.err as Error).stack}`, /the disk is broken\n +at /)
  assert.equal(fault?.request, response.headers.get('request-id'))
  assert.equal(line?.status, 500)
  assert.equal(await used(), before)
})

test('a client that resets its connection behind its request is logged with its address, and leaves no fault', async (t) => {
  for (const trusted of [[], ['127.0.0.0/8']]) {
    const { address, lines, server } = await apiOf(t, world.store.facts, trusted)
    const client = connect(Number(new URL(address).port), '127.0.0.1')
    const [socket] = (await once(server, 'connection')) as [Socket]
    const closed = new Promise((resolve) => socket.once('close', resolve))
    client.write(`GET /v1.0/lookup?token=${token}&query=example.com HTTP/1.1\r\nHost: a\r\n\r\n`)
    client.resetAndDestroy()
    await closed
    const [line, ...more] = await lines()
    assert.deepEqual([line?.client, line?.path, line?.msg, more], ['127.0.0.1', '/v1.0/lookup', 'request', []])
  }
})

test('a client that has reset its connection before the server accepts it is not logged', async (t) => {
  for (const trusted of [[], ['127.0.0.0/8']]) {
    const { address, text } = await apiOf(t, world.store.facts, trusted)
    const script = `const client = require('node:net').connect(${new URL(address).port}, '127.0.0.1', () => {
      client.write('GET /healthz HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n', () => client.resetAndDestroy())
    })`
    const { status } = spawnSync(process.execPath, ['-e', script]) // the server cannot accept meanwhile
    assert.equal(status, 0)
    assert.equal((await fetch(`${address}/healthz`)).status, 200)
    assert.equal(text().trim().split('\n').length, 1)
  }
})

test('a client that disconnects is logged as such', async (t) => {
  const reached = Promise.withResolvers<void>()
  const held = Promise.withResolvers<null>()
  const lookup = () => {
    reached.resolve()
    return held.promise
  }
  const { address, lines, text } = await apiOf(t, { ...world.store.facts, lookup })
  const controller = new AbortController()
  const asked = fetch(`${address}/v1.0/lookup?token=${token}&query=example.com`, { signal: controller.signal })
  await reached.promise
  controller.abort()
  await assert.rejects(asked)
  while (text() === '') await new Promise(setImmediate)
  held.resolve(null)
  const [line] = await lines()
  assert.equal(line?.aborted, true)
})

test('queries of the direct path are logged as those of node:http, and as aborted if the client has left', async (t) => {
  const held = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let started = 0
  const facts: FactsReader = {
    ...world.store.facts,
    lookup: async (...given) => {
      if (started++ > 1) await held[started - 3]?.promise
      return world.store.facts.lookup(...given)
    },
  }
  const { address, lines, text, server } = await apiOf(t, facts)
  const body = JSON.stringify({ token, query: 'example.com' })
  const query = `POST /v1.0/lookup HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const connections: { client: Socket; socket: Socket }[] = []
  for (let count = 0; count < 2; count++) {
    const client = connect(Number(new URL(address).port), '127.0.0.1')
    const [socket] = (await once(server, 'connection')) as [Socket]
    client.write(query)
    await once(client, 'data')
    connections.push({ client, socket })
  }
  server.on('request', () => assert.fail('node:http has parsed a query'))
  for (const { client } of connections) client.write(query)
  while (started < 4) await new Promise(setImmediate)
  for (const { resolve } of held) resolve()
  for (let count = 0; count < 100; count++) await null // both responses wait for the end of the iteration
  connections[0]!.socket.destroy()
  await once(connections[1]!.client, 'data')
  while (text().split('\n').length < 5) await new Promise(setImmediate)
  for (const { client } of connections) client.destroy()
  const [first, , ...direct] = await lines()
  const aborted = direct.filter((line) => line.aborted)
  assert.deepEqual([direct.length, aborted.length], [2, 1])
  for (const line of direct) {
    const { time: _, request: __, ms: ___, aborted: ____, ...fields } = line
    const { time: _____, request: ______, ms: _______, ...expected } = first!
    assert.deepEqual(fields, expected)
  }
})

test('a request whose connection has no address any more is logged as JSON', () => {
  const written: string[] = []
  const log = pino({}, { write: (line) => void written.push(line) })
  const options = { log, metrics: new ApiMetrics(), monotonicMs: () => 0, onFailure: () => {} }
  const request = { id: 'a-1', method: 'GET', url: '/healthz', ip: undefined } as unknown as ApiRequest
  beginAccessRecord(request, options)
  endAccessRecord(options, request, 200, false)
  assert.equal(JSON.parse(written.join('')).client, null)
})

test('metrics have endpoints and statuses as labels, and no account, name or address', async (t) => {
  const { address, metrics } = await apiOf(t)
  await (await fetch(`${address}/v1.0/lookup?token=${token}&query=example.com`)).text()
  await (await fetch(`${address}/v1.0/nothing/example.com`)).text()
  const text = await metrics.registry.metrics()
  assert.match(text, /^domaindex_request_duration_seconds_count\{endpoint="lookup",status="200"\} 1$/m)
  assert.match(text, /^domaindex_request_duration_seconds_count\{endpoint="other",status="404"\} 1$/m)
  const labels = new Set([...text.matchAll(/(\w+)="/g)].map(([, label]) => label))
  assert.deepEqual([...labels].toSorted(), ['endpoint', 'le', 'status'])
})
