/** /app/files/NAME: a download by a signed link, whole or in ranges, charged once a day. */

import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { fetchFile, noise, publish } from '../spec/files/files.ts'
import { makeWorld, type Wanted } from '../spec/world.ts'
import { until } from '../until.ts'
import { type Visitor, visit } from './sessions.ts'

type Files = { days: { day: string; files: { kind: string; etag: string; link: string }[] }[] }

const world = await makeWorld()
const CONTENT = noise(300_000)
const DAY = '2026-11-18'
const REPLACED = '2026-11-17'

before(async () => {
  await publish(world, `${DAY}.txt.gz`, CONTENT)
  await publish(world, `${REPLACED}.txt.gz`, noise(100, 'before'))
})

async function linkOf(visitor: Visitor, day = DAY): Promise<string> {
  const { days } = await visitor.read<Files>('/app/files?month=2026-11')
  return days.find((each) => each.day === day)!.files[0]!.link
}

async function visitorOf(wanted: Wanted = { periods: ['basic:2026-11-01..'] }) {
  const known = await world.account(wanted)
  const visitor = await visit(world, known.account)
  return { known, visitor, cookie: { Cookie: visitor.headers.Cookie! } }
}

const errorOf = ({ bytes }: { bytes: Buffer }): string => JSON.parse(bytes.toString()).error

/** Moves the clock for the rest of a test. */
function wait(t: TestContext, seconds: number): void {
  world.clock.now += seconds
  t.after(() => {
    world.clock.now -= seconds
  })
}

test('a link downloads the file with the cookie alone', async () => {
  const { visitor, cookie } = await visitorOf()
  const seen = await fetchFile(world, await linkOf(visitor), { headers: cookie })
  assert.equal(seen.status, 200)
  assert.deepEqual(seen.bytes, CONTENT)
  assert.match(seen.headers.get('content-disposition')!, /attachment; filename="2026-11-18.txt.gz"/)
  assert.equal(seen.headers.get('access-control-allow-origin'), null)
  assert.equal(seen.headers.get('ratelimit'), '"daily";r=24999;t=43200')
})

test('ranges resume the download, and If-Range protects it', async () => {
  const { visitor, cookie } = await visitorOf()
  const link = await linkOf(visitor)
  const first = await fetchFile(world, link, { headers: { ...cookie, Range: 'bytes=0-99' } })
  const etag = first.headers.get('etag')!
  assert.deepEqual([first.status, first.bytes], [206, CONTENT.subarray(0, 100)])
  const rest = await fetchFile(world, link, { headers: { ...cookie, Range: 'bytes=100-', 'If-Range': etag } })
  assert.deepEqual([rest.status, rest.bytes], [206, CONTENT.subarray(100)])
  const other = await fetchFile(world, link, { headers: { ...cookie, Range: 'bytes=100-', 'If-Range': '"x"' } })
  assert.deepEqual([other.status, other.bytes.length], [200, CONTENT.length])
  const known = await fetchFile(world, link, { headers: { ...cookie, 'If-None-Match': etag } })
  assert.deepEqual([known.status, known.bytes.length], [304, 0])
  const beyond = await fetchFile(world, link, { headers: { ...cookie, Range: 'bytes=300000-' } })
  assert.equal(beyond.status, 416)
})

test('a file costs one call a day, by link, by token and by its name', async () => {
  const { visitor, cookie, known } = await visitorOf()
  const link = await linkOf(visitor)
  assert.equal((await fetchFile(world, link, { method: 'HEAD', headers: cookie })).status, 200)
  for (let time = 0; time < 3; time++) assert.equal((await fetchFile(world, link, { headers: cookie })).status, 200)
  await fetchFile(world, '/v1.0/daily', { method: 'POST', body: JSON.stringify({ token: known.token, date: DAY }) })
  await fetchFile(world, `/files/${DAY}.txt.gz`, { headers: visitor.headers })
  const usage = await until(async () => {
    const counts = await world.store.ledger.usage(known.account.id, null, null)
    return counts.length > 0 ? counts : null
  })
  assert.deepEqual(
    usage.map(({ endpoint, token, calls }) => [endpoint, token, calls]),
    [['daily', 0, 1]],
  )
})

test('a link ends after 15 minutes', async (t) => {
  const { visitor, cookie } = await visitorOf()
  const link = await linkOf(visitor)
  wait(t, 899)
  assert.equal((await fetchFile(world, link, { headers: cookie })).status, 200)
  wait(t, 1)
  const seen = await fetchFile(world, link, { headers: cookie })
  assert.deepEqual([seen.status, errorOf(seen)], [400, 'link_invalid'])
})

test('a link is for the content for which it was made', async () => {
  const { visitor, cookie } = await visitorOf()
  const link = await linkOf(visitor, REPLACED)
  await publish(world, `${REPLACED}.txt.gz`, noise(100, 'after'))
  const seen = await fetchFile(world, link, { headers: cookie })
  assert.deepEqual([seen.status, errorOf(seen)], [400, 'link_invalid'])
  world.clock.ticks += 5_000
  assert.equal((await fetchFile(world, await linkOf(visitor, REPLACED), { headers: cookie })).status, 200)
})

test('a link does not outlive the right to the file', async () => {
  const { visitor, cookie, known } = await visitorOf({ addons: ['export'], periods: ['basic:2026-11-01..'] })
  const link = await linkOf(visitor)
  await world.store.ledger
    .as({ user: 'operator', origin: 'test' })
    .removePeriod(known.account.id, '2026-11-01' as never)
  world.clock.ticks += 1_000
  const seen = await fetchFile(world, link, { headers: cookie })
  assert.deepEqual([seen.status, errorOf(seen)], [403, 'plan_required'])
})

test('a wrong link is refused before anything is charged', async () => {
  const { visitor, cookie, known } = await visitorOf()
  const link = await linkOf(visitor)
  const [path = '', text = ''] = link.split('?link=')
  const altered = [...text].map((letter, at) => text.slice(0, at) + (letter === 'A' ? 'B' : 'A') + text.slice(at + 1))
  const parts = text.split('.')
  const wrong = [
    ...altered.filter((each) => each !== text).map((each) => `${path}?link=${each}`),
    ...[path, `${path}?link=`, `${path}?link=${text}.x`, `${path}?link=${parts.slice(0, 3).join('.')}`],
    link.replace(DAY, REPLACED),
    link.replace('.txt.gz', '-followup-7.csv.gz'),
    `/app/files/nothing.txt?link=${text}`,
  ]
  for (const each of wrong) {
    const seen = await fetchFile(world, each, { headers: cookie })
    assert.deepEqual([each, seen.status, errorOf(seen)], [each, 400, 'link_invalid'])
  }
  const { used } = await visitor.read<{ used: number }>('/app/usage')
  assert.equal(used, 0)
  assert.equal((await world.store.ledger.usage(known.account.id, null, null)).length, 0)
})
