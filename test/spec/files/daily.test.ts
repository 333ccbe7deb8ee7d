/** /daily: which account may download which day's file, and every error. Today is 2026-11-20. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { formatPeriod } from '../../../src/accounts/period.ts'
import { startOfDay } from '../../../src/values/time.ts'
import { days, marked, subscriptions } from '../../accounts/calendar.ts'
import { assertRefused, type ErrorKey } from '../errors.ts'
import { makeWorld, NOON, type Wanted } from '../world.ts'
import { assertWhole, fetchFile, listOf, post, publish } from './files.ts'

const world = await makeWorld()
const PLAN = { basic: 'basic:2026-10-05..2026-11-04', premium: 'premium:2026-10-05..2026-11-04' }

/** Requests a day with a new account. Returns the error's `msg`. */
async function refusal(account: Wanted, parameters: object, key: ErrorKey): Promise<string> {
  const { token } = await world.account(account)
  return assertRefused(await world.ask('daily', { token, ...parameters }), 'daily', key)
}

test('403 plan_required: no Basic or Premium now or in the past', async () => {
  await refusal({}, { date: '2026-11-19' }, 'plan_required')
  await refusal({ periods: ['premium:2026-11-21..'] }, { date: '2026-11-20' }, 'plan_required')
})

test('a period that starts today, or ended long ago, is enough for the endpoint', async () => {
  await refusal({ periods: ['basic:2026-11-20..'] }, { date: '2026-11-19' }, 'no_data')
  await refusal({ periods: ['basic:2020-01-01..2020-01-31'] }, { date: '2020-01-30' }, 'no_data')
})

test('403 no_subscription: account has no subscription period', async () => {
  await refusal({ plan: 'basic' }, { date: '2026-11-19' }, 'no_subscription')
  await refusal({ plan: 'premium' }, { date: '2026-11-19', followup: 7 }, 'no_subscription')
})

test('403 before_subscription: date before the first subscription; msg names earliest available', async () => {
  const account = { periods: [PLAN.basic] }
  assert.match(await refusal(account, { date: '2026-10-03' }, 'before_subscription'), /\b2026-10-04\b/)
  assert.match(await refusal(account, { date: '1999-12-31' }, 'before_subscription'), /\b2026-10-04\b/)
  const future: Wanted = { plan: 'basic', periods: ['basic:2026-12-01..'] }
  assert.match(await refusal(future, { date: '2026-11-19' }, 'before_subscription'), /\b2026-11-30\b/)
})

test('403 after_subscription: subscription ended and date is after it; msg names last available day', async () => {
  const account = { periods: [PLAN.basic] }
  assert.match(await refusal(account, { date: '2026-11-04' }, 'after_subscription'), /\b2026-11-03\b/)
  assert.match(await refusal(account, { date: '2026-11-19' }, 'after_subscription'), /\b2026-11-03\b/)
})

test('outside_subscription names the days around the gap, and premium_required the day that is not available', async () => {
  const gap = { periods: ['basic:2026-08-01..2026-08-31', 'premium:2026-10-05..'] }
  const message = await refusal(gap, { date: '2026-09-15' }, 'outside_subscription')
  assert.match(message, /\b2026-08-30\b.*\b2026-10-04\b/)
  assert.match(await refusal(gap, { date: '2026-08-15', followup: 7 }, 'premium_required'), /\b2026-08-15\b/)
  assert.match(await refusal(gap, { date: '2026-10-04' }, 'no_data'), /\b2026-10-04\b/)
})

test('403 outside_subscription: date in a gap between periods', async () => {
  const account = { periods: ['basic:2026-08-01..2026-08-31', 'premium:2026-10-05..'] }
  for (const date of ['2026-08-31', '2026-09-15', '2026-10-03'])
    await refusal(account, { date }, 'outside_subscription')
  for (const date of ['2026-08-30', '2026-10-04']) await refusal(account, { date }, 'no_data')
})

test('the file for the first subscription day is dated the day before it, and the same shift applies to the last day', async () => {
  const account = { periods: [PLAN.basic] }
  for (const date of ['2026-10-04', '2026-10-05', '2026-11-03']) await refusal(account, { date }, 'no_data')
})

test('paid days stay available after the subscription ends', async () => {
  await refusal({ periods: ['premium:2025-01-01..2025-12-31'] }, { date: '2025-06-01', followup: 30 }, 'no_data')
})

test('404 no_data: day within a period but without a file, including today and the future', async () => {
  const account = { periods: ['basic:2026-01-01..'] }
  for (const date of ['2026-11-19', '2026-11-20', '2026-11-21', '9999-12-30'])
    await refusal(account, { date }, 'no_data')
})

test('403 premium_required: followup on a period that ran on Basic', async () => {
  const account: Wanted = { plan: 'premium', periods: [PLAN.basic] }
  await refusal(account, { date: '2026-10-20', followup: 7 }, 'premium_required')
  await refusal({ periods: [PLAN.premium] }, { date: '2026-10-20', followup: 7 }, 'no_data')
})

test('the plan of the period that contains the date decides about followup', async () => {
  const account = { periods: ['basic:2026-09-01..2026-10-04', 'premium:2026-10-05..'] }
  await refusal(account, { date: '2026-10-03', followup: 30 }, 'premium_required')
  await refusal(account, { date: '2026-10-04', followup: 30 }, 'no_data')
  await refusal(account, { date: '2026-10-03' }, 'no_data')
})

test('over HTTP every date has the status and message that a calendar marked day by day gives', async () => {
  await fc.assert(
    fc.asyncProperty(subscriptions, days, days, fc.boolean(), async (who, date, today, followup) => {
      world.clock.now = startOfDay(today)
      const { token } = await world.account({ plan: who.plan, periods: who.periods.map(formatPeriod) })
      const seen = await world.ask('daily', { token, date, ...(followup && { followup: 7 }) })
      const state = marked(who, date, today)
      const isShort = state.state === 'allowed' && followup && state.plan === 'basic'
      const key = state.state === 'allowed' ? (isShort ? 'premium_required' : 'no_data') : state.state
      const named = assertRefused(seen, 'daily', key).match(/\d{4}-\d\d-\d\d/g) ?? []
      const { earliest, latest } = state as { earliest?: string; latest?: string }
      const expected = state.state === 'allowed' ? [date] : [latest, earliest].filter((day) => day !== undefined)
      assert.deepEqual(named, expected)
    }),
    { numRuns: 60 },
  )
  world.clock.now = NOON
})

const ENTITLED: Wanted = { periods: ['premium:2026-01-01..'] }

for (const date of [undefined, null, '', '  ']) {
  test(`400 date_missing: ${JSON.stringify(date)}`, async () =>
    void (await refusal(ENTITLED, { date }, 'date_missing')))
}

for (const date of [
  '2026-1-1',
  '20261119',
  '2026/11/19',
  '19-11-2026',
  '2026-11-19T00:00:00',
  '2026-11-19Z',
  '2026-02-29',
  '2026-11-31',
  '2026-13-01',
  '2026-00-10',
  '2026-01-00',
  '+02026-11-19',
  'yesterday',
  '٢٠٢٦-١١-١٩',
  20261119,
  ['2026-11-19'],
  { day: '2026-11-19' },
  true,
]) {
  test(`400 date_format: any other form than YYYY-MM-DD, or a day that does not exist: ${JSON.stringify(date)}`, async () => {
    await refusal(ENTITLED, { date }, 'date_format')
  })
}

for (const followup of [14, 0, -7, 7.5, '8', 'seven', '7,30', 'toString', '__proto__', [7], { days: 7 }, true]) {
  test(`400 followup_invalid: ${JSON.stringify(followup)}`, async () => {
    await refusal(ENTITLED, { date: '2026-11-01', followup }, 'followup_invalid')
  })
}

for (const followup of [7, 30, '7', ' 30 ', 7.0, null, '', undefined]) {
  test(`followup 7 or 30, as number or string, or none: ${JSON.stringify(followup)}`, async () => {
    await refusal(ENTITLED, { date: ' 2026-11-01 ', followup }, 'no_data')
  })
}

test('the period errors (403) come after the 400s', async () => {
  for (const account of [{ plan: 'basic' }, { periods: [PLAN.basic] }] as const) {
    await refusal(account, {}, 'date_missing')
    await refusal(account, { date: 'x', followup: 1 }, 'date_format')
    await refusal(account, { date: '2020-01-01', followup: 1 }, 'followup_invalid')
  }
  await refusal({}, { date: 'x', followup: 1 }, 'plan_required')
})

test('/daily takes the same parameters in the query string', async () => {
  const { token } = await world.account(ENTITLED)
  const get = (parameters: object) => world.ask('daily', { token, ...parameters }, { method: 'GET' })
  assertRefused(await get({}), 'daily', 'date_missing')
  assertRefused(await get({ date: '2026-02-30' }), 'daily', 'date_format')
  assertRefused(await get({ date: '2026-11-19', followup: '8' }), 'daily', 'followup_invalid')
  assertRefused(await get({ date: '2026-11-19', followup: '7' }), 'daily', 'no_data')
})

test('success: the body is the gzip file, not JSON, with its headers', async () => {
  const content = listOf('a.example', 'b.example', 'xn--bcher-kva.example')
  await publish(world, '2026-05-05.txt.gz', content)
  const { token } = await world.account(ENTITLED)
  const date = '2026-05-05'
  const asked = [
    fetchFile(world, '/v1.0/daily', post({ token, date })),
    fetchFile(world, `/v1.0/daily?token=${token}&date=${date}`),
    fetchFile(world, '/v1.0/daily', post({ token, date, followup: null })),
  ]
  for (const seen of await Promise.all(asked)) {
    assertWhole(seen, content, 'attachment; filename="2026-05-05.txt.gz"')
    assert.equal(gunzipSync(seen.bytes).toString(), 'a.example\nb.example\nxn--bcher-kva.example\n')
  }
})

for (const followup of [7, 30]) {
  test(`followup ${followup} returns the follow-up file of that day, 404 until it is written`, async () => {
    const date = `2026-04-${followup}`.replace('-7', '-07')
    const { token } = await world.account(ENTITLED)
    await publish(world, `${date}.txt.gz`, listOf('a.example'))
    const ask = () => fetchFile(world, '/v1.0/daily', post({ token, date, followup: String(followup) }))
    assert.equal((await ask()).status, 404)
    const content = listOf('domain,has_website', 'a.example,yes')
    await publish(world, `${date}-followup-${followup}.csv.gz`, content)
    const extended = `filename*=UTF-8''${date}-followup-${followup}.csv.gz`
    assertWhole(await ask(), content, `attachment; filename="${date}.txt.gz"; ${extended}`)
  })
}

test('the newest available file is dated yesterday, even on the first day of a subscription', async () => {
  const content = listOf('a.example')
  await publish(world, '2026-11-19.txt.gz', content)
  const { token } = await world.account({ periods: ['basic:2026-11-20..'] })
  assertWhole(
    await fetchFile(world, '/v1.0/daily', post({ token, date: '2026-11-19' })),
    content,
    'attachment; filename="2026-11-19.txt.gz"',
  )
})
