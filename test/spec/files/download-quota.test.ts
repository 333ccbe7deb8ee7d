/** The cost of downloads: one call per account, file and UTC day, for any number of downloads and any ranges. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dayOf } from '../../../src/values/time.ts'
import { assertRefused } from '../errors.ts'
import { type Known, makeWorld, NOON } from '../world.ts'
import { fetchFile, noise, post, publish } from './files.ts'

const world = await makeWorld()
await publish(world, '2026-11-18.txt.gz', noise(5_000))
await publish(world, '2026-11-17.txt.gz', noise(6_000))
await publish(world, 'domains-2026-11-20.txt.gz', noise(7_000))
const PATH = '/files/2026-11-18.txt.gz'

const holder = () => world.account({ periods: ['premium:2026-01-01..2026-11-19'], addons: ['export'] })
const used = ({ account }: Known) => world.store.ledger.usedUnits(account.id, dayOf(world.clock.now))
const bearer = ({ token }: Known, more: Record<string, string> = {}) => {
  return { headers: { Authorization: `Bearer ${token}`, ...more } }
}
const statusOf = async (path: string, how: RequestInit) => (await fetchFile(world, path, how)).status

/** Spends units of the free plan's 100 until this many are left. */
async function leave({ account }: Known, left: number): Promise<void> {
  const ask = { account: account.id, day: dayOf(world.clock.now), limit: 100, requested: 1, holder: 'test' }
  while (ask.limit - (await world.store.ledger.usedUnits(ask.account, ask.day)) > left)
    await world.store.ledger.takeQuota(ask)
}

test('a file costs one call per day, for any number of downloads, any ranges and any path', async () => {
  const known = await holder()
  const other = await world.token(known.account)
  const { token } = known
  assert.equal(await statusOf(PATH, bearer(known)), 200)
  for (const range of ['bytes=0-9', 'bytes=10-', 'bytes=-1']) {
    assert.equal(await statusOf(PATH, bearer(known, { Range: range })), 206)
  }
  assert.equal(await statusOf('/v1.0/daily', post({ token, date: '2026-11-18' })), 200)
  assert.equal(await statusOf(`/v1.0/daily?token=${other}&date=2026-11-18`, {}), 200)
  assert.equal(await used(known), 1)
  assert.equal(await statusOf('/files/2026-11-17.txt.gz', bearer(known)), 200)
  assert.equal(await used(known), 2)
  for (const _ of [1, 2]) assert.equal(await statusOf('/v1.0/snapshot', post({ token, download: 1 })), 200)
  assert.equal(await statusOf('/files/domains-2026-11-20.txt.gz', bearer(known)), 200)
  assert.equal(await used(known), 3)
})

test('a newer revision of a file paid today costs nothing more, and one call again tomorrow', async () => {
  const known = await holder()
  await statusOf(PATH, bearer(known))
  await publish(world, '2026-11-18.txt.gz', noise(5_001))
  await statusOf(PATH, bearer(known))
  assert.equal(await used(known), 1)
  world.clock.now += 43_200
  await statusOf(PATH, bearer(known))
  await statusOf(PATH, bearer(known))
  assert.equal(await used(known), 1)
  world.clock.now = NOON
})

test('HEAD, 304, 412 and 416 cost nothing, and neither do 401 and 403', async () => {
  const known = await holder()
  const etag = (await fetchFile(world, PATH, { method: 'HEAD', ...bearer(known) })).headers.get('etag')!
  assert.equal(await statusOf(PATH, bearer(known, { 'If-None-Match': etag })), 304)
  assert.equal(await statusOf(PATH, bearer(known, { 'If-Match': '"a"' })), 412)
  assert.equal(await statusOf(PATH, bearer(known, { Range: 'bytes=99999-' })), 416)
  assert.equal(await statusOf('/files/domains-enriched-2026-11-20.csv.gz', bearer(known)), 403)
  assert.equal(await statusOf('/v1.0/daily', post({ token: known.token, date: '2026-11-19' })), 403)
  assert.equal(await statusOf('/v1.0/daily', post({ token: known.token, date: 'x' })), 400)
  assert.equal(await used(known), 0)
})

test('404 no_data costs a call each time except by HEAD, and so does the report of a snapshot', async () => {
  const known = await holder()
  const { token } = known
  const daily = { token, date: '2026-11-01' }
  assertRefused(await world.ask('daily', daily), 'daily', 'no_data')
  assertRefused(await world.ask('daily', daily), 'daily', 'no_data')
  assert.equal(await statusOf('/files/2026-11-01.txt.gz', { method: 'HEAD', ...bearer(known) }), 404)
  assert.equal((await world.ask('snapshot', { token })).status, 200)
  assert.equal((await world.ask('snapshot', { token })).status, 200)
  assert.equal(await used(known), 4)
})

test('without units left, a file paid today can be downloaded whole, in ranges and by HEAD; everything else is 429', async () => {
  const known = await holder()
  const { token } = known
  await leave(known, 1)
  const first = await fetchFile(world, PATH, bearer(known, { Range: 'bytes=0-9' }))
  assert.match(first.headers.get('ratelimit')!, /^"daily";r=0;/)
  assert.equal(await statusOf(PATH, bearer(known, { Range: 'bytes=10-' })), 206)
  assert.equal(await statusOf(PATH, { method: 'HEAD', ...bearer(known) }), 200)
  assert.equal(await statusOf(PATH, bearer(known, { Range: 'bytes=99999-' })), 416)
  assert.equal(await statusOf('/v1.0/daily', post({ token, date: '2026-11-18' })), 200)
  for (const path of ['/files/2026-11-17.txt.gz', '/files/x', '/files/domains-enriched-2026-11-20.csv.gz']) {
    const seen = await world.send(path, bearer(known))
    assertRefused(seen, '', 'rate_limited', { limit: 100, used: 100 })
    assert.equal(seen.headers.get('retry-after'), '43200')
    assert.match(seen.headers.get('ratelimit')!, /^"daily";r=0;/)
  }
  assert.equal(await statusOf('/files/2026-11-17.txt.gz', { method: 'HEAD', ...bearer(known) }), 429)
})

test('quota (429) comes before plan, add-on, parameters and data', async () => {
  const known = await world.account()
  await leave(known, 0)
  for (const [endpoint, parameters] of [
    ['daily', { date: 'x' }],
    ['daily', {}],
    ['snapshot', { download: '1' }],
    ['snapshot', { download: '1', enriched: '1' }],
  ] as const) {
    const seen = await world.ask(endpoint, { token: known.token, ...parameters })
    assertRefused(seen, endpoint, 'rate_limited', { limit: 100, used: 100 })
  }
})

test('downloaded at once over two processes, the last unit pays for all, and is spent once', async () => {
  const known = await holder()
  await leave(known, 1)
  const addresses = [world.address]
  await world.reopen()
  addresses.push(world.address)
  const crowd = Array.from({ length: 40 }, async (_, index) => {
    const headers = { Authorization: `Bearer ${known.token}`, Range: `bytes=${index}-${index}` }
    const response = await fetch(`${addresses[index % 2]}${PATH}`, { headers })
    await response.arrayBuffer()
    return response.status
  })
  assert.deepEqual(new Set(await Promise.all(crowd)), new Set([206]))
  assert.equal(await used(known), 100)
})

test('the usage counts a download once, as a call of its endpoint', async () => {
  const known = await holder()
  for (const path of [PATH, PATH, '/files/domains-2026-11-20.txt.gz']) await statusOf(path, bearer(known))
  const usage = async () => world.store.ledger.usage(known.account.id, dayOf(NOON), null)
  while ((await usage()).length < 2) await new Promise(setImmediate)
  assert.deepEqual(
    (await usage()).map(({ day, endpoint, calls }) => [day, endpoint, calls]),
    [
      ['2026-11-20', 'daily', 1],
      ['2026-11-20', 'snapshot', 1],
    ],
  )
})
