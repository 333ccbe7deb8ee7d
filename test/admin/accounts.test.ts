/** /admin/v1: accounts, periods, add-ons and tokens, by the token of an operator. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertError } from '../app/sessions.ts'
import { makeWorld } from '../spec/world.ts'
import { operatorOf, visitAsOperator } from './operators.ts'

type Account = {
  id: number
  email: string
  plan: string
  plan_in_force: string
  role: string
  periods: object[]
  addons: string[]
  suspended: string | null
}
type Page = { accounts: Account[]; next: string | null }
type Created = { token: { id: number; name: string }; secret: string }

const world = await makeWorld()
const operator = await operatorOf(world)
const PERIOD = { plan: 'premium', first: '2026-11-01', last: '2026-11-30' }

const create = (email: string, more: object = {}) =>
  operator.read<Account>('/accounts', { method: 'POST', body: { email, ...more } })
const statusWith = async (token: string) =>
  (await world.send('/account/quota', { headers: { Authorization: `Bearer ${token}` } })).status

test('an account is created with its plan, periods and add-ons, and read again', async () => {
  const account = await create('Ann@Example.com', { plan: 'basic', periods: [PERIOD], addons: ['export', 'export'] })
  assert.deepEqual(account, {
    id: account.id,
    email: 'ann@example.com',
    role: 'user',
    plan: 'basic',
    plan_in_force: 'premium',
    periods: [PERIOD],
    addons: ['export'],
    created: '2026-11-20T12:00:00Z',
    suspended: null,
  })
  assert.deepEqual(await operator.read(`/accounts/${account.id}`), account)
  const again = await operator.send('/accounts', { method: 'POST', body: { email: 'ann@example.com' } })
  assertError(again, 409, 'conflict')
})

test('accounts are listed page by page and found by the start of their address', async () => {
  for (const name of ['search-b', 'search-a', 'search-c']) await create(`${name}@example.com`)
  const first = await operator.read<Page>('/accounts?search=SEARCH-&limit=2')
  assert.deepEqual(
    [first.accounts.map(({ email }) => email), first.next],
    [['search-a@example.com', 'search-b@example.com'], 'search-b@example.com'],
  )
  const second = await operator.read<Page>(`/accounts?search=search-&limit=2&after=${first.next}`)
  assert.deepEqual([second.accounts.map(({ email }) => email), second.next], [['search-c@example.com'], null])
  assert.deepEqual(await operator.read('/accounts?search=nobody'), { accounts: [], next: null })
})

test('plan, role and suspension change, and a suspended account is rejected', async () => {
  const { id } = await create('change@example.com')
  const { secret } = await operator.read<Created>(`/accounts/${id}/tokens`, { method: 'POST', body: { name: 'x' } })
  const patch = (body: object) => operator.read<Account>(`/accounts/${id}`, { method: 'PATCH', body })
  const changed = await patch({ plan: 'premium', role: 'admin', suspended: true })
  assert.deepEqual([changed.plan, changed.role, changed.suspended], ['premium', 'admin', '2026-11-20T12:00:00Z'])
  assert.equal(await statusWith(secret), 401)
  assert.equal((await patch({ suspended: false })).suspended, null)
  assert.deepEqual(await patch({}), await operator.read(`/accounts/${id}`))
})

test('an account is deleted only with its address as confirmation', async () => {
  const { id } = await create('delete@example.com')
  const remove = (query: string) => operator.send(`/accounts/${id}${query}`, { method: 'DELETE' })
  assert.equal(assertError(await remove(''), 400, 'value_invalid').field, 'confirm')
  assertError(await remove('?confirm=other@example.com'), 400, 'value_invalid')
  assertError(await remove('?confirm=delete@example.com&erase=maybe'), 400, 'value_invalid')
  assert.equal((await remove('?confirm=DELETE@example.com&erase=true')).status, 204)
  assertError(await operator.send(`/accounts/${id}`), 404, 'not_found')
})

test('periods are added and removed, and do not overlap', async () => {
  const { id } = await create('periods@example.com')
  const add = (body: object) => operator.send(`/accounts/${id}/periods`, { method: 'POST', body })
  const added = await add({ plan: 'basic', first: '2026-12-01' })
  assert.equal(added.status, 201)
  assert.deepEqual((added.body as Account).periods, [{ plan: 'basic', first: '2026-12-01', last: null }])
  assert.match(String(assertError(await add(PERIOD_INTO_DECEMBER), 409, 'conflict').msg), /basic:2026-12-01/)
  for (const wrong of [
    { ...PERIOD, last: '2026-10-31' },
    { ...PERIOD, plan: 'free' },
    { plan: 'basic' },
    { ...PERIOD, first: 1 },
  ])
    assertError(await add(wrong), 400, 'value_invalid')
  const remove = (day: string) => operator.send(`/accounts/${id}/periods/${day}`, { method: 'DELETE' })
  assert.equal((await remove('2026-12-01')).status, 204)
  assertError(await remove('2026-12-01'), 404, 'not_found')
  assertError(await remove('never'), 404, 'not_found')
})
const PERIOD_INTO_DECEMBER = { ...PERIOD, last: '2026-12-01' }

test('add-ons are added and removed', async () => {
  const { id } = await create('addons@example.com')
  const set = (method: string, addon: string) => operator.send(`/accounts/${id}/addons/${addon}`, { method })
  for (const _ of [1, 2]) assert.equal((await set('PUT', 'enriched')).status, 204)
  assert.deepEqual((await operator.read<Account>(`/accounts/${id}`)).addons, ['enriched'])
  assert.equal((await set('DELETE', 'enriched')).status, 204)
  assert.deepEqual((await operator.read<Account>(`/accounts/${id}`)).addons, [])
  assertError(await set('PUT', 'everything'), 400, 'value_invalid')
})

test('a token is created, listed without its text, and revoked', async () => {
  const { id } = await create('tokens@example.com')
  const path = `/accounts/${id}/tokens`
  const { token, secret } = await operator.read<Created>(path, { method: 'POST', body: { name: 'laptop' } })
  assert.equal(await statusWith(secret), 200)
  const listed = await operator.send(path)
  assert.deepEqual(listed.body, { tokens: [token] })
  assert.ok(!listed.text.includes(secret))
  assert.equal((await operator.send(`${path}/${token.id}`, { method: 'DELETE' })).status, 204)
  assertError(await operator.send(`${path}/${token.id}`, { method: 'DELETE' }), 404, 'not_found')
  world.clock.ticks += 1_000
  assert.equal(await statusWith(secret), 401)
})

test('an operator with a session makes the same changes, but not to the own account', async () => {
  const visitor = await visitAsOperator(world)
  const own = `/admin/v1/accounts/${visitor.account.id}`
  for (const body of [{ suspended: true }, { role: 'user' }])
    assertError(await visitor.send(own, 'PATCH', body), 409, 'conflict')
  assertError(await visitor.send(`${own}?confirm=${visitor.account.email}`, 'DELETE'), 409, 'conflict')
  const { id } = await create('by-session@example.com')
  const changed = await visitor.send(`/admin/v1/accounts/${id}`, 'PATCH', { plan: 'basic' })
  assert.equal((changed.body as Account).plan, 'basic')
  const { entries } = await visitor.read<{ entries: { actor: string; origin: string }[] }>(
    '/admin/v1/audit?email=by-session@example.com',
  )
  assert.deepEqual(
    entries.map(({ actor, origin }) => [actor, origin]),
    [
      [visitor.account.email, 'web'],
      [`operator token ${operator.id} (shop)`, 'admin'],
    ],
  )
})
