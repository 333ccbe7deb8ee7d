/** /app/files: the days of a month with the state that /daily would answer, their files, and the snapshots. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import fc from 'fast-check'
import { DEFAULT_PLAN_LIMITS } from '../../src/accounts/plan.ts'
import { addDays, type Day } from '../../src/values/time.ts'
import { inForm } from '../long.ts'
import { BUILT, listOf, publish } from '../spec/files/files.ts'
import { makeWorld, type Wanted } from '../spec/world.ts'
import { assertError, visit } from './sessions.ts'

type FileRow = { name: string; kind: string; rows: number; bytes: number; etag: string; link: string }
type Files = {
  days: { day: Day; state: string; files: FileRow[] }[]
  snapshots: {
    name: string | null
    format: string
    rows: number | null
    allowed: boolean
    needs: string | null
    link: string | null
  }[]
}

const world = await makeWorld()

/** Days with a daily file; each third has follow-up files too. The last of October is held. */
const FIRST = '2026-09-15' as Day
const DAYS = Array.from({ length: 70 }, (_, index) => addDays(FIRST, index)).filter((day) => day < '2026-11-20')
const HELD = '2026-10-31'

before(async () => {
  for (const [index, day] of DAYS.entries()) {
    if (index % 5 === 4) continue
    await publish(world, `${day}.txt.gz`, listOf(`n${index}.example`), { rows: 1, held: day === HELD ? 'few' : null })
    if (index % 3 > 0) continue
    await publish(world, `${day}-followup-7.csv.gz`, listOf('a'), { rows: 1 })
    await publish(world, `${day}-followup-30.csv.gz`, listOf('b'), { rows: 1 })
  }
  await publish(world, 'domains-2026-11-19.txt.gz', listOf('old.example'), { rows: 1 })
  await publish(world, 'domains-2026-11-20.txt.gz', listOf('a.example', 'b.example'), { rows: 2 })
  await publish(world, 'domains-enriched-2026-11-20.csv.gz', listOf('c'), { rows: 2 })
})

async function filesOf(wanted: Wanted, month = '2026-10'): Promise<Files> {
  const { account } = await world.account(wanted)
  return (await visit(world, account)).read<Files>(`/app/files?month=${month}`)
}

test('a month has all its days, with the files that the account may fetch', async () => {
  const { days } = await filesOf({ periods: ['premium:2026-10-02..2026-10-10'] })
  assert.equal(days.length, 31)
  const states = new Map(days.map(({ day, state }) => [String(day), state]))
  assert.equal(states.get('2026-10-01'), 'file')
  assert.equal(states.get('2026-10-09'), 'no_file')
  assert.equal(states.get('2026-10-10'), 'after_subscription')
  const first = days[0]!.files[0]!
  assert.deepEqual([first.name, first.kind, first.rows], ['2026-10-01.txt.gz', 'daily', 1])
  const named = await world.fileStore.open(first.name as never)
  assert.equal(first.bytes, named!.manifest.bytes)
  assert.equal(first.etag, `"${named!.manifest.sha256.slice(0, 32)}"`)
  await named!.close()
  assert.match(first.link, /^\/app\/files\/2026-10-01\.txt\.gz\?link=[\w.-]+$/)
})

test('each state of a day', async () => {
  const stateOf = async (wanted: Wanted, day: string) =>
    (await filesOf(wanted, day.slice(0, 7))).days.find((each) => each.day === day)?.state
  const periods = ['basic:2026-09-20..2026-09-30', 'basic:2026-10-20..2026-10-25']
  assert.equal(await stateOf({ periods }, '2026-09-18'), 'before_subscription')
  assert.equal(await stateOf({ periods }, '2026-10-05'), 'outside_subscription')
  assert.equal(await stateOf({ periods }, '2026-11-05'), 'after_subscription')
  assert.equal(await stateOf({ plan: 'basic' }, '2026-11-05'), 'no_subscription')
  assert.equal(await stateOf({}, '2026-11-05'), 'plan_required')
  assert.equal(await stateOf({ plan: 'local' }, HELD), 'no_file')
})

test('follow-up files are there for days of a Premium period only', async () => {
  const { days } = await filesOf({ periods: ['basic:2026-10-01..2026-10-15', 'premium:2026-10-16..'] })
  const kinds = (day: string) => days.find((each) => each.day === day)?.files.map(({ kind }) => kind)
  assert.deepEqual(kinds('2026-10-09'), [])
  assert.deepEqual(kinds('2026-10-12'), ['daily'])
  assert.deepEqual(kinds('2026-10-18'), ['daily', 'followup-7', 'followup-30'])
})

test('the month is the current one by default, and a wrong one is named', async () => {
  const visitor = await visit(world, (await world.account({ plan: 'local' })).account)
  const { days } = await visitor.read<Files>('/app/files')
  assert.deepEqual([days.length, days[0]?.day], [30, '2026-11-01'])
  assert.equal((await visitor.read<Files>('/app/files?month=2028-02')).days.length, 29)
  for (const month of ['2026-13', '2026-1', '2026', 'x', '2026-10-01'])
    assert.equal(assertError(await visitor.send(`/app/files?month=${month}`), 400, 'value_invalid').field, 'month')
})

test('the newest snapshots are there for accounts with their add-ons', async () => {
  const none = { name: null, rows: null, bytes: null, generated: null, allowed: false, link: null }
  assert.deepEqual((await filesOf({})).snapshots, [
    { ...none, format: 'names', needs: 'export' },
    { ...none, format: 'enriched', needs: 'export' },
  ])
  const exported = (await filesOf({ addons: ['export'] })).snapshots
  const { name, rows, allowed, link } = exported[0]!
  assert.deepEqual([name, rows, allowed], ['domains-2026-11-20.txt.gz', 2, true])
  assert.match(link!, /^\/app\/files\/domains-2026-11-20\.txt\.gz\?link=/)
  assert.deepEqual([exported[0]!.needs, exported[1]!.allowed, exported[1]!.needs], [null, false, 'enriched'])
  assert.ok((await filesOf({ addons: ['export', 'enriched'] })).snapshots.every((each) => each.link !== null))
  assert.ok(BUILT > 0)
})

/** Periods that never overlap: each begins some days after the end of the one before. */
const periodsArbitrary = fc
  .tuple(
    fc.integer({ min: -40, max: 40 }),
    fc.array(
      fc.record({
        plan: fc.constantFrom('basic', 'premium'),
        gap: fc.integer({ min: 1, max: 12 }),
        days: fc.integer({ min: 1, max: 25 }),
      }),
      { maxLength: 4 },
    ),
    fc.boolean(),
  )
  .map(([start, parts, isOpen]) => {
    let day = addDays('2026-10-15' as Day, start)
    return parts.map(({ plan, gap, days }, index) => {
      const first = addDays(day, gap)
      day = addDays(first, days - 1)
      return `${plan}:${first}..${isOpen && index === parts.length - 1 ? '' : day}`
    })
  })

test('for any plan and periods, the states and files of each day are what /daily answers', async () => {
  const unlimited = Object.entries(DEFAULT_PLAN_LIMITS).map(([plan, limits]) => [plan, { ...limits, dailyCalls: null }])
  await world.serve(world.store, Object.fromEntries(unlimited))
  const seenStates = new Set<string>()
  const accountArbitrary = fc.record({
    plan: fc.constantFrom('free', 'basic', 'premium', 'local'),
    periods: periodsArbitrary,
  }) as fc.Arbitrary<Required<Pick<Wanted, 'plan' | 'periods'>>>
  const months = fc.constantFrom('2026-09', '2026-10', '2026-11', '2026-12')
  await fc.assert(
    fc.asyncProperty(accountArbitrary, months, async (wanted, month) => {
      const { account, token } = await world.account(wanted)
      const { days } = await (await visit(world, account)).read<Files>(`/app/files?month=${month}`)
      for (const { day, state, files } of days) {
        seenStates.add(state)
        assert.equal(state, await dailyState(token, day), `${day} ${JSON.stringify(wanted)}`)
        if (state !== 'file' && state !== 'no_file') continue
        for (const followup of [7, 30]) {
          const isListed = files.some(({ kind }) => kind === `followup-${followup}`)
          assert.equal(isListed, (await dailyState(token, day, followup)) === 'file', `${day} ${followup}`)
        }
      }
    }),
    {
      numRuns: inForm(10, 30),
      examples: [
        [{ plan: 'basic', periods: [] }, '2026-10'],
        [{ plan: 'free', periods: [] }, '2026-10'],
        [{ plan: 'premium', periods: ['premium:2026-10-20..2026-10-25', 'premium:2026-10-28..2026-10-29'] }, '2026-10'],
      ],
    },
  )
  assert.ok(seenStates.size >= 5, `only ${[...seenStates]}`)
})

/** What /daily answers, as a state. */
async function dailyState(token: string, date: Day, followup?: number): Promise<string> {
  const body = JSON.stringify({ token, date, ...(followup !== undefined && { followup }) })
  const response = await fetch(`${world.address}/v1.0/daily`, { method: 'POST', body })
  if (response.status === 200) {
    await response.arrayBuffer()
    return 'file'
  }
  const { error } = (await response.json()) as { error: string }
  return error === 'no_data' ? 'no_file' : error
}
