/** The DNSDB API as a service: tokens, plans, quota, bounds, long answers, the log, and errors as lines of text. */

import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import type { ApiOptions } from '../../../src/api/create-context.ts'
import { ApiMetrics } from '../../../src/api/http/metrics.ts'
import type { InverseReader, InverseSpan } from '../../../src/store/port/inverse.ts'
import type { DomainName } from '../../../src/values/domain-name.ts'
import type { IpAddress } from '../../../src/values/ip-address.ts'
import { until } from '../../until.ts'
import { createWorldApi } from '../world-api.ts'
import { type Answer, ask, at, dnsdbWorld, NINE, stream } from './world.ts'

const world = await dnsdbWorld()
const premium = await world.account({ plan: 'premium' })
const free = await world.account()
const RRSET = 'lookup/rrset/name/www.shop.example'
const RDATA = 'lookup/rdata/ip/192.0.2.0,24'

const assertText = ({ status, headers, text }: Answer, expected: number, message: RegExp) => {
  assert.deepEqual([status, headers.get('content-type')], [expected, 'text/plain; charset=utf-8'], text)
  assert.match(text, /^Error: [^\n]+\n$/)
  assert.match(text, message)
}

/** Another API over the store, with a part of its index replaced. */
async function apiWith(t: TestContext, change: Partial<InverseReader>, options: Partial<ApiOptions> = {}) {
  const store = { ...world.store, inverse: { ...world.store.inverse, ...change } }
  const { app } = await createWorldApi(world, { store, ...options })
  t.after(() => app.close())
  return app.listen({ host: '127.0.0.1', port: 0 })
}

/** A reader of an endless network, and how many spans it has read. */
function endlessSpans(fail: (page: number) => void = () => {}) {
  const read = { pages: 0 }
  const spans: InverseReader['spans'] = async (_query, _fence, position, limit) => {
    const page = position === null ? 0 : Buffer.from(position).readUInt32BE()
    read.pages++
    fail(page)
    const next = Buffer.alloc(4)
    next.writeUInt32BE(page + 1)
    const found = Array.from({ length: limit }, (_, index): InverseSpan => {
      const data = { type: 'A' as const, address: '192.0.2.1' as IpAddress }
      return { data, name: `n${page}x${index}.example` as DomainName, first: at(NINE), last: at(NINE) }
    })
    return { spans: found, position: next }
  }
  return { spans, read }
}

const get = async (address: string, path: string, headers: Record<string, string> = {}): Promise<Answer> => {
  const response = await fetch(`${address}/dnsdb/v2/${path}`, { headers: { 'X-API-Key': premium.token, ...headers } })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

test('the token is X-API-Key or a bearer token', async () => {
  assert.equal((await ask(world, RRSET, premium.token)).status, 200)
  const bearer = { headers: { Authorization: `Bearer ${premium.token}` } }
  const seen = await fetch(`${world.address}/dnsdb/v2/${RRSET}`, bearer)
  assert.equal(seen.status, 200)
  assertText(await ask(world, RRSET, 'wrong'), 401, /unknown, revoked or expired/)
  assertText(await ask(world, RRSET, ''), 401, /X-API-Key/)
  const none = await fetch(`${world.address}/dnsdb/v2/${RRSET}`)
  assert.deepEqual([none.status, none.headers.get('www-authenticate')], [401, 'Bearer'])
  assert.match(await none.text(), /^Error: There is no token: send it as the header X-API-Key\.\n$/)
})

test('a free plan may ask for data, and not for names', async () => {
  assertText(await ask(world, RRSET, free.token), 403, /Basic or Premium/)
  assertText(await ask(world, RRSET.replace('lookup', 'summarize'), free.token), 403, /Basic or Premium/)
  assert.equal((await stream(world, RDATA, free.token)).rows.length, 5)
})

test('a request costs one unit, an error none, and the usage names the endpoint', async () => {
  const { token, account } = await world.account({ plan: 'premium' })
  const remaining = async (path: string, method = 'GET') =>
    Number(/r=(\d+)/.exec((await ask(world, path, token, { method })).headers.get('ratelimit')!)?.[1])
  const start = await remaining(RRSET)
  assert.equal(await remaining(RDATA), start - 1)
  assert.equal(await remaining('summarize/rdata/ip/192.0.2.0,24'), start - 2)
  assert.equal(await remaining('lookup/rrset/name/none.example'), start - 3)
  assert.equal(await remaining(RRSET, 'HEAD'), start - 4)
  assert.equal(await remaining(`${RRSET}/FOO`), start - 4)
  assert.equal(await remaining('rate_limit'), start - 4)
  const { today } = { today: '2026-11-20' as never }
  const endpoints = async () => (await world.store.ledger.usage(account.id, today, today)).map((each) => each.endpoint)
  await until(async () => (await endpoints()).length > 0)
  assert.deepEqual(new Set(await endpoints()), new Set(['dnsdb']))
})

test('past the limit of the day, the answer is 429, and rate_limit still says so', async () => {
  const { token } = await world.account()
  for (let call = 0; call < 100; call++) assert.equal((await ask(world, RDATA, token)).status, 200)
  const refused = await ask(world, RDATA, token)
  assertText(refused, 429, /limit of 100 calls is reached/)
  assert.equal(refused.headers.get('retry-after'), '43200')
  const { status, headers, text } = await ask(world, 'rate_limit', token)
  assert.deepEqual([status, headers.get('content-type')], [200, 'application/json; charset=utf-8'])
  assert.ok(text.endsWith('}\n'))
  assert.deepEqual(JSON.parse(text), {
    rate: { limit: 100, remaining: 0, reset: at('2026-11-21T00:00:00Z'), results_max: 1000, offset_max: 4000 },
  })
})

test('ping needs no token and costs nothing', async () => {
  const response = await fetch(`${world.address}/dnsdb/v2/ping`)
  assert.deepEqual([response.status, await response.json()], [200, { ping: 'ok' }])
})

test('the plan bounds the offset; a summary takes none', async () => {
  assert.equal((await ask(world, `${RDATA}?offset=4000`, free.token)).status, 200)
  assertText(await ask(world, `${RDATA}?offset=4001`, free.token), 416, /largest offset .* 4000/)
  assertText(await ask(world, `${RDATA.replace('lookup', 'summarize')}?offset=1`, free.token), 416, /offset .* 0/)
})

test('HEAD has the headers of GET and no body', async () => {
  const [head, whole] = [
    await ask(world, RRSET, premium.token, { method: 'HEAD' }),
    await ask(world, RRSET, premium.token),
  ]
  assert.deepEqual([head.status, head.text], [200, ''])
  for (const name of ['content-type', 'content-length']) assert.equal(head.headers.get(name), whole.headers.get(name))
})

test('unknown paths and other methods are refused with a text', async () => {
  for (const path of [
    '',
    'lookup',
    'lookup/rrset',
    'lookup/rrset/name',
    'glob/rdata/x',
    `${RRSET}/A/example/more`,
    'xyz',
    'lookup/rrset/name/%ff',
    'lookup/rrset/name/%zz/A',
    '%',
  ])
    assertText(await ask(world, path, premium.token), 404, /no such endpoint/)
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
    const seen = await ask(world, RRSET, premium.token, { method })
    assertText(seen, 404, /the method/)
    assert.equal(seen.headers.get('allow'), 'GET, HEAD, OPTIONS')
  }
  assert.equal((await ask(world, RRSET, premium.token, { method: 'OPTIONS' })).status, 204)
})

test('while the index is being built, what needs it is refused, and names alone are answered', async (t) => {
  const address = await apiWith(t, { progress: async () => ({ share: 0.421 }) })
  for (const path of [
    RDATA,
    'lookup/rrset/name/*.example',
    'lookup/rrset/name/shop.*',
    'summarize/rdata/name/a.example',
  ]) {
    const seen = await get(address, path)
    assertText(seen, 503, /being built \(42 % done\)/)
    assert.equal(seen.headers.get('retry-after'), '60')
  }
  assert.equal((await get(address, RRSET)).status, 200)
  const headers = { Authorization: `Bearer ${premium.token}` }
  const pdns = async (query: string) => fetch(`${address}/pdns/query/${query}`, { headers })
  const refused = await pdns('192.0.2.1')
  assert.deepEqual([refused.status, ((await refused.json()) as { error: string }).error], [503, 'index_incomplete'])
  assert.equal((await (await pdns('www.shop.example')).text()).split('\n').length, 4)
})

test('a long answer is streamed, plain and gzipped, up to the limit', async (t) => {
  const { spans, read } = endlessSpans()
  const address = await apiWith(t, { spans })
  for (const encoding of ['identity', 'gzip']) {
    const { headers, text } = await get(address, `${RDATA}?limit=20000`, { 'Accept-Encoding': encoding })
    assert.equal(headers.get('content-encoding'), encoding === 'gzip' ? 'gzip' : null)
    assert.equal(headers.get('content-length'), null)
    const head = await fetch(`${address}/dnsdb/v2/${RDATA}`, {
      method: 'HEAD',
      headers: { 'X-API-Key': premium.token, 'Accept-Encoding': encoding },
    })
    const same = ['content-type', 'content-encoding', 'content-length'].map((name) => head.headers.get(name))
    assert.deepEqual(same, ['application/x-ndjson', headers.get('content-encoding'), null])
    const lines = text.trimEnd().split('\n')
    assert.equal(lines.length, 20_002)
    assert.deepEqual(JSON.parse(lines.at(-1)!), { cond: 'limited', msg: 'The limit of 20000 results is reached.' })
  }
  assert.ok(read.pages <= 60, `${read.pages} pages`)
})

test('a request reads a bounded number of spans', async (t) => {
  const { spans, read } = endlessSpans()
  const address = await apiWith(t, { spans })
  const { text } = await get(address, `${RDATA}?time_last_before=1`)
  assert.match(text, /^\{"cond":"begin"\}\n\{"cond":"limited","msg":"The request has read as much as one may[^\n]*\n$/)
  assert.equal(read.pages, 300)
})

test('a fault before the first rows is an error, and one after them ends the stream as failed', async (t) => {
  const faults: unknown[] = []
  const log = pino({ level: 'silent' })
  log.error = (fields: unknown) => void faults.push(fields)
  const early = endlessSpans(() => {
    throw new Error('select secret')
  })
  assertText(await get(await apiWith(t, { spans: early.spans }, { log }), RDATA), 500, /failed to answer/)
  const late = endlessSpans((page) => {
    if (page === 20) throw new Error('select secret')
  })
  const { status, text } = await get(await apiWith(t, { spans: late.spans }, { log }), RDATA)
  assert.equal(status, 200)
  assert.match(text, /\n\{"cond":"failed","msg":"The server failed to answer this request: try again\."\}\n$/)
  assert.equal(faults.length, 2)
})

test('a client that reads nothing stops the work, and one that disconnects leaves nothing behind', async (t) => {
  const { spans, read } = endlessSpans()
  const metrics = new ApiMetrics()
  const address = await apiWith(t, { spans }, { metrics })
  const unsent = async () => Number(/^domaindex_unsent_bytes (\d+)$/m.exec(await metrics.registry.metrics())?.[1])
  const socket = connect(Number(new URL(address).port), '127.0.0.1')
  socket.write(`GET /dnsdb/v2/${RDATA} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${premium.token}\r\n\r\n`)
  socket.pause()
  await until(async () => (await unsent()) > 0)
  let seen = -1
  await until(async () => {
    const isStill = seen === read.pages
    seen = read.pages
    return isStill
  })
  assert.ok(read.pages < 60, `${read.pages} pages`)
  socket.destroy()
  await until(async () => (await unsent()) === 0)
  assert.match(await metrics.registry.metrics(), /request_duration_seconds_count\{endpoint="dnsdb",status="200"\} 1/)
})
