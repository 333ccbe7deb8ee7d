/** NDJSON and CSV by Accept: the same rows, checks and charge as JSON. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { hosted, look, ok, redirecting } from './observations.ts'
import { makeWorld, type Parameters } from './world.ts'

const world = await makeWorld()
const { token } = await world.account({ plan: 'premium' })
const FORMULA = '=cmd("a, b")'

before(async () => {
  await world.ingest(
    ...['a.example', 'b.example', '-c.example'].map((name) => redirecting(name, 'target.example')),
    ...['n1.example', 'n2.example', 'n3.example'].map((name) => hosted(name, ['192.0.2.1', '2001:db8::1'])),
    look('txt.example', {
      dns: ok({ TXT: [[FORMULA, 'two\u0001']], MX: [{ priority: 10, mail_server: 'mx.example' }] }),
    }),
    look('txt.example', { dns: ok({ TXT: [['}],[{"']], MX: [] }) }, '2026-11-19T01:00:00Z'),
  )
})

const send = async (endpoint: string, parameters: Parameters, accept: string, method = 'POST') => {
  const response = await fetch(`${world.address}/v1.0/${endpoint}`, {
    method,
    headers: { Accept: accept },
    body: JSON.stringify({ token, ...parameters }),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}
const linesOf = (text: string) => text.trimEnd().split('\n')
const ndjson = async (endpoint: string, parameters: Parameters) => {
  const { status, headers, text } = await send(endpoint, parameters, 'application/x-ndjson')
  assert.equal(status, 200, text)
  assert.equal(headers.get('content-type'), 'application/x-ndjson')
  assert.match(headers.get('vary')!, /Accept(?!-)/)
  const lines = linesOf(text).map((line) => JSON.parse(line))
  return { rows: lines.slice(0, -1), end: lines.at(-1) }
}
const csv = async (endpoint: string, parameters: Parameters) => {
  const { status, headers, text } = await send(endpoint, parameters, 'text/csv')
  assert.equal(status, 200, text)
  assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8; header=present')
  return { headers, lines: linesOf(text) }
}
type Body = { meta: { next: string }; result: object[] }
const json = async (endpoint: string, parameters: Parameters) =>
  (await world.ask(endpoint, { token, ...parameters })).body as Body

test('NDJSON has the rows of JSON and a last line with their number', async () => {
  for (const [endpoint, query] of [
    ['redirect', 'target.example'],
    ['reverseip', 'n2.example'],
    ['reverseip', '192.0.2.1'],
  ] as const) {
    const { rows, end } = await ndjson(endpoint, { query })
    assert.deepEqual(rows, (await json(endpoint, { query })).result)
    assert.deepEqual(end, { end: true, rows: rows.length, next: null })
  }
})

test('the cursor of the last line continues the walk in any format', async () => {
  const first = await ndjson('redirect', { query: 'target.example', limit: 2 })
  assert.equal(first.end.rows, 2)
  const second = await ndjson('redirect', { query: 'target.example', limit: 2, next: first.end.next })
  assert.deepEqual(second, { rows: [{ target: 'b.example' }], end: { end: true, rows: 1, next: null } })
  const { lines, headers } = await csv('redirect', { query: 'target.example', next: first.end.next })
  assert.deepEqual([lines, headers.get('next-cursor')], [['target', 'b.example'], null])
})

test('the history has one line per state with its type, and the types with older states', async () => {
  const { rows, end } = await ndjson('dnshistory', { query: 'txt.example', limit: 1 })
  const { result } = (await json('dnshistory', { query: 'txt.example', limit: 1 })) as unknown as {
    result: Record<string, object[]>
  }
  const expected = Object.entries(result).flatMap(([type, states]) => states.map((state) => ({ type, ...state })))
  assert.deepEqual(rows, expected)
  assert.deepEqual(end, { end: true, rows: 2, next: null, truncated: ['MX', 'TXT'] })
  const one = await ndjson('dnshistory', { query: 'txt.example', type: 'TXT', limit: 1 })
  assert.equal(typeof one.end.next, 'string')
})

test('CSV has one line per row, or per record in presentation form, and no formulas', async () => {
  const { lines, headers } = await csv('redirect', { query: 'target.example', limit: 2 })
  assert.deepEqual(lines, ['target', "'-c.example", 'a.example'])
  assert.equal(headers.get('next-cursor'), (await json('redirect', { query: 'target.example', limit: 2 })).meta.next)
  const neighbours = await csv('reverseip', { query: '2001:db8::1', limit: 1 })
  assert.deepEqual(neighbours.lines, ['target,ip,since', 'n1.example,2001:db8::1,2026-11-19T00:00:00'])
  const history = await csv('dnshistory', { query: 'txt.example' })
  assert.deepEqual(history.lines, [
    'type,first_seen,record',
    'MX,2026-11-19T01:00:00,',
    'MX,2026-11-19T00:00:00,10 mx.example',
    'TXT,2026-11-19T01:00:00,"""}],[{\\"""""',
    'TXT,2026-11-19T00:00:00,"""=cmd(\\""a, b\\"")"" ""two\\001"""',
  ])
  const first = await csv('dnshistory', { query: 'txt.example', limit: 1 })
  assert.equal(first.headers.get('truncated-types'), 'MX, TXT')
})

test('an empty result has the last line, or the header line', async () => {
  assert.deepEqual(await ndjson('redirect', { query: 'none.example' }), {
    rows: [],
    end: { end: true, rows: 0, next: null },
  })
  assert.deepEqual((await csv('redirect', { query: 'none.example' })).lines, ['target'])
})

test('errors and endpoints without rows stay JSON', async () => {
  for (const accept of ['application/x-ndjson', 'text/csv']) {
    const missing = await send('reverseip', { query: 'none.example' }, accept)
    assert.equal(missing.status, 404)
    assert.equal(JSON.parse(missing.text).result.error, 'no_data')
    const looked = await send('lookup', { query: 'n1.example' }, accept)
    assert.equal(looked.headers.get('content-type'), 'application/json; charset=utf-8')
    assert.equal(JSON.parse(looked.text).meta.rcode, 200)
  }
})

test('the default stays JSON byte for byte, and a format costs one call', async () => {
  const query = { query: 'target.example', limit: 2 }
  const ask = (accept: string) => send('redirect', query, accept)
  const expected = (await ask('application/json')).text.replace(/"next":"[^"]*"/, '')
  for (const accept of ['*/*', 'text/html, */*;q=0.8', 'application/json, text/csv;q=0.5']) {
    assert.equal((await ask(accept)).text.replace(/"next":"[^"]*"/, ''), expected)
  }
  const remaining = async (accept: string) => Number(/r=(\d+)/.exec((await ask(accept)).headers.get('ratelimit')!)?.[1])
  const before = await remaining('application/json')
  assert.equal(await remaining('text/csv'), before - 1)
  assert.equal(await remaining('application/x-ndjson'), before - 2)
})

test('a page of many rows is complete', async () => {
  const names = Array.from({ length: 4_500 }, (_, n) => `s${String(n).padStart(5, '0')}.example`)
  for (let at = 0; at < names.length; at += 500)
    await world.ingest(...names.slice(at, at + 500).map((name) => redirecting(name, 'busy.example')))
  const { rows, end } = await ndjson('redirect', { query: 'busy.example', limit: 50_000 })
  assert.deepEqual(
    rows.map(({ target }) => target),
    names,
  )
  assert.equal(end.rows, 4_500)
  assert.equal((await csv('redirect', { query: 'busy.example', limit: 50_000 })).lines.length, 4_501)
})
