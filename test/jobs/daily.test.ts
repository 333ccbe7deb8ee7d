/** Daily files: their content, their manifests, and when they are held. */

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { BuildFault } from '../../src/jobs/file-store/build-fault.ts'
import { fileName } from '../../src/jobs/file-store/file-store.ts'
import { checkQuality } from '../../src/jobs/quality-check.ts'
import { addDays, type Day } from '../../src/values/time.ts'
import { assertWhole, fetchFile, post } from '../spec/files/files.ts'
import { makeWorld, type World } from '../spec/world.ts'
import { DAY, figures, makeDaily, makeDays, some, textOf } from './built.ts'

const PREMIUM = { periods: ['premium:2026-01-01..'] }
const BOUNDS = { min: 0.2, max: 5, minDifference: 5 }

async function fetchDay(world: World, token: string, date: Day = DAY) {
  return fetchFile(world, '/v1.0/daily', post({ token, date }))
}

test('a daily file has one name per line, and its manifest describes the content', async () => {
  const world = await makeWorld()
  const { manifest, isNew } = await makeDaily(world, DAY, ['a.example', 'b.example', 'xn--bcher-kva.example'])
  assert.equal(await textOf(world), 'a.example\nb.example\nxn--bcher-kva.example\n')
  assert.equal(isNew, true)
  const [first, last] = ['a.example', 'xn--bcher-kva.example']
  assert.deepEqual(figures(manifest), { rows: 3, first, last, ratio: null, listed_before: 0, held: null })
  assert.equal(manifest.generated, world.clock.now)
})

test('a day without names gives an empty file', async () => {
  const world = await makeWorld()
  const { manifest } = await makeDaily(world, DAY, [])
  assert.equal(await textOf(world), '')
  assert.deepEqual([manifest.rows, manifest.first, manifest.last], [0, null, null])
})

test('/daily sends the built file byte for byte', async () => {
  const world = await makeWorld()
  const { token } = await world.account(PREMIUM)
  const { manifest } = await makeDaily(world, DAY, some(20_000))
  const fetched = await fetchDay(world, token)
  assertWhole(fetched, fetched.bytes, `attachment; filename="${DAY}.txt.gz"`)
  assert.equal(fetched.bytes.length, manifest.bytes)
  assert.equal(await textOf(world), `${some(20_000).join('\n')}\n`)
})

test('a late list rebuilds the day with another ETag, and the same names again change nothing', async () => {
  const world = await makeWorld()
  const { token } = await world.account(PREMIUM)
  await makeDaily(world, DAY, some(9))
  const before = await fetchDay(world, token)
  world.clock.now += 3600
  const same = await makeDaily(world, DAY, some(9))
  assert.deepEqual([same.isNew, same.manifest.revision], [false, 1])
  assert.equal((await fetchDay(world, token)).headers.get('etag'), before.headers.get('etag'))
  const anew = await makeDaily(world, DAY, some(10))
  assert.deepEqual([anew.isNew, anew.manifest.revision, anew.manifest.rows], [true, 2, 10])
  const after = await fetchDay(world, token)
  assert.notEqual(after.headers.get('etag'), before.headers.get('etag'))
  assert.notEqual(after.headers.get('last-modified'), before.headers.get('last-modified'))
})

test('forgotten names are left out', async () => {
  const world = await makeWorld()
  await world.store.observations.forget('name000001.example' as never)
  const { manifest } = await makeDaily(world, DAY, some(3))
  assert.equal(await textOf(world), 'name000000.example\nname000002.example\n')
  assert.equal(manifest.rows, 2)
})

test('names that were listed in the 28 days before are counted once each', async () => {
  const world = await makeWorld()
  const given = { qualityBounds: null }
  await makeDaily(world, addDays(DAY, -29), some(100), given)
  await makeDaily(world, addDays(DAY, -28), some(40), given)
  await makeDaily(world, addDays(DAY, -3), [...some(50).slice(30), 'z.example'], given)
  await makeDaily(world, addDays(DAY, 1), some(100), given)
  const { manifest } = await makeDaily(world, DAY, some(60), given)
  assert.equal(manifest.listed_before, 50)
})

test('counting names of earlier days agrees with sets, whatever the days contain', async () => {
  const world = await makeWorld()
  const list = fc.uniqueArray(fc.integer({ min: 0, max: 40 }).map((n) => `n${n}.example`)).map((names) => names.sort())
  const property = fc.asyncProperty(fc.array(list, { maxLength: 4 }), list, async (days, names) => {
    for (const kind of await world.fileStore.list('daily')) await world.fileStore.remove(kind.name)
    for (const [place, day] of days.entries())
      await makeDaily(world, addDays(DAY, -1 - place), day, { qualityBounds: null })
    const { manifest } = await makeDaily(world, DAY, names, { qualityBounds: null })
    assert.equal(manifest.listed_before, names.filter((name) => days.flat().includes(name)).length)
  })
  await fc.assert(property, { numRuns: 10 })
})

test('the quality check starts when 14 earlier files exist', async () => {
  const world = await makeWorld()
  await makeDays(world, Array(13).fill(10))
  const free = await makeDaily(world, DAY, some(1000))
  assert.deepEqual([free.manifest.ratio, free.manifest.held], [100, null])
  await makeDaily(world, addDays(DAY, -14), some(10))
  const { manifest } = await makeDaily(world, DAY, some(1001))
  const why =
    'the median of the same weekday in the 8 weeks before is 10: above 5 times that, and more than 5 rows away'
  assert.equal(manifest.held, `1001 rows, and ${why}`)
})

test('a day out of bounds is held: it is not served before it is released', async () => {
  const world = await makeWorld()
  const { token } = await world.account(PREMIUM)
  await makeDays(world, Array(14).fill(10))
  const held = await makeDaily(world, DAY, some(1))
  assert.match(
    held.manifest.held ?? '',
    /^1 rows, and the median .* is 10: below 0\.2 times that, and more than 5 rows/,
  )
  assert.equal((await fetchDay(world, token)).status, 404)
  const again = await makeDaily(world, DAY, some(1))
  assert.deepEqual([again.isNew, again.manifest.held], [false, held.manifest.held])
  const { manifest } = await makeDaily(world, DAY, some(1), { release: true })
  assert.deepEqual([manifest.held, manifest.ratio, manifest.revision], [null, 0.1, 2])
  assert.equal((await fetchDay(world, token)).status, 200)
  const later = await makeDaily(world, DAY, some(1))
  assert.deepEqual([later.isNew, later.manifest.held], [false, null], 'what was released stays so')
  const changed = await makeDaily(world, DAY, some(100))
  assert.match(changed.manifest.held ?? '', /above 5 times/)
})

test('without bounds, every day is served, also one that was held before', async () => {
  const world = await makeWorld()
  await makeDays(world, Array(14).fill(10))
  await makeDaily(world, DAY, some(99))
  const { manifest, isNew } = await makeDaily(world, DAY, some(99), { qualityBounds: null })
  assert.deepEqual([isNew, manifest.held, manifest.ratio], [true, null, 9.9])
})

const onDays = (rows: (before: number) => number, first = 1) =>
  Array.from({ length: 80 }, (_, n) => ({ date: addDays(DAY, -n - first), rows: rows(n + first) }))

test('rows are compared with the median of the same weekday in the 8 weeks before, and the bounds are inclusive', () => {
  const files = onDays((before) => (before % 7 !== 0 ? 7777 : before <= 28 ? 1000 : before <= 56 ? 2000 : 9999))
  assert.deepEqual(checkQuality(DAY, 1500, files, BOUNDS), { ratio: 1, held: null })
  assert.deepEqual(checkQuality(DAY, 300, files, BOUNDS), { ratio: 0.2, held: null })
  assert.deepEqual(checkQuality(DAY, 7500, files, BOUNDS), { ratio: 5, held: null })
  assert.notEqual(checkQuality(DAY, 7501, files, BOUNDS).held, null)
  assert.notEqual(checkQuality(DAY, 299, files, BOUNDS).held, null)
  assert.deepEqual(checkQuality(DAY, 9999, files, null), { ratio: 6.666, held: null }, 'switched off')
})

test('the 14 files are of earlier days: that of the day itself, and later ones, do not count', () => {
  const earlier = onDays(() => 1000).slice(0, 13)
  const own = { date: DAY, rows: 1000 }
  const later = Array.from({ length: 5 }, (_, n) => ({ date: addDays(DAY, n + 1), rows: 1000 }))
  assert.deepEqual(checkQuality(DAY, 1, [...earlier, own, ...later], BOUNDS), { ratio: 0.001, held: null })
  assert.notEqual(checkQuality(DAY, 1, [...earlier, { date: addDays(DAY, -80), rows: 1000 }], BOUNDS).held, null)
})

test('a day without a file of the same weekday in the 8 weeks before is not held', () => {
  const old = onDays(() => 10_000, 57)
  assert.deepEqual(checkQuality(DAY, 1, old, BOUNDS), { ratio: null, held: null })
  const others = onDays(() => 10_000).filter((_, n) => (n + 1) % 7 !== 0)
  assert.deepEqual(checkQuality(DAY, 1, others, BOUNDS), { ratio: null, held: null })
})

test('a day out of bounds is not held if it differs from the median by at most the minimum difference', () => {
  const bounds = { ...BOUNDS, minDifference: 500 }
  const files = onDays(() => 100)
  assert.equal(checkQuality(DAY, 600, files, bounds).held, null)
  assert.notEqual(checkQuality(DAY, 601, files, bounds).held, null)
  assert.equal(
    checkQuality(
      DAY,
      0,
      onDays(() => 500),
      bounds,
    ).held,
    null,
  )
  assert.notEqual(
    checkQuality(
      DAY,
      0,
      onDays(() => 501),
      bounds,
    ).held,
    null,
  )
  const empty = onDays(() => 0)
  assert.deepEqual(checkQuality(DAY, 500, empty, bounds), { ratio: null, held: null })
  assert.match(checkQuality(DAY, 501, empty, bounds).held ?? '', /is 0: above 5 times that/)
})

const GOV = new URL('../../../shared/data/gov-daily/gov_new_domains_to2025.tsv', import.meta.url)
test('no real day of the .gov zone is held, whether or not days without names have a file', {
  skip: existsSync(GOV) ? false : 'gov-daily is not beside the repository',
}, () => {
  const lines = readFileSync(GOV, 'utf8').trim().split('\n').slice(1)
  const counts = new Map<Day, number>()
  for (const line of lines) {
    const day = line.slice(0, 10) as Day
    counts.set(day, (counts.get(day) ?? 0) + 1)
  }
  const known = [...counts].map(([date, rows]) => ({ date, rows })).sort((a, b) => (a.date < b.date ? -1 : 1))
  const every = onEveryDay(known[0]!.date, known.at(-1)!.date, counts)
  assert.ok(known.length > 400 && every.length > 700, `${known.length} of ${every.length} days`)
  for (const days of [known, every]) {
    const held = days.filter(
      ({ date, rows }) => checkQuality(date, rows, days, { min: 0.2, max: 5, minDifference: 500 }).held,
    )
    assert.deepEqual(held, [])
  }
})

function onEveryDay(first: Day, last: Day, counts: ReadonlyMap<Day, number>): { date: Day; rows: number }[] {
  const days: { date: Day; rows: number }[] = []
  for (let date = first; date <= last; date = addDays(date, 1)) days.push({ date, rows: counts.get(date) ?? 0 })
  return days
}

test('a build that has lost its lock, or is cancelled, publishes nothing', async () => {
  const world = await makeWorld()
  await makeDaily(world, DAY, some(5))
  const lost = async () => {
    throw new Error('lost')
  }
  await assert.rejects(makeDaily(world, DAY, some(6), { run: { requireLock: lost } }), /lost/)
  await assert.rejects(makeDaily(world, DAY, some(6), { run: { signal: AbortSignal.abort() } }), /abort/)
  assert.equal((await world.fileStore.manifest(fileName('daily', DAY)))!.rows, 5)
})

test('free space is checked first, and the message says what to do', async () => {
  const world = await makeWorld()
  const fileStore = { ...world.fileStore, freeBytes: async () => 2 ** 20 }
  await assert.rejects(makeDaily(world, DAY, some(5), { fileStore }), (error) => {
    assert.ok(error instanceof BuildFault)
    assert.match(
      error.message,
      /^the daily file of 2026-11-19 needs 128 MiB, and the disk of DOMAINDEX_FILES has 1 MiB free: free disk space/,
    )
    return true
  })
  assert.equal(await world.fileStore.manifest(fileName('daily', DAY)), null)
})
