/**
 * Downloads: what /daily, /snapshot and /files send, in which parts and under which conditions. Today is 2026-11-20.
 */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { get } from 'node:http'
import { test } from 'node:test'
import fc from 'fast-check'
import { assertRefused } from '../errors.ts'
import { makeWorld } from '../world.ts'
import { assertWhole, BUILT, fetchFile, httpDate, noise, post, publish } from './files.ts'

const world = await makeWorld()
const FILE = '2026-11-18.txt.gz'
const PATH = `/files/${FILE}`
const SIZE = 300_000
const content = noise(SIZE)
const { sha256 } = await publish(world, FILE, content)
const ETAG = `"${sha256.slice(0, 32)}"`
const { token } = await world.account({ periods: ['premium:2026-01-01..'], addons: ['export', 'enriched'] })
const ask = (headers: Record<string, string> = {}, method = 'GET') => {
  return fetchFile(world, PATH, { method, headers: { Authorization: `Bearer ${token}`, ...headers } })
}

test('a file has a strong ETag, Last-Modified, its length and its digest, and supports ranges', async () => {
  const { status, headers } = await ask()
  assert.equal(status, 200)
  assert.equal(headers.get('etag'), ETAG)
  assert.equal(headers.get('last-modified'), 'Fri, 20 Nov 2026 02:00:00 GMT')
  assert.equal(headers.get('content-length'), '300000')
  assert.equal(headers.get('repr-digest'), `sha-256=:${createHash('sha256').update(content).digest('base64')}:`)
  assert.equal(headers.get('accept-ranges'), 'bytes')
  assert.equal(headers.get('cache-control'), 'private, no-store')
  assert.ok(headers.has('request-id') && headers.has('ratelimit') && headers.has('ratelimit-policy'))
})

test('files never have Content-Encoding, whatever a client accepts', async () => {
  for (const encoding of ['gzip', 'gzip, br', '*', 'identity']) {
    assertWhole(await ask({ 'Accept-Encoding': encoding }), content, `attachment; filename="${FILE}"`)
  }
})

/** Headers that differ between two responses to the same request. */
const OWN = ['request-id', 'date', 'ratelimit', 'connection', 'keep-alive']

test('HEAD answers as GET does, without the file, and ignores ranges', async () => {
  const whole = await ask()
  for (const asked of [{}, { Range: 'bytes=5-9' }]) {
    const head = await ask(asked, 'HEAD')
    assert.equal(head.status, 200)
    assert.equal(head.bytes.length, 0)
    const reported = (headers: Headers) => [...headers].filter(([name]) => !OWN.includes(name))
    assert.deepEqual(reported(head.headers), reported(whole.headers))
  }
})

for (const [range, start, end] of [
  ['bytes=0-0', 0, 1],
  ['bytes=0-', 0, SIZE],
  ['bytes=0-299999', 0, SIZE],
  ['bytes=5-9', 5, 10],
  ['bytes=299999-', 299_999, SIZE],
  ['bytes=299999-999999999999999999999999', 299_999, SIZE],
  ['bytes=-1', 299_999, SIZE],
  ['bytes=-300000', 0, SIZE],
  ['bytes=-300001', 0, SIZE],
  ['Bytes=131071-131073', 131_071, 131_074],
  ['bytes= 5-9 ', 5, 10],
  ['bytes=,5-9,', 5, 10],
] as const) {
  test(`Range: ${range} returns that part with 206`, async () => {
    const { status, headers, bytes } = await ask({ Range: range })
    assert.equal(status, 206)
    assert.equal(headers.get('content-range'), `bytes ${start}-${end - 1}/${SIZE}`)
    assert.equal(headers.get('content-length'), String(end - start))
    assert.equal(headers.get('repr-digest'), `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`)
    assert.equal(headers.get('etag'), ETAG)
    assert.ok(bytes.equals(content.subarray(start, end)))
  })
}

for (const range of ['bytes=300000-', 'bytes=300000-300001', 'bytes=99999999999999999999-', 'bytes=-0']) {
  test(`Range: ${range} has no byte of the file: 416 without a body, with its size`, async () => {
    const { status, headers, bytes } = await ask({ Range: range })
    assert.equal(status, 416)
    assert.equal(headers.get('content-range'), `bytes */${SIZE}`)
    assert.equal(bytes.length, 0)
    assert.equal(headers.get('content-type'), null)
  })
}

for (const range of [
  'bytes=0-0,5-9',
  'bytes=0-0, -1',
  'bytes=9-5',
  'bytes=',
  'bytes',
  'bytes=a-b',
  'bytes=-',
  'bytes=1',
  'bytes=1-2-3',
  'bytes=+1-2',
  'lines=0-9',
  'bytes 0-9',
]) {
  test(`Range: ${range}, several ranges or an invalid one, returns the whole file (RFC 9110, section 14.2)`, async () => {
    assertWhole(await ask({ Range: range }), content, `attachment; filename="${FILE}"`)
  })
}

test('a download resumed at any byte gives the identical file', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(SIZE - 1), fc.boolean(), async (cut, byDate) => {
      const condition = byDate ? httpDate(BUILT) : ETAG
      const [first, rest] = [`bytes=0-${cut}`, `bytes=${cut + 1}-`]
      const before = await ask({ Range: first })
      const after = cut === SIZE - 1 ? null : await ask({ Range: rest, 'If-Range': condition })
      assert.deepEqual([before.status, after?.status ?? 206], [206, 206])
      assert.ok(Buffer.concat([before.bytes, after?.bytes ?? Buffer.alloc(0)]).equals(content))
    }),
    {
      numRuns: 30,
      examples: [
        [0, true],
        [SIZE - 1, true],
        [131_071, false],
        [131_072, false],
      ],
    },
  )
})

for (const condition of ['"another"', `W/${ETAG}`, httpDate(BUILT - 1), httpDate(BUILT + 1), 'nonsense', '*']) {
  test(`If-Range: ${condition} means another file, so the whole file is sent, also for a range outside it`, async () => {
    for (const range of ['bytes=5-9', 'bytes=300000-']) {
      assertWhole(await ask({ Range: range, 'If-Range': condition }), content, `attachment; filename="${FILE}"`)
    }
  })
}

const LATER = httpDate(BUILT + 1)
const EARLIER = httpDate(BUILT - 1)
for (const [headers, status] of [
  [{ 'If-None-Match': ETAG }, 304],
  [{ 'If-None-Match': `W/${ETAG}` }, 304],
  [{ 'If-None-Match': `"a", W/"b" ,${ETAG}` }, 304],
  [{ 'If-None-Match': '*' }, 304],
  [{ 'If-None-Match': ETAG, Range: 'bytes=0-0' }, 304],
  [{ 'If-None-Match': ETAG, Range: 'bytes=300000-' }, 304],
  [{ 'If-None-Match': '"a"' }, 200],
  [{ 'If-None-Match': '"a"', 'If-Modified-Since': LATER }, 200],
  [{ 'If-None-Match': sha256 }, 200],
  [{ 'If-Modified-Since': httpDate(BUILT) }, 304],
  [{ 'If-Modified-Since': LATER }, 304],
  [{ 'If-Modified-Since': 'Friday, 20-Nov-26 02:00:00 GMT' }, 304],
  [{ 'If-Modified-Since': 'Fri Nov 20 02:00:00 2026' }, 304],
  [{ 'If-Modified-Since': EARLIER }, 200],
  [{ 'If-Modified-Since': 'yesterday' }, 200],
  [{ 'If-Modified-Since': 'Fri, 32 Nov 2026 02:00:00 GMT' }, 200],
  [{ 'If-Match': ETAG }, 200],
  [{ 'If-Match': '*', 'If-Unmodified-Since': EARLIER }, 200],
  [{ 'If-Match': ETAG, Range: 'bytes=0-0' }, 206],
  [{ 'If-Match': `W/${ETAG}` }, 412],
  [{ 'If-Match': '"a"', Range: 'bytes=0-0' }, 412],
  [{ 'If-Match': '"a"', 'If-None-Match': ETAG }, 412],
  [{ 'If-Unmodified-Since': httpDate(BUILT) }, 200],
  [{ 'If-Unmodified-Since': EARLIER }, 412],
] as [Record<string, string>, number][]) {
  test(`${JSON.stringify(headers).replaceAll('\\"', "'")} is answered ${status}`, async () => {
    for (const method of ['GET', 'HEAD']) {
      const seen = await ask(headers, method)
      assert.equal(seen.status, method === 'HEAD' && status === 206 ? 200 : status)
      assert.equal(seen.headers.get('etag'), ETAG)
      if (status > 299) assert.equal(seen.bytes.length, 0)
    }
  })
}

test('a POST ignores Range and conditions', async () => {
  const headers = { Range: 'bytes=5-9', 'If-None-Match': ETAG, 'If-Match': '"a"', 'If-Range': ETAG }
  const seen = await fetchFile(world, '/v1.0/daily', post({ token, date: '2026-11-18' }, headers))
  assertWhole(seen, content, `attachment; filename="${FILE}"`)
})

test('GET on /daily and /snapshot takes ranges and conditions too', async () => {
  await publish(world, 'domains-2026-11-20.txt.gz', noise(999))
  for (const path of [`/v1.0/daily?token=${token}&date=2026-11-18`, `/v1.0/snapshot?token=${token}&download=1`]) {
    const part = await fetchFile(world, path, { headers: { Range: 'bytes=5-9' } })
    assert.deepEqual([part.status, part.bytes.length], [206, 5])
    const etag = part.headers.get('etag')!
    assert.equal((await fetchFile(world, path, { headers: { 'If-None-Match': etag } })).status, 304)
    assert.equal((await fetchFile(world, path, { headers: { Range: 'bytes=300000-' } })).status, 416)
    assert.equal((await fetchFile(world, path, { method: 'HEAD' })).status, 200)
  }
})

test('a build that replaces the file does not disturb running downloads, and a resumed download is never mixed', async () => {
  const name = '2026-11-17.txt.gz'
  const [former, newer] = [noise(8 * 2 ** 20, 'former'), noise(8 * 2 ** 20, 'newer')]
  const { sha256 } = await publish(world, name, former)
  const headers = { Authorization: `Bearer ${token}` }
  const download = await new Promise<Buffer>((resolve, reject) => {
    get(`${world.address}/files/${name}`, { headers }, async (response) => {
      const pieces: Buffer[] = []
      for await (const piece of response) {
        if (pieces.length === 0) await publish(world, name, newer)
        pieces.push(piece)
      }
      resolve(Buffer.concat(pieces))
    }).on('error', reject)
  })
  assert.ok(download.equals(former))
  const resumed = { ...headers, Range: 'bytes=1000-', 'If-Range': `"${sha256.slice(0, 32)}"` }
  const seen = await fetchFile(world, `/files/${name}`, { headers: resumed })
  assert.equal(seen.status, 200)
  assert.ok(seen.bytes.equals(newer))
})

test('a web page may request parts of files and read their headers', async () => {
  const preflight = await fetchFile(world, PATH, { method: 'OPTIONS' })
  assert.equal(preflight.status, 204)
  for (const name of ['Range', 'If-Range', 'Authorization']) {
    assert.match(preflight.headers.get('access-control-allow-headers')!, new RegExp(`\\b${name}\\b`))
  }
  const { headers } = await ask()
  for (const name of ['ETag', 'Content-Range', 'Repr-Digest', 'Content-Disposition']) {
    assert.match(headers.get('access-control-expose-headers')!, new RegExp(`\\b${name}\\b`))
  }
})

test('/files requires a bearer token: 401 at the top level, with a challenge', async () => {
  const bare = await world.send(PATH, {})
  assertRefused(bare, '', 'token_missing')
  assert.equal(bare.headers.get('www-authenticate'), 'Bearer')
  assertRefused(await world.send(`${PATH}?token=${token}`, {}), '', 'token_missing')
  assertRefused(await world.send(PATH, { headers: { Authorization: 'Bearer nonsense' } }), '', 'token_invalid')
  const post = await world.send(PATH, { method: 'POST', headers: { Authorization: `Bearer ${token}` } })
  assertRefused(post, '', 'endpoint_unknown')
})

const of = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } })

test('/files sends each file to accounts that may download it through /daily or /snapshot', async () => {
  await publish(world, 'domains-2026-11-19.txt.gz', noise(10))
  await publish(world, 'domains-enriched-2026-11-19.csv.gz', noise(11))
  await publish(world, '2026-11-10-followup-7.csv.gz', noise(12))
  const seen = async (account: Parameters<typeof world.account>[0], name: string) => {
    const { token } = await world.account(account)
    const { status, bytes } = await fetchFile(world, `/files/${name}`, of(token))
    return status === 200 ? bytes.length : `${status} ${JSON.parse(bytes.toString()).error}`
  }
  const followup = '2026-11-10-followup-7.csv.gz'
  assert.equal(await seen({}, FILE), '403 plan_required')
  assert.equal(await seen({ plan: 'basic' }, FILE), '403 no_subscription')
  assert.equal(await seen({ periods: ['basic:2026-11-20..'] }, FILE), '403 before_subscription')
  assert.equal(await seen({ periods: ['basic:2026-11-01..2026-11-18'] }, FILE), '403 after_subscription')
  assert.equal(
    await seen({ periods: ['basic:2026-11-01..2026-11-18', 'basic:2026-11-20..'] }, FILE),
    '403 outside_subscription',
  )
  assert.equal(await seen({ periods: ['basic:2026-11-01..'] }, FILE), SIZE)
  assert.equal(await seen({ periods: ['basic:2026-11-01..'] }, followup), '403 premium_required')
  assert.equal(await seen({ periods: ['premium:2026-11-01..'] }, followup), 12)
  assert.equal(await seen({}, 'domains-2026-11-19.txt.gz'), '403 addon_required')
  assert.equal(await seen({ addons: ['export'] }, 'domains-2026-11-19.txt.gz'), 10)
  assert.equal(await seen({ addons: ['export'] }, 'domains-enriched-2026-11-19.csv.gz'), '403 addon_required')
  assert.equal(await seen({ addons: ['export', 'enriched'] }, 'domains-enriched-2026-11-19.csv.gz'), 11)
})

for (const name of [
  'x',
  '2026-11-18',
  '2026-11-16.txt.gz',
  'domains-2026-01-01.txt.gz',
  '..%2F2026-11-18.txt.gz',
  '%00',
]) {
  test(`404 no_data: /files/${name}, which does not exist`, async () => {
    assertRefused(await world.send(`/files/${name}`, of(token)), '', 'no_data')
  })
}

test('a held file is served by no endpoint', async () => {
  await publish(world, '2026-11-15.txt.gz', noise(10), { held: 'ten times as many as usual' })
  assertRefused(await world.send('/files/2026-11-15.txt.gz', of(token)), '', 'no_data')
  assertRefused(await world.ask('daily', { token, date: '2026-11-15' }), 'daily', 'no_data')
})
