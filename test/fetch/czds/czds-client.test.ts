/** Tests fetching zones from CZDS, with a server that speaks its API correctly and with faults. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { CzdsClient } from '../../../src/fetch/czds/czds-client.ts'
import { fetchZones, type ZoneFetchResult } from '../../../src/fetch/czds/fetch-zones.ts'
import { folderOf } from '../../cli/run.ts'
import { zoneOf } from '../../registrations/world.ts'
import { breakOff, czdsServer, PASSWORD, status, USER, type Zone } from './czds-server.ts'

const MODIFIED = 'Thu, 19 Nov 2026 01:02:03 GMT'
const zone = (bytes: Buffer = randomBytes(300_000), modified = MODIFIED): Zone => ({ bytes, modified })

async function world(t: TestContext, zones: Record<string, Zone>, password = PASSWORD) {
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-czds-'))
  const server = await czdsServer(t, zones)
  const waits: number[] = []
  const { signal } = new AbortController()
  const account = { user: USER, password, accounts: server.base, zones: server.base, agent: 'domaindex/0' }
  const czds = new CzdsClient(account, signal, async (milliseconds) => void waits.push(milliseconds))
  t.after(async () => {
    await czds.close()
    rmSync(folder, { recursive: true })
  })
  return {
    ...server,
    folder,
    waits,
    read: (file: string) => readFileSync(join(folder, file)),
    fetch: (zones: readonly string[] | null = null): Promise<ZoneFetchResult[]> =>
      fetchZones({
        czds,
        folder,
        zones,
        signal,
        has: async (_, __, file) => existsSync(join(folder, file)),
        onBytes() {},
        onFetched() {},
      }),
  }
}

const outcomes = (fetched: readonly ZoneFetchResult[]): string[] =>
  fetched.map(({ zone, outcome }) => `${zone} ${outcome}`)

test('all zones of the account are fetched one at a time, with one token, under their name and day', async (t) => {
  const zones = {
    com: zone(),
    'xn--p1ai': zone(undefined, 'Fri, 20 Nov 2026 00:00:00 GMT'),
    net: zone(),
  }
  const { fetch, folder, read, lines, seen, maxAtOnce } = await world(t, zones)
  assert.deepEqual(outcomes(await fetch()), ['com fetched', 'net fetched', 'xn--p1ai fetched'])
  assert.deepEqual(readdirSync(folder).sort(), [
    'com-2026-11-19.zone.gz',
    'net-2026-11-19.zone.gz',
    'xn--p1ai-2026-11-20.zone.gz',
  ])
  assert.deepEqual(read('com-2026-11-19.zone.gz'), zones.com.bytes)
  assert.equal(lines().filter((line) => line === 'POST /api/authenticate').length, 1)
  assert.equal(maxAtOnce(), 1)
  assert.ok(seen.every(({ headers }) => headers['user-agent'] === 'domaindex/0'))
  assert.ok(seen.every(({ line }) => !line.includes('horse')))
  const before = lines().length
  assert.deepEqual(outcomes(await fetch(['com'])), ['com there'])
  assert.deepEqual(lines().slice(before), ['GET /czds/downloads/links', 'HEAD /czds/downloads/com.zone'])
})

test('an interrupted download is resumed at the same position, within a run and in a later one', async (t) => {
  const zones = { com: zone() }
  const { fetch, folder, read, state, seen } = await world(t, zones)
  const path = 'GET /czds/downloads/com.zone'
  const haveCome = (): boolean =>
    (statSync(join(folder, '.com-2026-11-19.zone.gz.part'), { throwIfNoEntry: false })?.size ?? 0) > 0
  state.answers[path] = [breakOff(zones.com, 100_000, haveCome)]
  assert.deepEqual(outcomes(await fetch()), ['com fetched'])
  assert.deepEqual(read('com-2026-11-19.zone.gz'), zones.com.bytes)
  const { range, 'if-range': since } = seen.findLast(({ line }) => line === path)!.headers
  assert.match(range!, /^bytes=[1-9]\d*-$/)
  assert.equal(since, MODIFIED)
  rmSync(join(folder, 'com-2026-11-19.zone.gz'))
  state.answers[path] = Array.from({ length: 5 }, () => breakOff(zones.com, 90_000, haveCome))
  const [broken] = await fetch()
  assert.match((broken as { reason: string }).reason, /^the download broke off 5 times/)
  assert.deepEqual(readdirSync(folder), ['.com-2026-11-19.zone.gz.part'])
  assert.deepEqual(outcomes(await fetch()), ['com fetched'])
  assert.deepEqual(read('com-2026-11-19.zone.gz'), zones.com.bytes)
  assert.deepEqual(readdirSync(folder), ['com-2026-11-19.zone.gz'])
})

test('if a server does not support ranges, or a zone was rebuilt meanwhile, the download starts again', async (t) => {
  const zones: Record<string, Zone> = { com: zone() }
  const { fetch, read, state, folder } = await world(t, zones)
  state.isRangeRead = false
  writeFileSync(join(folder, '.com-2026-11-19.zone.gz.part'), 'half')
  assert.deepEqual(outcomes(await fetch()), ['com fetched'])
  assert.deepEqual(read('com-2026-11-19.zone.gz'), zones.com!.bytes)
  state.isRangeRead = true
  writeFileSync(join(folder, '.com-2026-11-20.zone.gz.part'), 'half')
  writeFileSync(join(folder, '.com-2026-11-18.zone.gz.part'), 'half')
  zones.com = zone(undefined, 'Fri, 20 Nov 2026 09:00:00 GMT')
  state.answers['GET /czds/downloads/com.zone'] = [breakOff(zones.com, 0)]
  assert.deepEqual(outcomes(await fetch()), ['com fetched'])
  assert.deepEqual(read('com-2026-11-20.zone.gz').length, zones.com.bytes.length)
  assert.deepEqual(readdirSync(folder).sort(), ['com-2026-11-19.zone.gz', 'com-2026-11-20.zone.gz'])
})

test('an expired token is replaced once', async (t) => {
  const { fetch, state, lines } = await world(t, { com: zone(), net: zone() })
  await fetch(['com'])
  state.token = 'token-2'
  assert.deepEqual(outcomes(await fetch(['net'])), ['net fetched'])
  assert.equal(lines().filter((line) => line === 'POST /api/authenticate').length, 2)
  state.answers['GET /czds/downloads/links'] = [status(401), status(401)]
  await assert.rejects(fetch(), /the account is not approved for it \(status 401\)/)
})

test('a busy server is asked again after the time that it requests, but not forever', async (t) => {
  const { fetch, state, waits, lines } = await world(t, { com: zone() })
  const link = 'HEAD /czds/downloads/com.zone'
  state.answers[link] = [status(429, { 'retry-after': '30' }), status(503)]
  assert.deepEqual(outcomes(await fetch()), ['com fetched'])
  assert.deepEqual(waits, [30_000, 10_000])
  state.answers['GET /czds/downloads/links'] = Array.from({ length: 9 }, () => status(503))
  await assert.rejects(fetch(), /the server responded with status 503/)
  assert.equal(lines().filter((line) => line === 'GET /czds/downloads/links').length, 5)
})

test('a zone that cannot be downloaded does not block the others', async (t) => {
  const { fetch, state } = await world(t, {
    biz: zone(Buffer.alloc(0)),
    com: zone(),
    info: zone(undefined, 'yesterday'),
    net: zone(),
    org: zone(),
  })
  state.answers['HEAD /czds/downloads/net.zone'] = [status(403)]
  const fetched = await fetch(['biz', 'com', 'de', 'info', 'net', 'org'])
  assert.deepEqual(outcomes(fetched), [
    'biz failed',
    'com fetched',
    'de failed',
    'info failed',
    'net failed',
    'org fetched',
  ])
  assert.deepEqual(
    fetched.flatMap((each) => (each.outcome === 'failed' ? each.reason : [])),
    [
      'it is empty',
      'the account is not approved for it',
      'the server does not send its day (Last-Modified)',
      'the account is not approved for it (status 403): check its approvals at CZDS',
    ],
  )
})

test('the token goes to no other host, and a response that is not a list, or not a token, is rejected', async (t) => {
  const { fetch, state, base } = await world(t, { com: zone() })
  for (const [link, words] of [
    ['https://evil.example/czds/downloads/com.zone', /at an address of another owner/],
    [base.replace('127.0.0.1', 'localhost').concat('/com.zone'), /at an address of another owner/],
    ['com.zone', /at an address of another owner/],
    [`${base}/czds/downloads/..%2f..%2fetc.zone`, /is not the address of a zone/],
    [`${base}/czds/downloads/com`, /is not the address of a zone/],
  ] as const) {
    state.links = [link]
    await assert.rejects(fetch(), words, link)
  }
  state.answers['GET /czds/downloads/links'] = [
    (_, response) => response.end('{"a":1}'),
    (_, response) => response.end('<p>sign in first</p>'),
    (_, response) => response.writeHead(200, { 'content-length': '9' }).write('[', () => response.destroy()),
    (_, response) => response.end('x'.repeat(5_000_000)),
  ]
  await assert.rejects(fetch(), /did not respond with a list of zones/)
  await assert.rejects(fetch(), /^InputError: .* did not respond with a list of zones/)
  await assert.rejects(fetch(), /^InputError: a response of CZDS broke off/)
  await assert.rejects(fetch(), /more than 4194304 bytes/)
  const other = await world(t, {})
  other.state.answers['POST /api/authenticate'] = [(_, response) => response.end('{"accessToken":"a\\r\\nb"}')]
  await assert.rejects(other.fetch(), /issued no token \(status 200\)/)
})

suite('domaindex fetch czds', () => {
  test('zones are put into the inbox and imported from there, and no output contains the password', async (t) => {
    const zones = { test: zone(gzipSync(zoneOf(['a', 'b']))), other: zone(Buffer.from('no zone 1')) }
    const { base } = await czdsServer(t, zones)
    const { run, path } = folderOf(t)
    const env = {
      DOMAINDEX_CZDS_USER: USER,
      DOMAINDEX_CZDS_PASSWORD: PASSWORD,
      DOMAINDEX_CZDS_ACCOUNTS: base,
      DOMAINDEX_CZDS_ZONES: base,
    }
    const fetched = await run(['fetch', 'czds'], { env })
    assert.deepEqual([fetched.code, fetched.stderr], [0, ''])
    assert.match(
      fetched.stdout,
      /^other: other-2026-11-19\.zone\.gz, 9 bytes\ntest: test-2026-11-19\.zone\.gz, \d+ bytes\n$/,
    )
    for (const file of ['other', 'test']) utimesSync(path(`data/inbox/${file}-2026-11-19.zone.gz`), 1, 1)
    const taken = await run(['import', '--inbox'])
    assert.equal(taken.code, 1)
    assert.match(
      taken.stdout,
      /^test-2026-11-19\.zone\.gz: zone:test 2026-11-19, names 2, registered 0, dropped 0, unusable 0, new 2\n/,
    )
    assert.match(taken.stderr, /^other-2026-11-19\.zone\.gz: line 1: /)
    const again = await run(['fetch', 'czds', 'test', '.OTHER'], { env })
    assert.equal(
      again.stdout,
      'test: test-2026-11-19.zone.gz is there already\nother: other-2026-11-19.zone.gz is there already\n',
    )
    const wrong = await run(['fetch', 'czds'], { env: { ...env, DOMAINDEX_CZDS_PASSWORD: 'battery staple' } })
    assert.equal(wrong.code, 1)
    assert.match(
      wrong.stderr,
      /^domaindex: CZDS does not accept the account: check DOMAINDEX_CZDS_USER and DOMAINDEX_CZDS_PASSWORD\n$/,
    )
    const unset = await run(['fetch', 'czds'])
    assert.match(unset.stderr, /have to name an account at CZDS/)
    assert.match((await run(['config'], { env })).stdout, /DOMAINDEX_CZDS_PASSWORD +set\n/)
    const plain = await run(['config'], { env: { DOMAINDEX_CZDS_ZONES: 'http://czds.example' } })
    assert.match(plain.stderr, /DOMAINDEX_CZDS_ZONES must be an https:\/\/ URL/)
  })
})
