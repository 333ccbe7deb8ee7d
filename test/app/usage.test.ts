/** /app/usage: the calls of an account by day, endpoint and token, as JSON and CSV. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UsageNote } from '../../src/store/port/ledger.ts'
import type { Day } from '../../src/values/time.ts'
import { makeWorld, NOON } from '../spec/world.ts'
import { TESTER } from '../tester.ts'
import { assertError, visit } from './sessions.ts'

type Usage = {
  limit: number | null
  used: number
  remaining: number | null
  reset: string
  days: { day: string; calls: number; endpoints: Record<string, number>; tokens: Record<string, number> }[]
  tokens: Record<string, string>
}

const world = await makeWorld()

const note = (account: number, token: number, endpoint: string, day: string, calls: number): UsageNote => {
  return { account, token, endpoint, day: day as Day, calls, lastCall: NOON }
}

async function busyAccount(name = 'laptop') {
  const { account } = await world.account({ plan: 'basic' })
  const record = { name, hint: 'dxt_abcd', hash: new Uint8Array(32).fill(account.id), expires: null }
  const token = await world.store.ledger.as(TESTER).createToken(account.id, record, NOON)
  await world.store.ledger.recordUsage([
    note(account.id, token.id, 'lookup', '2026-11-20', 3),
    note(account.id, 0, 'lookup', '2026-11-20', 2),
    note(account.id, 0, 'daily', '2026-11-20', 1),
    note(account.id, token.id, 'redirect', '2026-10-22', 5),
    note(account.id, token.id, 'redirect', '2026-10-21', 7),
  ])
  return { account, token, visitor: await visit(world, account) }
}

test('by default it has the last 30 days, each with its calls by endpoint and by token', async () => {
  const { token, visitor } = await busyAccount()
  const { days, tokens, ...quota } = await visitor.read<Usage>('/app/usage')
  assert.deepEqual(quota, { limit: 25_000, used: 0, remaining: 25_000, reset: '2026-11-21T00:00:00Z' })
  assert.deepEqual([days.length, days[0]?.day, days.at(-1)?.day], [30, '2026-10-22', '2026-11-20'])
  assert.deepEqual(days.at(-1), {
    day: '2026-11-20',
    calls: 6,
    endpoints: { daily: 1, lookup: 5 },
    tokens: { 0: 3, [token.id]: 3 },
  })
  assert.deepEqual(days[0], { day: '2026-10-22', calls: 5, endpoints: { redirect: 5 }, tokens: { [token.id]: 5 } })
  assert.deepEqual(days[1], { day: '2026-10-23', calls: 0, endpoints: {}, tokens: {} })
  assert.deepEqual(tokens, { 0: 'web page', [token.id]: 'laptop' })
})

test('a range includes both its days', async () => {
  const { visitor } = await busyAccount()
  const { days } = await visitor.read<Usage>('/app/usage?from=2026-10-20&to=2026-10-21')
  assert.deepEqual(
    days.map(({ day, calls }) => [day, calls]),
    [
      ['2026-10-20', 0],
      ['2026-10-21', 7],
    ],
  )
})

test('what is used today counts calls of the session', async () => {
  const { account } = await world.account()
  const visitor = await visit(world, account)
  await visitor.send('/app/api/lookup?query=unknown.example')
  const { limit, used, remaining } = await visitor.read<Usage>('/app/usage')
  assert.deepEqual({ limit, used, remaining }, { limit: 100, used: 1, remaining: 99 })
  const local = await visit(world, (await world.account({ plan: 'local' })).account)
  assert.equal((await local.read<Usage>('/app/usage')).limit, null)
})

test('calls of two sessions at a time are recorded for their own accounts', async () => {
  const visitors = await Promise.all(
    [1, 2, 3].map(async () => visit(world, (await world.account({ plan: 'local' })).account)),
  )
  for (let call = 0; call < 5; call++)
    await Promise.all(visitors.map((visitor) => visitor.send('/app/api/lookup?query=unknown.example')))
  for (const visitor of visitors) {
    const { days } = await visitor.read<Usage>('/app/usage')
    assert.deepEqual(days.at(-1)?.endpoints, { lookup: 5 })
  }
})

test('the same rows are there as CSV', async () => {
  const { token, visitor } = await busyAccount('a "b", c')
  const response = await fetch(`${world.address}/app/usage.csv?from=2026-10-21`, { headers: visitor.headers })
  assert.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8')
  assert.match(response.headers.get('content-disposition')!, /filename="usage-2026-10-21-2026-11-20.csv"/)
  const name = '"a ""b"", c"'
  assert.deepEqual((await response.text()).split('\n'), [
    'day,endpoint,token,token_name,calls',
    `2026-10-21,redirect,${token.id},${name},7`,
    `2026-10-22,redirect,${token.id},${name},5`,
    '2026-11-20,daily,0,"web page",1',
    '2026-11-20,lookup,0,"web page",2',
    `2026-11-20,lookup,${token.id},${name},3`,
    '',
  ])
})

test('a name that a spreadsheet would run is a text', async () => {
  const { visitor } = await busyAccount('=HYPERLINK("https://evil.example")')
  const response = await fetch(`${world.address}/app/usage.csv`, { headers: visitor.headers })
  assert.match(await response.text(), /,"'=HYPERLINK\(""https:\/\/evil.example""\)",/)
})

test('a wrong range is named', async () => {
  const { visitor } = await busyAccount()
  for (const [query, field] of [
    ['from=yesterday', 'from'],
    ['to=2026-02-30', 'to'],
    ['from=2026-11-21&to=2026-11-20', 'from'],
    ['from=2025-01-01&to=2026-11-20', 'from'],
    ['from=2026-11-21', 'from'],
  ])
    assert.equal(assertError(await visitor.send(`/app/usage?${query}`), 400, 'value_invalid').field, field, query)
  const { days } = await visitor.read<Usage>('/app/usage?from=2025-10-17&to=2026-11-20')
  assert.equal(days.length, 400)
})
