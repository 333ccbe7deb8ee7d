/** The reader of plain queries: what it keeps of earlier requests never changes what it reads. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { PlainQueryReader } from '../../../../src/api/http/direct/plain-query.ts'

const FIELDS = [
  'Host: a',
  'Accept: text/csv',
  'accept: */*',
  'Connection: keep-alive',
  'Connection: close',
  'TE: x',
  ': b',
]
const OTHER_LENGTHS = [[], ['0'], ['3'], ['02'], [' 2\t'], ['2', '2']]
const common = { weight: 8 }
const REQUEST = fc
  .record({
    line: fc.constantFrom('POST /v1.0/lookup HTTP/1.1', 'POST /v1.0/redirect HTTP/1.1', 'GET /v1.0/lookup HTTP/1.1'),
    fields: fc.oneof(
      { ...common, arbitrary: fc.constantFrom([], FIELDS.slice(0, 1), FIELDS.slice(0, 2)) },
      { weight: 1, arbitrary: fc.array(fc.constantFrom(...FIELDS), { maxLength: 3 }) },
    ),
    body: fc.constantFrom('{}', '{ }', '{}\r', 'ü', ''),
    lengths: fc.oneof(
      { ...common, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: fc.constantFrom(...OTHER_LENGTHS) },
    ),
    end: fc.oneof(
      { ...common, arbitrary: fc.constant('\r\n\r\n') },
      { weight: 1, arbitrary: fc.constantFrom('\r\n', '\n\n', '') },
    ),
  })
  .map(({ line, fields, lengths, body, end }) => {
    const own = (lengths ?? [Buffer.byteLength(body)]).map((length) => `Content-Length:${length}`)
    return Buffer.from([line, ...fields, ...own].join('\r\n') + end + body)
  })

test('a reader that knows the heads of earlier requests reads what a new one reads', () => {
  const outcomes = { null: 0, query: 0, again: 0 }
  fc.assert(
    fc.property(fc.array(REQUEST, { maxLength: 30, size: 'max' }), (requests) => {
      const reader = new PlainQueryReader()
      const heads = new Set<object>()
      for (const bytes of requests) {
        const query = reader.read(bytes)
        assert.deepEqual(query, new PlainQueryReader().read(bytes))
        if (query === null) outcomes.null++
        else outcomes[heads.has(query.headers) ? 'again' : 'query']++
        if (query !== null) heads.add(query.headers)
      }
    }),
  )
  for (const [outcome, count] of Object.entries(outcomes)) assert.ok(count > 20, `${outcome}: ${count}`)
})

test('a reader keeps a bounded number of heads, and reads queries with any number of them', () => {
  const reader = new PlainQueryReader()
  const read = (accept: number): object => {
    const query = reader.read(
      Buffer.from(`POST /v1.0/lookup HTTP/1.1\r\nAccept: ${accept}\r\nContent-Length: 2\r\n\r\n{}`),
    )
    assert.deepEqual(query, { path: '/v1.0/lookup', headers: { accept: String(accept) }, body: '{}' })
    return query!.headers
  }
  const first = read(0)
  assert.equal(read(0), first)
  for (let accept = 1; accept <= 256; accept++) read(accept)
  assert.notEqual(read(0), first)
})
