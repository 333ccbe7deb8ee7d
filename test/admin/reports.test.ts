/** /admin/v1: usage for an invoice, and the audit log. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Day } from '../../src/values/time.ts'
import { assertError } from '../app/sessions.ts'
import { makeWorld } from '../spec/world.ts'
import { TESTER } from '../tester.ts'
import { operatorOf } from './operators.ts'

type Line = { day: string; email: string; endpoint: string; token: number; token_name: string; calls: number }
type Report = { from: string; to: string; usage: Line[]; next: string | null }

const world = await makeWorld()
const operator = await operatorOf(world)
const accounts = [await world.account(), await world.account(), await world.account()].map(({ account }) => account)
const [first, second, third] = accounts as [(typeof accounts)[0], (typeof accounts)[0], (typeof accounts)[0]]
const [token] = await world.store.ledger.tokens(first.id)
const note = (account: number, of: number, day: string, calls: number) => {
  return { account, token: of, endpoint: 'lookup', day: day as Day, calls, lastCall: world.clock.now }
}
await world.store.ledger.recordUsage([
  note(first.id, token!.id, '2026-11-19', 3),
  note(first.id, 0, '2026-11-20', 2),
  note(first.id, 0, '2026-01-01', 7),
  note(third.id, 0, '2026-11-20', 5),
])

test('the usage of an account has its lines by day, endpoint and token', async () => {
  const report = await operator.read<Report>(`/accounts/${first.id}/usage?from=2026-11-01&to=2026-11-30`)
  const line = { account: first.id, email: first.email, endpoint: 'lookup' }
  assert.deepEqual(report, {
    from: '2026-11-01',
    to: '2026-11-30',
    usage: [
      { ...line, day: '2026-11-19', token: token!.id, token_name: 'test', calls: 3 },
      { ...line, day: '2026-11-20', token: 0, token_name: 'web page', calls: 2 },
    ],
    next: null,
  })
})

test('the usage of all accounts is read page by page, without accounts missing', async () => {
  const pages: Report[] = []
  for (let after: string | null = ''; after !== null; after = pages.at(-1)!.next)
    pages.push(await operator.read<Report>(`/usage?from=2026-11-01&to=2026-11-20&limit=1&after=${after}`))
  assert.equal(pages.length, 3)
  assert.deepEqual(
    pages.map(({ usage }) => usage.reduce((sum, { calls }) => sum + calls, 0)),
    [5, 0, 5],
  )
  const whole = await operator.read<Report>('/usage?from=2026-11-01&to=2026-11-20')
  assert.deepEqual(
    whole.usage,
    pages.flatMap(({ usage }) => usage),
  )
  assert.equal(second.email > first.email, true)
})

test('the same as CSV, with the next page in the header Link', async () => {
  const seen = await operator.download('/usage.csv?from=2026-11-19&to=2026-11-20&limit=2')
  assert.equal(seen.headers.get('content-type'), 'text/csv; charset=utf-8')
  assert.equal(seen.headers.get('content-disposition'), 'attachment; filename="usage-2026-11-19-2026-11-20.csv"')
  assert.deepEqual(seen.text.split('\n'), [
    'day,account,email,endpoint,token,token_name,calls',
    `2026-11-19,${first.id},"${first.email}",lookup,${token!.id},"test",3`,
    `2026-11-20,${first.id},"${first.email}",lookup,0,"web page",2`,
    '',
  ])
  const [, path] = /^<\/admin\/v1([^>]+)>; rel="next"$/.exec(seen.headers.get('link') ?? '') ?? []
  const next = await operator.download(path!)
  assert.match(next.text, new RegExp(`^2026-11-20,${third.id},"${third.email}",lookup,0,"web page",5$`, 'm'))
  assert.equal(next.headers.get('link'), null)
  const one = await operator.download(`/accounts/${first.id}/usage.csv?from=2026-11-20&to=2026-11-20`)
  assert.equal(one.text.split('\n').length, 3)
})

test('the range of days is bounded: 400 for one account, 93 for all', async () => {
  for (const path of ['/usage', '/usage.csv'])
    assertError(await operator.send(`${path}?from=2026-08-01&to=2026-11-20`), 400, 'value_invalid')
  const path = `/accounts/${first.id}/usage`
  assert.equal((await operator.read<Report>(`${path}?from=2026-01-01&to=2026-11-20`)).usage.length, 3)
  assertError(await operator.send(`${path}?from=2025-01-01&to=2026-11-20`), 400, 'value_invalid')
  assertError(await operator.send(`${path}?from=2026-11-20&to=2026-11-19`), 400, 'value_invalid')
})

test('the audit log is read from its newest entry, by account and by day', async () => {
  await world.store.ledger.as(TESTER).setPlan(second.id, 'basic')
  type Log = { entries: { id: number; time: string; action: string; email: string; details: object }[]; next: number }
  const page = await operator.read<Log>('/audit?limit=1')
  const [newest] = page.entries
  assert.deepEqual(
    [newest?.action, newest?.email, newest?.time],
    ['account.plan', second.email, '2026-11-20T12:00:00Z'],
  )
  assert.deepEqual(newest?.details, { from: 'free', to: 'basic' })
  assert.equal(page.next, newest?.id)
  const [before] = (await operator.read<Log>(`/audit?limit=1&before=${page.next}`)).entries
  assert.ok(before!.id < newest!.id)
  const ofSecond = await operator.read<Log>(`/audit?email=${second.email}`)
  assert.deepEqual(
    ofSecond.entries.map(({ action }) => action),
    ['account.plan', 'token.create', 'account.create'],
  )
  assert.deepEqual((await operator.read<Log>('/audit?from=2026-11-21')).entries, [])
  const plans = await operator.read<Log>('/audit?action=account.plan')
  assert.deepEqual(
    plans.entries.map(({ action, email }) => [action, email]),
    [['account.plan', second.email]],
  )
  assert.deepEqual((await operator.read<Log>(`/audit?action=account.plan&email=${first.email}`)).entries, [])
  for (const query of ['limit=0', 'limit=501', 'before=x', 'from=x', 'email=x', 'action=x', 'other=1'])
    assertError(await operator.send(`/audit?${query}`), 400, 'value_invalid')
})
