/** Plans of the operator: the plan local, which has no limits, and limits that a file has changed. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { DEFAULT_PLAN_LIMITS } from '../../src/accounts/plan.ts'
import { readPlanFile } from '../../src/accounts/plan-file.ts'
import { dayOf } from '../../src/values/time.ts'
import { assertRefused } from './errors.ts'
import { assertWhole, fetchFile, listOf, post, publish } from './files/files.ts'
import { look } from './observations.ts'
import { metaOf } from './walks.ts'
import { makeWorld, NOON } from './world.ts'

const world = await makeWorld()
const QUERY = { query: 'known.example' }
const NAMES = listOf('a.example', 'b.example')
const FOLLOWUP = listOf('domain,has_website')

before(async () => {
  await world.ingest(look('known.example'))
  await publish(world, '2020-01-01.txt.gz', NAMES)
  await publish(world, '2020-01-01-followup-7.csv.gz', FOLLOWUP)
  await publish(world, 'domains-2026-11-20.txt.gz', NAMES)
  await publish(world, 'domains-enriched-2026-11-20.csv.gz', FOLLOWUP)
})

const quotaOf = async (token: string) =>
  (await world.send('/account/quota', { headers: { Authorization: `Bearer ${token}` } })).body

test('plan local: every endpoint, without a daily limit, and its calls are in the usage', async () => {
  const { account, token } = await world.account({ plan: 'local' })
  for (const endpoint of ['lookup', 'redirect', 'dnshistory']) {
    const seen = await world.ask(endpoint, { ...QUERY, token })
    assert.equal(seen.status, 200)
    assert.equal(seen.headers.get('ratelimit'), null)
  }
  assertRefused(await world.ask('reverseip', { ...QUERY, token }), 'reverseip', 'no_data')
  assertRefused(await world.ask('lookup', { query: 'x', token }), 'lookup', 'domain_format')
  assert.deepEqual(await quotaOf(token), { limit: null, used: 4, remaining: null, reset: '2026-11-21T00:00:00+00:00' })
  const usage = await world.store.ledger.usage(account.id, null, null)
  assert.deepEqual(
    usage.map(({ day, endpoint, calls }) => [day, endpoint, calls]),
    ['dnshistory', 'lookup', 'redirect', 'reverseip'].map((endpoint) => [dayOf(NOON), endpoint, 1]),
  )
  assert.equal(metaOf(await world.ask('redirect', { ...QUERY, token })).max_limit, 50_000)
})

test('plan local: every existing file, follow-ups and both snapshots, without periods and add-ons', async () => {
  const { token } = await world.account({ plan: 'local' })
  const fetched = (endpoint: string, parameters: object) =>
    fetchFile(world, `/v1.0/${endpoint}`, post({ token, ...parameters }))
  const named = (name: string) => `attachment; filename="${name}"`
  const extended = `${named('2020-01-01.txt.gz')}; filename*=UTF-8''2020-01-01-followup-7.csv.gz`
  assertWhole(await fetched('daily', { date: '2020-01-01' }), NAMES, named('2020-01-01.txt.gz'))
  assertWhole(await fetched('daily', { date: '2020-01-01', followup: 7 }), FOLLOWUP, extended)
  assertRefused(await world.ask('daily', { token, date: '2020-01-02' }), 'daily', 'no_data')
  assertWhole(await fetched('snapshot', { download: 1 }), NAMES, named('domains-2026-11-20.txt.gz'))
  const enriched = await fetched('snapshot', { download: 1, enriched: 1 })
  assertWhole(enriched, FOLLOWUP, named('domains-enriched-2026-11-20.csv.gz'))
  assert.equal(metaOf(await world.ask('snapshot', { token })).enriched_available, true)
  const bearer = { headers: { Authorization: `Bearer ${token}` } }
  assert.equal((await fetchFile(world, '/files/2020-01-01.txt.gz', { method: 'HEAD', ...bearer })).status, 200)
})

test('limits of a file are in force: calls per day, rows per page, states per record type', async () => {
  const file = { free: { daily_calls: 2, page_rows: 7, history_states: 3 }, basic: { history_states: null } }
  const limits = readPlanFile(JSON.stringify(file))
  assert.ok(!Array.isArray(limits))
  await world.serve(world.store, limits as typeof DEFAULT_PLAN_LIMITS)
  const { token } = await world.account()
  assert.equal(metaOf(await world.ask('redirect', { ...QUERY, token, limit: 50 })).max_limit, 7)
  const history = await world.ask('dnshistory', { ...QUERY, token })
  assert.deepEqual([metaOf(history).limit, metaOf(history).max_limit], [3, 3])
  assert.match(history.headers.get('ratelimit-policy')!, /q=2;/)
  assertRefused(await world.ask('lookup', { ...QUERY, token }), 'lookup', 'rate_limited', { limit: 2, used: 2 })
  const basic = await world.account({ plan: 'basic' })
  assertRefused(await world.ask('dnshistory', { ...QUERY, token: basic.token }), 'dnshistory', 'plan_required')
  await world.serve()
})
