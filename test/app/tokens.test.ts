/** /app/tokens: the tokens of an account. A new one is shown once, works at once, and is in the audit log. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Known, makeWorld } from '../spec/world.ts'
import { until } from '../until.ts'
import { assertError, type Visitor, visit } from './sessions.ts'

type Token = {
  id: number
  name: string
  hint: string
  created: string
  last_used: string | null
  expires: string | null
  revoked: string | null
  today: number
}
type Created = { token: Token; secret: string }

const world = await makeWorld()
const NOW = '2026-11-20T12:00:00Z'

async function visitor(): Promise<Visitor & { known: Known }> {
  const known = await world.account()
  return { ...(await visit(world, known.account)), known }
}

const statusWith = async (token: string) =>
  (await world.send('/account/quota', { headers: { Authorization: `Bearer ${token}` } })).status
const listOf = async ({ read }: Visitor) => (await read<{ tokens: Token[] }>('/app/tokens')).tokens

async function created(by: Visitor, body: object = { name: 'laptop' }): Promise<Created> {
  const seen = await by.send('/app/tokens', 'POST', body)
  assert.equal(seen.status, 201, seen.text)
  return seen.body as Created
}

test('a token is created with its name and expiry, works, and its text is shown once', async () => {
  const by = await visitor()
  const { token, secret } = await created(by, { name: '  laptop ', expires: '2026-12-24' })
  assert.match(secret, /^dxt_[0-9A-Za-z]{33}$/)
  assert.deepEqual(token, {
    id: token.id,
    name: 'laptop',
    hint: secret.slice(0, 8),
    created: NOW,
    last_used: null,
    expires: '2026-12-24T00:00:00Z',
    revoked: null,
    today: 0,
  })
  assert.equal(await statusWith(secret), 200)
  const listed = await by.send('/app/tokens')
  assert.deepEqual((listed.body as { tokens: Token[] }).tokens[1], token)
  assert.ok(!listed.text.includes(secret))
})

test('the list has the calls of today and the last use of each token', async () => {
  const by = await visitor()
  const { token, secret } = await created(by)
  for (let call = 0; call < 3; call++) await world.ask('lookup', { token: secret, query: 'unknown.example' })
  const listed = await until(async () => {
    const tokens = await listOf(by)
    return tokens.find(({ id, today }) => id === token.id && today === 3) ?? null
  })
  assert.equal(listed.last_used, NOW)
})

test('a revoked token is rejected, stays in the list, and cannot be revoked again', async () => {
  const by = await visitor()
  const { token, secret } = await created(by)
  const path = `/app/tokens/${token.id}`
  const seen = await by.send(path, 'DELETE')
  assert.deepEqual([seen.status, seen.text], [204, ''])
  assert.equal(await statusWith(secret), 401)
  assert.equal((await listOf(by)).find(({ id }) => id === token.id)?.revoked, NOW)
  assertError(await by.send(path, 'DELETE'), 404, 'not_found')
})

test('a token is replaced: both work for the grace time, and then the new one alone', async (t) => {
  const by = await visitor()
  const { token, secret } = await created(by, { name: 'server', expires: '2026-12-20T12:00:00Z' })
  const seen = await by.send(`/app/tokens/${token.id}/rotate`, 'POST', { grace_hours: 2 })
  assert.equal(seen.status, 201)
  const next = seen.body as Created
  assert.deepEqual([next.token.name, next.token.expires], ['server', '2026-12-20T12:00:00Z'])
  assert.equal((await listOf(by)).find(({ id }) => id === token.id)?.expires, '2026-11-20T14:00:00Z')
  assert.deepEqual([await statusWith(secret), await statusWith(next.secret)], [200, 200])
  t.after(() => {
    world.clock.now -= 7200
  })
  world.clock.now += 7200
  assert.deepEqual([await statusWith(secret), await statusWith(next.secret)], [401, 200])
})

test('without a grace time, the replaced token ends at once', async () => {
  const by = await visitor()
  const { token, secret } = await created(by)
  const { secret: next } = (await by.send(`/app/tokens/${token.id}/rotate`, 'POST', { grace_hours: 0 })).body as Created
  assert.deepEqual([await statusWith(secret), await statusWith(next)], [401, 200])
  assertError(await by.send(`/app/tokens/${token.id}/rotate`, 'POST', { grace_hours: 0 }), 404, 'not_found')
})

test('each change is in the audit log with the account as the actor', async () => {
  const by = await visitor()
  const { token } = await created(by)
  const next = (await by.send(`/app/tokens/${token.id}/rotate`, 'POST', { grace_hours: 1 })).body as Created
  await by.send(`/app/tokens/${next.token.id}`, 'DELETE')
  const { email } = by.account
  const entries = await world.store.ledger.audit({ email, from: null, to: null }, 0, 100)
  assert.deepEqual(
    entries.slice(-3).map(({ actor, origin, action, details }) => [actor, origin, action, details.token]),
    [
      [email, 'web', 'token.create', token.id],
      [email, 'web', 'token.rotate', token.id],
      [email, 'web', 'token.revoke', next.token.id],
    ],
  )
  assert.doesNotMatch(JSON.stringify(entries), /dxt_/)
})

test('a wrong value is named', async () => {
  const by = await visitor()
  const { token } = await created(by)
  const wrong: [path: string, body: object, field: string][] = [
    ['/app/tokens', {}, 'name'],
    ['/app/tokens', { name: '' }, 'name'],
    ['/app/tokens', { name: 7 }, 'name'],
    ['/app/tokens', { name: 'x'.repeat(101) }, 'name'],
    ['/app/tokens', { name: 'a\u0000b' }, 'name'],
    ['/app/tokens', { name: 'a', expires: 'soon' }, 'expires'],
    ['/app/tokens', { name: 'a', expires: 1 }, 'expires'],
    ['/app/tokens', { name: 'a', expires: NOW }, 'expires'],
    ['/app/tokens', [], 'body'],
    ...[undefined, null, -1, 169, 1.5, '1', {}].map((grace_hours): [string, object, string] => [
      `/app/tokens/${token.id}/rotate`,
      { grace_hours },
      'grace_hours',
    ]),
  ]
  for (const [path, body, field] of wrong) {
    const error = assertError(await by.send(path, 'POST', body), 400, 'value_invalid')
    assert.equal(error.field, field, JSON.stringify(body))
  }
  for (const id of ['0', '-1', '1e3', '99999999999', 'x', '4294967297'])
    assertError(await by.send(`/app/tokens/${id}`, 'DELETE'), 404, 'not_found')
  assert.equal((await listOf(by)).length, 2)
})
