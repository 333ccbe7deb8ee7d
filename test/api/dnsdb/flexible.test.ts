/** Flexible searches of the DNSDB API: names by a pattern or an expression, with the types of their records. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask, at, dnsdbWorld, EIGHT, NINE, type Row, stream, TEN } from './world.ts'

const world = await dnsdbWorld()
const { token } = await world.account({ plan: 'premium' })

async function found(path: string): Promise<Row[]> {
  const { rows, end } = await stream(world, path, token)
  assert.deepEqual(end, { cond: 'succeeded' }, path)
  return rows
}
const row = (rrname: string, rrtype: string, first: string, last: string, count: number): Row => ({
  ...{ rrname, rrtype, count, time_first: at(first), time_last: at(last) },
})
const texts = (rows: readonly Row[]) => rows.map(({ rrname, rrtype }) => `${rrname} ${rrtype}`)

test('a row is a name and a type, from the first to the last time that it had records', async () => {
  const rows = [
    row('shop.example.', 'A', EIGHT, NINE, 2),
    row('shop.example.', 'MX', NINE, NINE, 1),
    row('shop.example.', 'TXT', NINE, NINE, 1),
    row('shop.example.', 'NS', NINE, NINE, 1),
    row('shop.example.', 'SOA', EIGHT, NINE, 2),
    row('www.shop.example.', 'A', EIGHT, TEN, 3),
  ]
  for (const path of [
    'glob/rrnames/*shop.example.',
    'regex/rrnames/(^|\\.)SHOP\\.example\\.$',
    'glob/rrnames/*s?op.exam*/ANY',
  ])
    assert.deepEqual(await found(encodeURI(path).replace('?', '%3F')), rows, path)
})

test('a type, an excluded pattern, a fence, a limit and an offset select rows', async () => {
  assert.deepEqual(texts(await found('glob/rrnames/*shop.example./mx')), ['shop.example. MX'])
  assert.deepEqual(texts(await found('glob/rrnames/*shop.example.?exclude=shop*')), ['www.shop.example. A'])
  assert.deepEqual(texts(await found('regex/rrnames/shop/A?exclude=^www')), ['shop.example. A'])
  assert.deepEqual(texts(await found(`glob/rrnames/*shop*?time_last_after=${at(NINE)}`)), ['www.shop.example. A'])
  const { rows, end } = await stream(world, 'glob/rrnames/*shop*?limit=1&offset=2', token)
  assert.deepEqual([texts(rows), end.cond], [['shop.example. TXT'], 'limited'])
  assert.deepEqual(await found('glob/rrnames/*.nowhere.'), [])
})

test('names without records have no rows, and names that vanished have those that they had', async () => {
  assert.deepEqual(texts(await found('glob/rrnames/gone*')), ['gone.example. A'])
})

test('without verbose, rows have the name and the type alone; with humantime, times are texts', async () => {
  assert.deepEqual(await found('glob/rrnames/gone*?verbose=f'), [{ rrname: 'gone.example.', rrtype: 'A' }])
  const [human] = await found('glob/rrnames/gone*?humantime=t')
  assert.deepEqual([human!.time_first, human!.time_last], [EIGHT, EIGHT])
})

test('a wrong search is refused with a line of text', async () => {
  for (const [path, message] of [
    ['glob/rrnames/*.example', /all names end with a dot/],
    ['glob/rrnames/*a*', /has no 3 fixed characters in a row/],
    ['regex/rrnames/shop(', /a group has no end/],
    ['glob/rrnames/*shop*?exclude=%5B', /^Error: exclude: The pattern is wrong/],
    ['glob/rrnames/*shop*/NOTYPE', /record type "NOTYPE" is unknown/],
    ['glob/rrnames/*shop*?verbose=maybe', /verbose is true or false/],
  ] as const) {
    const { status, text } = await ask(world, path, token)
    assert.equal(status, 400, path)
    assert.match(text, message)
  }
  assert.equal((await ask(world, 'glob/rdata/*shop*', token)).status, 404)
  const free = await world.account()
  assert.equal((await ask(world, 'glob/rrnames/*shop*', free.token)).status, 403)
})
