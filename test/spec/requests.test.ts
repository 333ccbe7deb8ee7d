/** Requests: how parameters of any JSON type are read, and the maximum size of a body. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { assertRefused } from './errors.ts'
import { redirecting } from './observations.ts'
import { metaOf } from './walks.ts'
import { makeWorld } from './world.ts'

const world = await makeWorld()
const { token } = await world.account({ plan: 'basic' })
before(async () => {
  const sources = Array.from({ length: 12 }, (_, index) => `source${index}.example`)
  await world.ingest(...sources.map((source) => redirecting(source, 'hub.example')))
})

const post = (body: string) => world.send('/v1.0/redirect', { method: 'POST', body })
const get = (query: string) => world.send(`/v1.0/redirect?${query}`, {})

for (const [value, applied] of [
  [5, 5],
  ['5', 5],
  [' 5 ', 5],
  ['005', 5],
  [5.0, 5],
  [1, 1],
  [10_001, 10_000],
  ['10001', 10_000],
  [1e300, 10_000],
  ['9'.repeat(400), 10_000],
  [0, 1000],
  ['0', 1000],
  [-1, 1000],
  ['-1', 1000],
  [1.5, 1000],
  ['1.5', 1000],
  ['5 rows', 1000],
  ['five', 1000],
  ['', 1000],
  [null, 1000],
  [true, 1000],
  [[5], 1000],
  [{}, 1000],
] as const) {
  const shown = JSON.stringify(value).slice(0, 20)
  test(`a limit that is not a positive whole number counts as not sent: ${shown} applies ${applied}`, async () => {
    const meta = metaOf(await world.ask('redirect', { token, query: 'hub.example', limit: value }))
    assert.equal(meta.limit, applied)
    assert.equal(meta.max_limit, 10_000)
  })
}

test('limit in the query string', async () => {
  for (const [text, applied] of [
    ['5', 5],
    ['0', 1000],
    ['-5', 1000],
    ['', 1000],
    ['x', 1000],
    ['99999999', 10_000],
  ]) {
    assert.equal(metaOf(await get(`token=${token}&query=hub.example&limit=${text}`)).limit, applied)
  }
})

test('a number that is valid in JSON but too large for a double counts as the largest', async () => {
  assert.equal(metaOf(await post(`{"token":"${token}","query":"hub.example","limit":1e999}`)).limit, 10_000)
  assert.equal(metaOf(await post(`{"token":"${token}","query":"hub.example","limit":-1e999}`)).limit, 1000)
})

test('of repeated parameters the last one counts', async () => {
  const seen = await get(`token=x&query=nodot&limit=3&query=hub.example&limit=4&token=${token}`)
  assert.equal(seen.status, 200)
  assert.equal(metaOf(seen).limit, 4)
  assertRefused(await get(`token=${token}&query=hub.example&query=`), 'redirect', 'query_missing')
  assert.equal((await post(`{"query":"nodot","token":"${token}","query":"hub.example"}`)).status, 200)
})

test('unknown parameters are ignored, whatever their names', async () => {
  const more = ['"__proto__":{"query":"nodot","limit":1}', '"constructor":1', '"":2', '"toString":null', '"Query":"x"']
  const seen = await post(`{"token":"${token}","query":"hub.example",${more.join()}}`)
  assert.equal(seen.status, 200)
  assert.equal(metaOf(seen).limit, 1000)
  const inAddress = `token=${token}&query=hub.example&__proto__[limit]=1&limit[]=1&hasOwnProperty=1&a&=b&&%zz`
  assert.equal(metaOf(await get(inAddress)).limit, 1000)
})

test('an object does not inherit parameters', async () => {
  assertRefused(await post(`{"__proto__":{"token":"${token}","query":"hub.example"}}`), 'redirect', 'token_missing')
  assertRefused(await post(`{"token":"${token}","__proto__":{"query":"hub.example"}}`), 'redirect', 'query_missing')
})

test('a query string is decoded as forms are: percent-encoding as UTF-8, + as a space', async () => {
  assert.equal(metaOf(await get(`token=${token}&query=h%75b%2Eexample`)).query, 'hub.example')
  assert.equal(metaOf(await get(`token=${token}&query=+hub.example%20`)).query, 'hub.example')
  assert.equal(metaOf(await get(`token=${token}&query=b%C3%BCcher.example`)).query, 'xn--bcher-kva.example')
  for (const query of ['b%FCcher.example', 'hub+.example', 'a%00.example', 'a%2Fb.example', '%zz.example']) {
    assertRefused(await get(`token=${token}&query=${query}`), 'redirect', 'domain_format')
  }
})

test('a body of 64 KiB is read, and one byte more is 413 body_too_large, in the format of the endpoint', async () => {
  const start = `{"token":"${token}","query":"hub.example","pad":"`
  const fill = (bytes: number) => `${start}${'x'.repeat(bytes - start.length - 2)}"}`
  assert.equal(fill(65_536).length, 65_536)
  assert.equal((await post(fill(65_536))).status, 200)
  for (const endpoint of ['lookup', 'redirect', 'reverseip', 'dnshistory', 'daily', 'snapshot', 'similar']) {
    const seen = await world.send(`/v1.0/${endpoint}`, { method: 'POST', body: fill(65_537) })
    assertRefused(seen, endpoint, 'body_too_large')
  }
})

test('413 comes before the token check, is counted in bytes, and holds for bodies of unknown length', async () => {
  assertRefused(await post('x'.repeat(65_537)), 'redirect', 'body_too_large')
  assertRefused(await post('ü'.repeat(32_769)), 'redirect', 'body_too_large')
  const chunks = new ReadableStream({
    start(controller) {
      for (let count = 0; count < 70; count++) controller.enqueue(new Uint8Array(1024))
      controller.close()
    },
  })
  const streamed = await world.send('/v1.0/redirect', { method: 'POST', body: chunks, duplex: 'half' })
  assertRefused(streamed, 'redirect', 'body_too_large')
})

test('a body of 10 MB gets its response', async () => {
  assertRefused(await post('x'.repeat(10_000_000)), 'redirect', 'body_too_large')
})

test('a body that is compressed, or in an encoding other than UTF-8, is not a JSON object', async () => {
  const text = `{"token":"${token}","query":"hub.example"}`
  for (const body of [Buffer.from(text, 'utf16le'), Buffer.from([0x1f, 0x8b, 8, 0])]) {
    const seen = await world.send('/v1.0/redirect', { method: 'POST', body })
    assertRefused(seen, 'redirect', 'token_missing')
  }
})

test('deeply nested JSON is read like any other', async () => {
  const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`
  assert.equal((await post(`{"token":"${token}","query":"hub.example","deep":${deep}}`)).status, 200)
})
