/** Idempotency-Key: a repeated request gets the first answer, and its change is made once. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreUnavailableFault } from '../../src/store/port/fault.ts'
import type { Store } from '../../src/store/port/store.ts'
import { assertError, visit } from '../app/sessions.ts'
import { makeWorld } from '../spec/world.ts'
import { TESTER } from '../tester.ts'
import { operatorOf } from './operators.ts'

type Account = { id: number; email: string; periods: object[] }

const world = await makeWorld()
const operator = await operatorOf(world)
const post = (path: string, body: object, key: string) => operator.send(path, { method: 'POST', body, key })

test('the same key and the same body give the same answer, and one account', async () => {
  const body = { email: 'once@example.com' }
  const first = await post('/accounts', body, 'create-1')
  assert.equal(first.status, 201)
  const second = await post('/accounts', body, 'create-1')
  assert.deepEqual([second.status, second.text], [201, first.text])
  assert.equal(second.headers.get('idempotent-replayed'), 'true')
  assert.equal(first.headers.get('idempotent-replayed'), null)
})

test('another body or another path with the same key is refused', async () => {
  const { id } = (await post('/accounts', { email: 'other@example.com' }, 'create-2')).body as Account
  assertError(await post('/accounts', { email: 'more@example.com' }, 'create-2'), 409, 'conflict')
  assertError(await post(`/accounts/${id}/tokens`, { name: 'laptop' }, 'create-2'), 409, 'conflict')
})

test('a rejected request leaves its key free', async () => {
  assertError(await post('/accounts', { email: 'nonsense' }, 'create-3'), 400, 'value_invalid')
  assert.equal((await post('/accounts', { email: 'sense@example.com' }, 'create-3')).status, 201)
})

test('a repeated creation of a token names the token and never its text', async () => {
  const { id } = (await post('/accounts', { email: 'secret@example.com' }, 'create-4')).body as Account
  const create = () => post(`/accounts/${id}/tokens`, { name: 'laptop' }, 'token-1')
  const first = await create()
  const { token, secret } = first.body as { token: { id: number }; secret: string }
  const second = await create()
  assert.equal(assertError(second, 409, 'conflict').token, token.id)
  assert.ok(!second.text.includes(secret))
  assert.equal((await world.store.ledger.tokens(id)).length, 1)
})

test('a key is free again after a day, and belongs to one operator', async () => {
  const { id } = (await post('/accounts', { email: 'day@example.com' }, 'create-5')).body as Account
  const period = { plan: 'basic', first: '2026-01-01', last: '2026-01-31' }
  assert.equal((await post(`/accounts/${id}/periods`, period, 'period-1')).status, 201)
  const other = await operatorOf(world)
  const next = { ...period, first: '2026-02-01', last: '2026-02-28' }
  const how = { method: 'POST', body: next, key: 'period-1' }
  assert.equal((await other.send(`/accounts/${id}/periods`, how)).status, 201)
  world.clock.now += 86_400
  const third = { ...period, first: '2026-03-01', last: '2026-03-31' }
  assert.equal((await post(`/accounts/${id}/periods`, third, 'period-1')).status, 201)
  world.clock.now -= 86_400
})

test('a key is 1 to 255 visible characters', async () => {
  for (const key of ['x'.repeat(256), 'a b'])
    assert.equal(
      assertError(await post('/accounts', { email: 'key@example.com' }, key), 400, 'value_invalid').field,
      'Idempotency-Key',
    )
})

/** The store, whose ledger lets `fail` decide which call fails. */
function failingStore(fail: (method: string) => boolean): Store {
  const failing = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get(_target, key) {
        const value = Reflect.get(target, key)
        if (typeof value !== 'function') return value
        return (...values: unknown[]) => {
          if (key === 'as') return failing(value.apply(target, values))
          if (fail(String(key))) throw new StoreUnavailableFault('the store is away')
          return value.apply(target, values)
        }
      },
    })
  return { ...world.store, ledger: failing(world.store.ledger) }
}

test('the key of a request whose change failed is free', async () => {
  let isAway = true
  await world.serve(failingStore((method) => isAway && method === 'createAccount'))
  const body = { email: 'away@example.com' }
  assertError(await post('/accounts', body, 'away-1'), 500, 'internal_error')
  isAway = false
  assert.equal((await post('/accounts', body, 'away-1')).status, 201)
})

test('after its change a request reads nothing that could fail', async () => {
  const { id } = (await post('/accounts', { email: 'after@example.com' }, 'after-1')).body as Account
  let isChanged = false
  const changes = ['addPeriod', 'createTokenWithin']
  await world.serve(
    failingStore((method) => {
      if (isChanged) return method !== 'storeAnswer'
      isChanged = changes.includes(method)
      return false
    }),
  )
  const send = async (path: string, body: object) => {
    isChanged = false
    const { status } = await post(path, body, path)
    assert.ok(isChanged, path)
    return status
  }
  const later = { plan: 'basic', first: '2027-02-01', last: '2027-02-28' }
  assert.equal(await send(`/accounts/${id}/periods`, later), 201)
  assert.equal(await send(`/accounts/${id}/tokens`, { name: 'laptop' }), 201)
  await world.serve()
  const earlier = { plan: 'basic', first: '2027-01-01', last: '2027-01-31' }
  const { periods } = (await post(`/accounts/${id}/periods`, earlier, 'after-2')).body as Account
  assert.deepEqual(periods, [earlier, later])
  assert.deepEqual((await operator.read<Account>(`/accounts/${id}`)).periods, periods)
})

test('a session has keys of its own', async () => {
  const { account } = await world.account()
  await world.store.ledger.as(TESTER).setRole(account.id, 'admin')
  const { headers } = await visit(world, { ...account, role: 'admin' })
  const send = () =>
    world.send('/admin/v1/accounts', {
      method: 'POST',
      headers: { ...headers, 'Idempotency-Key': 'create-1' },
      body: JSON.stringify({ email: 'session@example.com' }),
    })
  assert.equal((await send()).status, 201)
  assert.equal((await send()).status, 201)
})
