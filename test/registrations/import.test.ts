/** Registered and dropped names of zones and lists, and how they enter the store. */

import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { inflatedBytes } from '../../src/registrations/inflated-bytes.ts'
import { importZone } from '../../src/registrations/zone/import-zone.ts'
import { ingest } from '../../src/store/ingest.ts'
import { parseName } from '../../src/values/domain-name.ts'
import { addDays } from '../../src/values/time.ts'
import { faultsOf } from '../cli/answers.ts'
import { inForm } from '../long.ts'
import { noPostgres, postgresServer } from '../store/postgres/server.ts'
import { day, makeWorld, NOW, type World, without, zoneOf } from './world.ts'

const DATA = fileURLToPath(new URL('../../../shared/data/', import.meta.url))
const DAY = 86_400

const visitsOf = ({ store }: World, names: readonly string[]) =>
  store.observations.crawlStates(names.map((name) => parseName(name)!))

const known = async (world: World, names: readonly string[]): Promise<boolean[]> =>
  (await visitsOf(world, names)).map(({ version }) => version > 0)

test('names in the zone but not in the newest earlier one are registered, and the reverse are dropped', async (t) => {
  const world = await makeWorld(t)
  const first = await world.takeZone(zoneOf(['b', 'a', 'c']), '2026-11-10')
  assert.deepEqual([first.isFirst, first.names, first.registered, first.newNames], [true, 3, 0, 3])
  const next = await world.takeZone(zoneOf(['z', 'c', 'a', 'd', 'd']), '2026-11-12')
  assert.deepEqual(
    [next.isFirst, next.comparedDay, next.names, next.registered, next.dropped],
    [false, '2026-11-10', 4, 2, 1],
  )
  assert.deepEqual(await world.registered('2026-11-10'), [])
  assert.deepEqual(await world.registered('2026-11-12'), ['d.test', 'z.test'])
  assert.deepEqual(await world.dropped('2026-11-12'), ['b.test'])
  assert.deepEqual(
    (await world.registrations.days()).map((each) => each.day),
    ['2026-11-12'],
    'nothing is known of the day of a first zone, so it gets no file',
  )
  await world.takeZone(zoneOf(['b', 'a']), '2026-11-09')
  assert.deepEqual(
    (await world.registrations.days()).map((each) => each.day),
    ['2026-11-10', '2026-11-12'],
  )
  assert.deepEqual(await world.registered('2026-11-10'), ['c.test'])
  assert.deepEqual(await world.registered('2026-11-11'), [])
  assert.equal(await world.digest('2026-11-11'), null)
})

test('an earlier zone is at most 7 days old, otherwise the zone counts as the first one', async (t) => {
  const world = await makeWorld(t)
  await world.takeZone(zoneOf(['a']), '2026-10-01')
  const week = await world.takeZone(zoneOf(['a', 'b']), '2026-10-08')
  assert.deepEqual([week.isFirst, await world.registered('2026-10-08')], [false, ['b.test']])
  const late = await world.takeZone(zoneOf(['b', 'c']), '2026-10-16')
  assert.deepEqual([late.isFirst, late.registered, late.dropped, late.newNames], [true, 0, 0, 1])
  assert.deepEqual([await world.registered('2026-10-16'), await world.dropped('2026-10-16')], [[], []])
  assert.deepEqual(await known(world, ['a.test', 'b.test', 'c.test']), [true, true, true])
})

test('importing a zone or a list twice changes nothing', async (t) => {
  const world = await makeWorld(t)
  await world.takeZone(zoneOf(['a']), '2026-11-10')
  await world.takeZone(zoneOf(['b']), '2026-11-11')
  await world.takeList('x.example\nY.example\n\n', '2026-11-11')
  const [files, digest] = [world.files(), await world.digest('2026-11-11')]
  const days = await world.registrations.days()
  world.setTime(NOW + 3600)
  for (const [text, on] of [
    [['a'], '2026-11-10'],
    [['b', 'b'], '2026-11-11'],
  ] as const)
    assert.equal((await world.takeZone(zoneOf(text), on)).isSame, true)
  assert.equal((await world.takeList('x.example\nY.example\n\n', '2026-11-11')).isSame, true)
  assert.deepEqual(world.files(), files)
  assert.equal(await world.digest('2026-11-11'), digest)
  assert.deepEqual(await world.registrations.days(), days)
  assert.deepEqual(await world.registered('2026-11-11'), ['b.test', 'x.example', 'y.example'])
})

test('a late zone determines its own day and the day of the next later zone', async (t) => {
  const world = await makeWorld(t)
  await world.takeZone(zoneOf(['a', 'b']), '2026-11-10')
  await world.takeZone(zoneOf(['a', 'c', 'd']), '2026-11-14')
  await world.takeZone(zoneOf(['a', 'c', 'e']), '2026-11-15')
  const digest = await world.digest('2026-11-14')
  const late = await world.takeZone(zoneOf(['a', 'b', 'c']), '2026-11-12')
  assert.deepEqual([late.rebuiltDay, late.registered], ['2026-11-14', 1])
  assert.deepEqual(await world.registered('2026-11-12'), ['c.test'])
  assert.deepEqual(await world.registered('2026-11-14'), ['d.test'])
  assert.deepEqual(await world.dropped('2026-11-14'), ['b.test'])
  assert.deepEqual(await world.registered('2026-11-15'), ['e.test'])
  assert.notEqual(await world.digest('2026-11-14'), digest)
})

test('in whatever order zones are imported, repeated and corrected, the days follow from the final zones', async (t) => {
  const step = fc.tuple(fc.integer({ min: 0, max: 9 }), fc.subarray(['a', 'b', 'c', 'd', 'e', 'f']))
  let runs = 0
  const world = await makeWorld(t)
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 7 }), async (steps) => {
      const zone = `zone${runs++}`
      // The newest comes first, so that no zone is more than 7 days late and none is removed.
      const all = [[7, ['a', 'f']] as const, ...steps.map(([at, labels]) => [at % 8, labels] as const)]
      const on = (at: number): string => addDays(day('2026-11-01'), at)
      const standing = new Map<number, Set<string>>()
      for (const [at, labels] of all) {
        standing.set(at, new Set(labels))
        await world.takeZone(zoneOf(labels, zone), on(at))
      }
      for (const [at, labels] of standing) {
        const before = [...standing.keys()].filter((other) => other < at && other >= at - 7)
        const earlier = before.length === 0 ? null : standing.get(Math.max(...before))!
        const of = (names: Iterable<string>): string[] => [...names].map((label) => `${label}.${zone}`).sort()
        const mine = (names: string[]): string[] => names.filter((name) => name.endsWith(`.${zone}`))
        assert.deepEqual(mine(await world.registered(on(at))), earlier === null ? [] : of(without(labels, earlier)))
        assert.deepEqual(mine(await world.dropped(on(at))), earlier === null ? [] : of(without(earlier, labels)))
        assert.ok((await known(world, of(labels))).every(Boolean))
      }
    }),
    { numRuns: inForm(4, 8) },
  )
  assert.deepEqual(await faultsOf(world.store), [])
})

test('names of a list are registered on its day, unusable lines are reported and left out, and lists of a day add up', async (t) => {
  const world = await makeWorld(t)
  const taken = await world.takeList(
    '\ufeffb.example\r\nb?d.example\nB\u00dcCHER.example\n\n1.2.3.4\nb.example.',
    '2026-11-19',
  )
  assert.deepEqual([taken.registered, taken.unusable, taken.newNames], [2, 2, 2])
  assert.deepEqual(
    world.rejects.map(({ line, text }) => [line, text]),
    [
      [2, 'b?d.example'],
      [5, '1.2.3.4'],
    ],
  )
  await world.takeList('a.example\nb.example\n', '2026-11-19')
  await world.takeZone(zoneOf(['x']), '2026-11-18')
  await world.takeZone(zoneOf(['a', 'b'], 'example'), '2026-11-18')
  await world.takeZone(zoneOf(['a', 'b', 'c'], 'example'), '2026-11-19')
  assert.deepEqual(await world.registered('2026-11-19'), [
    'a.example',
    'b.example',
    'c.example',
    'xn--bcher-kva.example',
  ])
  const sources = await world.registrations.sources(day('2026-11-19'))
  assert.deepEqual(sources.map(({ source, registered }) => [source.replace(/:.{16}$/, ''), registered]).sort(), [
    ['list', 2],
    ['list', 2],
    ['zone:example', 1],
  ])
})

test('a list may have comments and a leading rank column, and an address in it is rejected with its own message', async (t) => {
  const world = await makeWorld(t)
  const list =
    '# rank,name\n1,a.example\n2, b.example # a remark\r\n 3\tc.example\n   \nd.example\n4,192.0.2.1\n5,\n1,2\n'
  const taken = await world.takeList(list, '2026-11-19')
  assert.deepEqual([taken.registered, taken.unusable], [4, 3])
  assert.deepEqual(await world.registered('2026-11-19'), ['a.example', 'b.example', 'c.example', 'd.example'])
  assert.deepEqual(
    world.rejects.map(({ line, reason }) => [line, reason.split(';')[0]]),
    [
      [7, 'an address is no domain name'],
      [8, 'only letters, digits, - and _ may stand between the dots'],
      [9, 'the name has no dot'],
    ],
  )
})

test('a list without registrations stores its unknown names, leaves known ones as they are, and affects no day', async (t) => {
  const world = await makeWorld(t)
  await world.takeList('a.example\n', '2026-11-18')
  const files = world.files()
  const dueOf = async (name: string) => (await world.store.observations.crawlStates([parseName(name)!]))[0]!.due
  const due = await dueOf('a.example')
  world.setTime((await world.store.now()) + 3_600)
  assert.deepEqual(await world.learnList('1,a.example\n2,b.example\n3,b.example\nx\n'), {
    names: 2,
    unusable: 1,
    newNames: 1,
  })
  assert.deepEqual(await known(world, ['a.example', 'b.example']), [true, true])
  assert.deepEqual([await dueOf('a.example'), world.files()], [due, files])
  assert.deepEqual(await world.learnList('1,a.example\n2,b.example\n'), { names: 2, unusable: 0, newNames: 0 })
  await world.learnList('9,z.example\n1,y.example\n2,z.example\n3,a.example\n5,m.example\n')
  const learned = await world.store.observations.crawlStates(
    ['z', 'y', 'a', 'm'].map((label) => parseName(`${label}.example`)!),
  )
  assert.deepEqual(
    learned.map(({ due }) => due),
    [1, 2, 0, 4],
    'new names have the place of their first line',
  )
  await assert.rejects(world.learnList('c.example\nx\n', { isStrict: true }), /^Error: line 2$/)
  assert.deepEqual(await known(world, ['c.example']), [false])
})

test('a file without any valid name is not a list, and a file without lines has no names', async (t) => {
  const world = await makeWorld(t)
  const page = '<!doctype html>\n<title>404 Not Found</title>\n'
  await assert.rejects(world.takeList(page, '2026-11-19'), /^InputError: none of its lines is a name$/)
  assert.deepEqual(await world.registrations.sources(day('2026-11-19')), [])
  const taken = await world.takeList('\n', '2026-11-19')
  assert.deepEqual([taken.registered, taken.unusable], [0, 0])
})

test('a named list replaces the one with the same name on that day', async (t) => {
  const world = await makeWorld(t)
  await world.takeList('a.example\n', '2026-11-18', 'ours')
  await world.takeList('a.example\nb.example\n', '2026-11-19', 'ours')
  await world.takeList('b.example\nc.example\n', '2026-11-19', 'ours')
  assert.deepEqual(await world.registered('2026-11-18'), ['a.example'])
  assert.deepEqual(await world.registered('2026-11-19'), ['b.example', 'c.example'])
})

test('a zone without most names of the previous one is rejected, unless its loss is accepted', async (t) => {
  const world = await makeWorld(t)
  const labels = Array.from({ length: 3000 }, (_, number) => `n${number}`)
  await world.takeZone(zoneOf(labels), '2026-11-10')
  const files = world.files()
  const cut = zoneOf(labels.slice(0, 1499))
  await assert.rejects(
    world.takeZone(cut, '2026-11-11'),
    /^InputError: it lacks 1501 of the 3000 names of 2026-11-10: .*--accept-loss/,
  )
  assert.deepEqual(await world.dropped('2026-11-11'), [])
  assert.deepEqual(world.files(), files)
  assert.equal((await world.takeZone(cut, '2026-11-11', { acceptsLoss: true })).dropped, 1501)
  assert.equal((await world.takeZone(zoneOf(labels.slice(0, 750)), '2026-11-12')).dropped, 749)
})

test('a truncated or invalid zone is rejected completely and drops no name', async (t) => {
  const world = await makeWorld(t)
  const names = Array.from({ length: 4000 }, (_, number) => `n${number * 7919}`)
  const text = zoneOf(names)
  await world.takeZone(text, '2026-11-18')
  const files = world.files()
  const [packed, cut] = [gzipSync(text), text.indexOf('\n', 9000) + 1]
  for (const [content, words] of [
    [packed.subarray(0, -9), /it cannot be read: the gzip data is cut off/],
    [Buffer.concat([packed.subarray(0, 5000), Buffer.alloc(50), packed.subarray(5050)]), /^InputError: /],
    [
      Buffer.concat([packed, gzipSync('x NS n')]),
      /^InputError: line 4002: the file ends within the line: it is truncated/,
    ],
    [Buffer.from(text.slice(0, -1)), /^InputError: line 4001: the file ends within the line/],
    [Buffer.from(text.slice(0, cut)), /it lacks \d+ of the 4000 names/],
    [Buffer.from(`${text}$INCLUDE x\n`), /^InputError: line 4002: \$INCLUDE is not supported/],
    [Buffer.from('<!doctype html>\n'), /^InputError: line 1: /],
    [Buffer.from(''), /there is no SOA: the zone is incomplete/],
  ] as const) {
    const given = {
      path: 'a.zone',
      bytes: inflatedBytes(streamOf(content), 'a.zone', () => {}),
      day: day('2026-11-19'),
      zone: null,
    }
    await assert.rejects(importZone(world.taking, given), words)
    assert.deepEqual(world.files(), files)
  }
})

async function* streamOf(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

test('sets of zones are kept for 14 days before the newest, and a zone that needs a removed set is rejected', async (t) => {
  const world = await makeWorld(t)
  for (let at = 0; at <= 20; at++) await world.takeZone(zoneOf([`n${at}`]), addDays(day('2026-10-20'), at))
  const kept = world
    .files()
    .flatMap(([path]) => path)
    .filter((path) => /^\/zones\/test\/2026-.*json$/.test(path))
  assert.deepEqual([kept.length, kept[0]], [15, '/zones/test/2026-10-26.json'])
  await assert.rejects(
    world.takeZone(zoneOf(['x']), '2026-10-30'),
    /from the week before 2026-10-30 are no longer stored/,
  )
  assert.equal((await world.takeZone(zoneOf(['n10']), '2026-10-30')).isSame, true)
  assert.equal((await world.takeZone(zoneOf(['n0']), '2026-10-20')).isSame, true)
  assert.equal((await world.takeZone(zoneOf(['x']), '2026-11-02')).registered, 1)
  assert.deepEqual(await world.registered('2026-10-21'), ['n1.test'])
})

test('what a killed import did not write, the next import of that zone writes', async (t) => {
  const world = await makeWorld(t)
  await world.takeZone(zoneOf(['a', 'b']), '2026-11-10')
  await world.takeZone(zoneOf(['a', 'c', 'd']), '2026-11-14')
  const late = (): Promise<unknown> => world.takeZone(zoneOf(['a', 'b', 'c']), '2026-11-12')
  await late()
  const files = world.files()
  const steps = ['days/2026-11-12/zone-test.json', 'days/2026-11-14/zone-test.json', 'zones/test/2026-11-12.json']
  for (let missing = 1; missing < 8; missing++) {
    for (const [place, path] of steps.entries()) if ((missing >> place) & 1) rmSync(join(world.root, path))
    await late()
    assert.deepEqual(world.files(), files, String(missing))
  }
})

test('if the store fails at any moment, nothing partial is visible, and the next import completes it', async (t) => {
  const world = await makeWorld(t)
  const whole = await makeWorld(t)
  for (const each of [world, whole]) await each.takeZone(zoneOf(['a', 'b', 'c']), '2026-11-18')
  const files = world.files()
  await whole.takeZone(zoneOf(['c', 'd', 'e']), '2026-11-19')
  let calls = 0
  let writes: string[] = []
  const failingAt = (call: number): World['store'] => {
    const counted =
      <Given extends unknown[], Result>(work: (...given: Given) => Promise<Result>) =>
      async (...given: Given): Promise<Result> => {
        if (['save', 'sync'].includes(work.name)) writes.push(work.name)
        if (++calls === call) throw new Error('the store is away')
        return work(...given)
      }
    const { observations: frontier, now } = world.store
    return {
      ...world.store,
      now: counted(now),
      observations: {
        ...frontier,
        crawlStates: counted(frontier.crawlStates),
        save: counted(frontier.save),
        sync: counted(frontier.sync),
      },
    }
  }
  const take = (store: World['store']): Promise<unknown> =>
    world.takeZone(zoneOf(['c', 'd', 'e']), '2026-11-19', { store })
  for (let call = 1; ; call++) {
    calls = 0
    writes = []
    const failed = await take(failingAt(call)).then(
      () => false,
      (error) => /the store is away/.test(String(error)),
    )
    if (!failed) break
    assert.deepEqual(world.files(), files)
  }
  assert.ok(calls > 5)
  assert.equal(writes.indexOf('sync'), writes.length - 1, 'names that a published day has survive a loss of power')
  assert.deepEqual(world.files(), whole.files())
  assert.ok((await known(world, ['d.test', 'e.test'])).every(Boolean))
})

test('of two imports at once, at most one succeeds', async (t) => {
  const world = await makeWorld(t)
  const both = await Promise.allSettled([
    world.takeZone(zoneOf(['a']), '2026-11-10'),
    world.takeZone(zoneOf(['b']), '2026-11-11'),
  ])
  const refused = both.filter(({ status }) => status === 'rejected')
  assert.ok(refused.length > 0)
  for (const each of refused)
    assert.match(String((each as PromiseRejectedResult).reason), /another import of zones or lists is running/)
  assert.equal((await world.takeZone(zoneOf(['a', 'b']), '2026-11-12')).names, 2)
})

for (const engine of ['sqlite', 'postgres'] as const) {
  test(`on ${engine}, new names are stored, and added or removed names are due at once`, {
    skip: engine === 'postgres' && noPostgres,
  }, async (t) => {
    const place = engine === 'postgres' ? await (await postgresServer()).tables() : null
    const world = await makeWorld(t, place?.url)
    const names = ['stays', 'goes', 'comes', 'forgotten'].map((label) => parseName(`${label}.test`)!)
    await ingest(
      world.store,
      names.map((domain) => ({ domain, observed_at: NOW - DAY, dns: { status: 'nxdomain', records: {} }, web: null })),
    )
    await world.store.observations.forget(names[3]!)
    const before = await world.store.observations.crawlStates(names)
    assert.ok(before.slice(0, 3).every(({ due }) => due >= NOW - DAY))
    world.setTime(NOW - DAY + 10)
    await world.takeZone(zoneOf(['stays', 'goes', 'new']), '2026-11-18')
    assert.deepEqual(
      (await world.store.observations.crawlStates(names)).map(({ due }) => due),
      before.map(({ due }) => due),
    )
    await world.takeZone(zoneOf(['stays', 'comes', 'newer', 'forgotten']), '2026-11-19')
    const after = await visitsOf(world, [
      'stays.test',
      'goes.test',
      'comes.test',
      'forgotten.test',
      'new.test',
      'newer.test',
    ])
    const time = NOW - DAY + 10
    assert.equal(after[0]!.due, before[0]!.due)
    assert.deepEqual([after[1]!.due, after[2]!.due], [time, time])
    assert.equal(after[3]!.forgotten, true)
    assert.deepEqual(
      after.slice(4).map(({ version, due }) => [version > 0, due <= time]),
      [
        [true, true],
        [true, true],
      ],
    )
    await world.takeList('stays.test\nlisted.test\n', '2026-11-19')
    assert.equal((await visitsOf(world, ['stays.test']))[0]!.due, time)
    assert.deepEqual(await known(world, ['listed.test']), [true])
    assert.deepEqual(await faultsOf(world.store), [])
  })
}

/** The delegations of .gov after each snapshot up to a day, the last one of each day. */
function* govDays(until: string): Generator<{ on: string; names: Set<string> }> {
  const rows = (file: string): string[][] =>
    gunzipSync(readFileSync(`${DATA}gov-zone-history/${file}`))
      .toString()
      .trim()
      .split('\n')
      .map((line) => line.split('\t'))
  const records = new Map<string, Set<string>>()
  const apply = (op: string, owner: string, data: string): void => {
    const mine = records.get(owner) ?? new Set()
    if (op === '+') mine.add(data)
    else mine.delete(data)
    if (mine.size > 0) records.set(owner, mine)
    else records.delete(owner)
  }
  for (const [owner = '', , type, data = ''] of rows('base.tsv.gz').slice(1))
    if (type === 'NS' && owner !== 'gov.') apply('+', owner, data)
  let on = '2023-12-08'
  for (const [date = '', , op = '', owner = '', , type, data = ''] of rows('events-2023-12_2025-12.tsv.gz').slice(1)) {
    if (date !== on) yield { on, names: new Set(records.keys()) }
    if (date > until) return
    on = date
    if (type === 'NS' && owner !== 'gov.') apply(op, owner, data)
  }
}

test('the days of a real zone agree with those that others computed from it', async (t) => {
  if (!existsSync(`${DATA}gov-daily`)) return t.skip('the sample data is not there')
  const world = await makeWorld(t)
  const listed = (file: string): Map<string, string[]> =>
    Map.groupBy(readFileSync(`${DATA}gov-daily/${file}`, 'utf8').trim().split('\n').slice(1), (line) =>
      line.slice(0, 10),
    )
  const [came, went] = [listed('gov_new_domains_to2025.tsv'), listed('gov_dropped_domains_to2025.tsv')]
  const namesOn = (lists: Map<string, string[]>, on: string): string[] =>
    (lists.get(on) ?? []).map((line) => line.slice(11)).sort()
  let compared = 0
  for (const { on, names } of govDays('2024-02-20')) {
    const labels = [...names].map((name) => name.slice(0, -'.gov.'.length))
    const { isFirst } = await world.takeZone(zoneOf(labels, 'gov'), on)
    if (isFirst) continue
    compared++
    assert.deepEqual(await world.registered(on), namesOn(came, on), on)
    assert.deepEqual(await world.dropped(on), namesOn(went, on), on)
  }
  assert.ok(compared >= 8, String(compared))
})

test('invalid lines of a real list are left out, and the rest is registered', async (t) => {
  if (!existsSync(`${DATA}newly-registered`)) return t.skip('the sample data is not there')
  const world = await makeWorld(t)
  const lines = gunzipSync(readFileSync(`${DATA}newly-registered/2025-12-29.txt.gz`))
    .toString()
    .split('\n')
  const some = lines.filter((line, number) => number % 20 === 0 || !/^[\w.-]*$/.test(line))
  const { names, unusable } = await world.takeList(some.join('\n'), '2025-12-29')
  assert.equal(unusable, some.filter((line) => line.includes('?')).length)
  assert.ok(world.rejects.every(({ text }) => text.includes('?')))
  assert.ok(names > 3500 && names + unusable <= some.length)
  assert.ok((await world.registered('2025-12-29')).some((name) => name.startsWith('xn--')))
})
