/** OWASP API5:2023 and API3:2023 for /admin/v1: only operators reach it, and a request has no undeclared key. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OPERATOR_ROUTES } from '../../src/api/admin/routes.ts'
import { operatorOf, visitAsOperator } from '../admin/operators.ts'
import { assertError, visit } from '../app/sessions.ts'
import { makeWorld } from '../spec/world.ts'
import { TESTER } from '../tester.ts'

const world = await makeWorld()
const { account, token } = await world.account({ plan: 'local' })
const PATHS = OPERATOR_ROUTES.map(({ method, path, body }) => {
  const url = path
    .replace(':id', String(account.id))
    .replace(':token', '1')
    .replace(':first', '2026-01-01')
    .replace(':addon', 'export')
  return { method, url, body: body === undefined ? undefined : '{}', isChange: method !== 'GET' }
})

type Headers = Record<string, string>

/** Asserts that every path answers a request with these headers by this error, and that nothing changes. */
async function assertRefused(headers: Headers, status: number, error: string, isRefused = (_: boolean) => true) {
  const before = await world.store.ledger.accountById(account.id)
  for (const { method, url, body, isChange } of PATHS) {
    if (!isRefused(isChange)) continue
    const seen = await world.send(url, { method, headers, ...(body !== undefined && { body }) })
    assert.deepEqual([seen.status, (seen.body as { error: string }).error], [status, error], `${method} ${url}`)
    assert.equal(seen.headers.get('access-control-allow-origin'), null)
  }
  assert.deepEqual(await world.store.ledger.accountById(account.id), before)
}

test('nobody reaches a path without an operator token or a session', async () => {
  assert.equal(PATHS.length, OPERATOR_ROUTES.length)
  await assertRefused({}, 401, 'session_missing')
  await assertRefused({ Cookie: `__Host-domaindex=${'A'.repeat(43)}` }, 401, 'session_missing')
})

test('a token of an account is no token of an operator, whatever its role', async () => {
  await assertRefused({ Authorization: `Bearer ${token}` }, 401, 'token_invalid')
  await assertRefused({ Authorization: 'Bearer' }, 401, 'token_invalid')
  const { account: admin, token: own } = await world.account()
  await world.store.ledger.as(TESTER).setRole(admin.id, 'admin')
  await assertRefused({ Authorization: `Bearer ${own}` }, 401, 'token_invalid')
})

test('a revoked or expired token of an operator is refused at once', async () => {
  const revoked = await operatorOf(world)
  assert.equal((await revoked.send('/accounts')).status, 200)
  await world.store.ledger.as(TESTER).revokeOperatorToken(revoked.id, world.clock.now)
  await assertRefused({ Authorization: `Bearer ${revoked.secret}` }, 401, 'token_invalid')
  const expired = await operatorOf(world, world.clock.now)
  await assertRefused({ Authorization: `Bearer ${expired.secret}` }, 401, 'token_invalid')
})

test('a session of a user is refused, and so is that of an operator who is one no longer', async () => {
  const visitor = await visit(world, account)
  await assertRefused(visitor.headers, 403, 'operator_required')
  const operator = await visitAsOperator(world)
  assert.equal((await operator.send('/admin/v1/accounts')).status, 200)
  await world.store.ledger.as(TESTER).setRole(operator.account.id, 'user')
  world.clock.ticks += 1_000
  await assertRefused(operator.headers, 403, 'operator_required')
})

test('a change by session needs its CSRF token and the own origin', async () => {
  const { headers } = await visitAsOperator(world)
  const { Cookie = '' } = headers
  const changes = (isChange: boolean) => isChange
  await assertRefused({ Cookie }, 403, 'origin_refused', changes)
  await assertRefused({ ...headers, Origin: 'https://evil.example' }, 403, 'origin_refused', changes)
  await assertRefused({ ...headers, 'Sec-Fetch-Site': 'cross-site' }, 403, 'origin_refused', changes)
})

test('a token of an operator opens no data', async () => {
  const { secret } = await operatorOf(world)
  for (const path of ['/account/quota', '/files', '/domain/a.example'])
    assert.equal((await world.send(path, { headers: { Authorization: `Bearer ${secret}` } })).status, 401, path)
  const seen = await world.send('/v1.0/lookup', {
    method: 'POST',
    body: JSON.stringify({ token: secret, query: 'a.example' }),
  })
  assert.equal(seen.status, 401)
})

test('a key that a path does not declare is refused, in the query and in the body', async () => {
  const { send } = await operatorOf(world)
  for (const { method, url, body } of PATHS) {
    const path = url.replace('/admin/v1', '')
    const seen = await send(`${path}?id=7`, { method, ...(body !== undefined && { body: {} }) })
    assert.equal(assertError(seen, 400, 'value_invalid').field, 'id', `${method} ${path}`)
    if (body === undefined) continue
    for (const key of ['id', 'account', 'created', 'hash', '__proto__', 'constructor']) {
      const seen = await send(path, { method, body: JSON.parse(`{"${key}": 7}`) })
      assert.equal(assertError(seen, 400, 'value_invalid').field, key, `${method} ${path}`)
    }
  }
})
