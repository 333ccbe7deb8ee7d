/** Errors: every row of the table, the position of the error, and which of two errors is reported. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { StoreFault } from '../../src/store/port/fault.ts'
import { assertRefused, type ErrorKey, STATUS } from './errors.ts'
import { hosted, look, redirecting } from './observations.ts'
import { metaOf } from './walks.ts'
import { makeWorld, NOON, type Parameters } from './world.ts'

const world = await makeWorld()
const TODAY = '2026-11-20'
const ACCOUNTS = {
  free: await world.account(),
  spent: await world.account(),
  paid: await world.account({ plan: 'premium' }),
  subscribed: await world.account({ periods: ['basic:2026-06-01..2026-08-31', 'basic:2026-10-01..2026-10-31'] }),
  revoked: await world.account(),
}
type Who = keyof typeof ACCOUNTS
let cursor = ''

before(async () => {
  await world.ingest(redirecting('a.test', 'hub.test'), redirecting('b.test', 'hub.test'), look('hub.test'))
  await world.ingest(hosted('hub.test', ['192.0.2.1']))
  await world.revoke(ACCOUNTS.revoked)
  const { account } = ACCOUNTS.spent
  const ask = { account: account.id, day: TODAY as never, limit: 100, requested: 1, holder: 'other' }
  for (let units = 0; units < 100; units++) await world.store.ledger.takeQuota(ask)
  cursor = metaOf(await world.ask('redirect', { token: ACCOUNTS.paid.token, query: 'hub.test', limit: 1 })).next
})

/** Key, endpoint, account and parameters. `CURSOR` stands for a cursor of /redirect for hub.test. */
const ROWS: readonly [ErrorKey, string, Who | null, Parameters][] = [
  ['query_missing', 'lookup', 'free', {}],
  ['query_missing', 'lookup', 'free', { query: '' }],
  ['domain_format', 'lookup', 'free', { query: 'nodot' }],
  ['date_missing', 'daily', 'subscribed', {}],
  ['date_format', 'daily', 'subscribed', { date: '20.11.2026' }],
  ['type_invalid', 'dnshistory', 'paid', { query: 'a.test', type: 'SRV' }],
  ['followup_invalid', 'daily', 'subscribed', { date: '2026-10-10', followup: 8 }],
  ['cursor_invalid', 'redirect', 'free', { query: 'hub.test', next: 'unreadable' }],
  ['cursor_mismatch', 'redirect', 'free', { query: 'a.test', next: 'CURSOR' }],
  ['cursor_needs_type', 'dnshistory', 'paid', { query: 'a.test', next: '2026-11-19T00:00:00' }],
  ['token_missing', 'lookup', null, { query: 'a.test' }],
  ['token_invalid', 'lookup', 'revoked', { query: 'a.test' }],
  ['plan_required', 'dnshistory', 'free', { query: 'a.test' }],
  ['plan_required', 'daily', 'free', { date: '2026-10-10' }],
  ['premium_required', 'daily', 'subscribed', { date: '2026-10-10', followup: 7 }],
  ['addon_required', 'snapshot', 'paid', {}],
  ['no_subscription', 'daily', 'paid', { date: '2026-10-10' }],
  ['before_subscription', 'daily', 'subscribed', { date: '2026-01-01' }],
  ['after_subscription', 'daily', 'subscribed', { date: '2026-11-19' }],
  ['outside_subscription', 'daily', 'subscribed', { date: '2026-09-15' }],
  ['no_data', 'lookup', 'free', { query: 'unknown.test' }],
  ['no_data', 'reverseip', 'free', { query: 'unknown.test' }],
  ['no_data', 'daily', 'subscribed', { date: '2026-10-10' }],
  ['endpoint_unknown', 'nothing', 'free', { query: 'a.test' }],
  ['body_too_large', 'lookup', 'free', { query: 'a.test', pad: 'x'.repeat(65_536) }],
]

const shown = (parameters: Parameters) => JSON.stringify(parameters).slice(0, 60)

async function assertRow(key: ErrorKey, endpoint: string, who: Who | null, given: Parameters): Promise<void> {
  const next = given.next === 'CURSOR' ? cursor : given.next
  const parameters = { ...given, next, token: who === null ? undefined : ACCOUNTS[who].token }
  assertRefused(await world.ask(endpoint, parameters), endpoint, key)
}

for (const [key, endpoint, who, parameters] of ROWS) {
  test(`${STATUS[key]} ${key}: /${endpoint} ${shown(parameters)} as ${who ?? 'nobody'}`, () =>
    assertRow(key, endpoint, who, parameters))
}

test('400 cursor_expired: cursor older than 24 hours', async () => {
  world.clock.now = NOON + 86_400
  await assertRow('cursor_expired', 'redirect', 'free', { query: 'hub.test', next: 'CURSOR' })
  world.clock.now = NOON
})

test('429 rate_limited: daily limit reached; body adds limit and used; header Retry-After', async () => {
  const seen = await world.ask('lookup', { token: ACCOUNTS.spent.token, query: 'hub.test' })
  assertRefused(seen, 'lookup', 'rate_limited', { limit: 100, used: 100 })
  assert.equal(seen.headers.get('Retry-After'), '43200')
})

test('500 internal_error: server-side failure without details, in the format of its endpoint, and free of charge', async () => {
  const { token } = await world.account({ plan: 'basic' })
  const broken = () => Promise.reject(new Error('disk on fire at /secret/path'))
  const { facts } = world.store
  const failing = { lookup: broken, redirects: broken, neighboursOf: broken, history: broken }
  await world.serve({ ...world.store, facts: { ...facts, ...failing } })
  for (const endpoint of ['lookup', 'redirect', 'reverseip', 'dnshistory']) {
    const seen = await world.ask(endpoint, { token, query: 'hub.test' })
    assert.doesNotMatch(assertRefused(seen, endpoint, 'internal_error'), /fire|secret|Error/)
  }
  await world.serve()
  const quota = await world.send('/account/quota', { headers: { Authorization: `Bearer ${token}` } })
  assert.equal((quota.body as { used: number }).used, 0)
})

test('500 internal_error has Retry-After if the store does not answer, and none for an error in the code', async () => {
  const { token } = await world.account({ plan: 'premium' })
  const { facts } = world.store
  for (const [error, retryAfter] of [
    [new StoreFault('postgres://db: nothing answers there'), '1'],
    [Object.assign(new Error('database or disk is full'), { errcode: 13 }), '1'],
    [new Error('the store is on fire'), null],
  ] as const) {
    const broken = (): Promise<never> => Promise.reject(error)
    await world.serve({ ...world.store, facts: { ...facts, lookup: broken } })
    const seen = await world.ask('lookup', { token, query: 'hub.test' })
    assert.doesNotMatch(assertRefused(seen, 'lookup', 'internal_error'), /fire|full|postgres/)
    assert.equal(seen.headers.get('Retry-After'), retryAfter)
  }
  await world.serve()
})

test('the seven situations that give 403 have different keys', () => {
  const keys = Object.entries(STATUS).filter(([, status]) => status === 403)
  assert.equal(keys.length, 7)
  for (const [key] of keys)
    assert.ok(
      ROWS.some(([row]) => row === key),
      key,
    )
})

/** Two errors in one request: the endpoint, the account, the parameters, and the reported error. */
const PAIRS: readonly [string, string, Who | null, Parameters, ErrorKey][] = [
  ['endpoint before size', 'nothing', 'free', { pad: 'x'.repeat(65_536) }, 'endpoint_unknown'],
  ['endpoint before token', 'nothing', null, {}, 'endpoint_unknown'],
  ['size before token', 'lookup', null, { pad: 'x'.repeat(65_536) }, 'body_too_large'],
  ['size before quota', 'lookup', 'spent', { pad: 'x'.repeat(65_536) }, 'body_too_large'],
  ['token before plan', 'dnshistory', null, { query: 'a.test' }, 'token_missing'],
  ['token before parameters', 'lookup', null, {}, 'token_missing'],
  ['token before parameters', 'lookup', 'revoked', {}, 'token_invalid'],
  ['plan before parameters', 'dnshistory', 'free', {}, 'plan_required'],
  ['plan before parameters', 'dnshistory', 'free', { query: 'nodot', type: 'X', next: 'y' }, 'plan_required'],
  ['plan before parameters', 'daily', 'free', {}, 'plan_required'],
  ['query_missing before type_invalid', 'dnshistory', 'paid', { type: 'X' }, 'query_missing'],
  ['query_missing before cursor_invalid', 'redirect', 'free', { next: 'x' }, 'query_missing'],
  ['domain_format before type_invalid', 'dnshistory', 'paid', { query: 'nodot', type: 'X' }, 'domain_format'],
  ['domain_format before cursor_invalid', 'reverseip', 'free', { query: 'nodot', next: 'x' }, 'domain_format'],
  [
    'type_invalid before cursor_invalid',
    'dnshistory',
    'paid',
    { query: 'a.test', type: 'X', next: 'y' },
    'type_invalid',
  ],
  [
    'type_invalid before cursor_needs_type',
    'dnshistory',
    'paid',
    { query: 'a.test', type: 'X', next: '2026-11-19T00:00:00' },
    'type_invalid',
  ],
  ['cursor_invalid before cursor_needs_type', 'dnshistory', 'paid', { query: 'a.test', next: 'x' }, 'cursor_invalid'],
  ['cursor_mismatch before no_data', 'reverseip', 'free', { query: 'unknown.test', next: 'CURSOR' }, 'cursor_mismatch'],
  ['cursor_invalid before no_data', 'reverseip', 'free', { query: 'unknown.test', next: 'x' }, 'cursor_invalid'],
  ['date_format before followup_invalid', 'daily', 'subscribed', { date: 'x', followup: 1 }, 'date_format'],
  [
    'followup_invalid before the period',
    'daily',
    'subscribed',
    { date: '2020-01-01', followup: 1 },
    'followup_invalid',
  ],
  ['the period before premium', 'daily', 'subscribed', { date: '2020-01-01', followup: 7 }, 'before_subscription'],
  ['premium before no_data', 'daily', 'subscribed', { date: '2026-10-10', followup: 7 }, 'premium_required'],
]

for (const [order, endpoint, who, parameters, key] of PAIRS) {
  test(`order of checks: ${order}: /${endpoint} ${shown(parameters)} is ${key}`, () =>
    assertRow(key, endpoint, who, parameters))
}

test('order of checks: quota before plan, add-on and parameters', async () => {
  const { token } = ACCOUNTS.spent
  for (const endpoint of ['dnshistory', 'daily', 'snapshot', 'lookup', 'redirect', 'reverseip', 'similar']) {
    assertRefused(await world.ask(endpoint, { token }), endpoint, 'rate_limited', { limit: 100, used: 100 })
  }
})

test('order of checks: cursor_expired before cursor_mismatch', async () => {
  world.clock.now = NOON + 86_400
  await assertRow('cursor_expired', 'redirect', 'free', { query: 'a.test', next: 'CURSOR' })
  world.clock.now = NOON
})
