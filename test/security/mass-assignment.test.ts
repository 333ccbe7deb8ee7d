/** OWASP API3:2023, broken object property level authorization: no hidden property is written or shown. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { visit } from '../app/sessions.ts'
import { makeWorld } from '../spec/world.ts'

type Created = { token: Record<string, unknown> & { id: number }; secret: string }

const world = await makeWorld()

/** Properties that a request must not set. */
const HIDDEN = {
  id: 4711,
  account: 1,
  hash: '00',
  hint: 'dxt_mine',
  created: '2020-01-01T00:00:00Z',
  revoked: '2020-01-01T00:00:00Z',
  last_used: '2020-01-01T00:00:00Z',
  today: 99,
  secret: 'dxt_mine',
  token: 'dxt_mine',
  plan: 'premium',
  base_plan: 'premium',
  role: 'admin',
  limits: { daily_calls: null },
  periods: [{ plan: 'premium', first: '2020-01-01', last: null }],
  addons: ['export'],
  suspended: null,
}
const TOKEN_KEYS = ['created', 'expires', 'hint', 'id', 'last_used', 'name', 'revoked', 'today']

test('properties that a token does not take are ignored, and the account stays as it is', async () => {
  const { account } = await world.account()
  const me = await visit(world, account)
  const body = `{"__proto__":{"expires":"2030-01-01"},"constructor":{"name":"x"},${JSON.stringify({ ...HIDDEN, name: 'a' }).slice(1)}`
  const seen = await world.send('/app/tokens', { method: 'POST', headers: me.headers, body })
  assert.equal(seen.status, 201)
  const { token, secret } = seen.body as Created
  assert.deepEqual(Object.keys(token).toSorted(), TOKEN_KEYS)
  assert.notEqual(token.id, HIDDEN.id)
  assert.notEqual(secret, HIDDEN.secret)
  const { created, expires, revoked, last_used, today, hint } = token
  assert.deepEqual(
    { created, expires, revoked, last_used, today, hint },
    {
      created: '2026-11-20T12:00:00Z',
      expires: null,
      revoked: null,
      last_used: null,
      today: 0,
      hint: secret.slice(0, 8),
    },
  )
  assert.deepEqual(await world.store.ledger.account(account.email), account)
})

test('a replaced token keeps its name and lifetime, whatever the request says', async () => {
  const { account } = await world.account()
  const me = await visit(world, account)
  const first = (await me.send('/app/tokens', 'POST', { name: 'first' })).body as Created
  const body = { ...HIDDEN, grace_hours: 0, name: 'other', expires: '2030-01-01', until: 4e9 }
  const next = (await me.send(`/app/tokens/${first.token.id}/rotate`, 'POST', body)).body as Created
  assert.deepEqual([next.token.name, next.token.expires], ['first', null])
  assert.deepEqual(await world.store.ledger.account(account.email), account)
})

test('no parameter of a query changes the caller', async () => {
  const [mine, theirs] = [await world.account(), await world.account({ plan: 'premium' })]
  const me = await visit(world, mine.account)
  const body = { query: 'a.example', token: theirs.token, account: theirs.account.id, plan: 'premium', limits: {} }
  const seen = await me.send('/app/api/dnshistory', 'POST', body)
  assert.equal((seen.body as { error: string }).error, 'plan_required')
})

test('a response shows no hash, no secret and nothing of the account besides what the page needs', async () => {
  const { account, token } = await world.account({ plan: 'premium', addons: ['export'] })
  const me = await visit(world, account)
  for (const path of ['/app/tokens', '/app/usage', '/app/plan', '/app/files', '/files']) {
    const { text } = await me.send(path)
    assert.doesNotMatch(text, /"(hash|password|role|suspended|account|secret)"/, path)
    assert.ok(!text.includes(token), path)
  }
})
