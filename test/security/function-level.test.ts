/** OWASP API5:2023, broken function level authorization: each function needs its session, its origin and its plan. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertError, visit } from '../app/sessions.ts'
import { makeWorld } from '../spec/world.ts'

const world = await makeWorld()

const ENDPOINTS = ['lookup', 'redirect', 'reverseip', 'dnshistory', 'daily', 'snapshot', 'similar']
const READS = ['/app/tokens', '/app/usage', '/app/usage.csv', '/app/plan', '/app/files', '/app/files/2026-11-18.txt.gz']
/** Requests that change something or are charged. */
const CHANGES: [method: string, path: string][] = [
  ['POST', '/app/tokens'],
  ['DELETE', '/app/tokens/1'],
  ['POST', '/app/tokens/1/rotate'],
  ...ENDPOINTS.flatMap((name): [string, string][] => [
    ['GET', `/app/api/${name}`],
    ['HEAD', `/app/api/${name}`],
    ['POST', `/app/api/${name}`],
  ]),
  ['GET', '/domain/a.example'],
  ['GET', '/ip/192.0.2.1'],
  ['GET', '/files'],
  ['GET', '/files/2026-11-18.txt.gz'],
]

const bodyOf = (method: string) => (method === 'POST' ? { body: '{}' } : {})
const errorOf = ({ body }: { body: unknown }): string | undefined => {
  const { result, error } = (body ?? {}) as { result?: { error?: string }; error?: string }
  return result?.error ?? error
}

test('without a session, with an unknown one or with a token in its place, no function answers', async () => {
  const { token } = await world.account({ plan: 'local' })
  const wrong: Record<string, string>[] = [
    {},
    { Cookie: '__Host-domaindex=' },
    { Cookie: `__Host-domaindex=${token}` },
    { Cookie: `__Host-domaindex=${'A'.repeat(43)}` },
    { Cookie: `domaindex=${'A'.repeat(43)}` },
    { Authorization: `Bearer ${token}` },
  ]
  const paths: [string, string][] = [...READS.map((path): [string, string] => ['GET', path]), ...CHANGES]
  for (const headers of wrong)
    for (const [method, path] of paths) {
      if (!path.startsWith('/app/')) continue
      const seen = await world.send(path, { method, headers, ...bodyOf(method) })
      assert.equal(seen.status, 401, `${method} ${path}`)
      if (method !== 'HEAD') assert.equal(errorOf(seen), 'session_missing', `${method} ${path}`)
    }
})

test('a change or a charged call needs the CSRF token of its own session', async () => {
  const { account } = await world.account({ plan: 'local' })
  const [me, other] = [await visit(world, account), await visit(world, account)]
  const Cookie = me.headers.Cookie!
  const csrf = other.headers['X-CSRF-Token']!
  for (const [method, path] of CHANGES)
    for (const headers of [{ Cookie }, { Cookie, 'X-CSRF-Token': '' }, { Cookie, 'X-CSRF-Token': csrf }]) {
      const seen = await world.send(path, { method, headers, ...bodyOf(method) })
      assert.equal(seen.status, 403, `${method} ${path}`)
      if (method !== 'HEAD') assert.equal(errorOf(seen), 'origin_refused')
    }
})

test('a change or a charged call from another page is refused, even with the CSRF token', async () => {
  const { account } = await world.account({ plan: 'local' })
  const { headers } = await visit(world, account)
  for (const [method, path] of CHANGES)
    for (const from of [
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
    ]) {
      const seen = await world.send(path, { method, headers: { ...headers, ...from }, ...bodyOf(method) })
      assert.equal(seen.status, 403, `${method} ${path} ${JSON.stringify(from)}`)
    }
  assert.deepEqual(await world.store.ledger.usage(account.id, null, null), [])
  assert.equal((await world.store.ledger.tokens(account.id)).length, 1)
})

test('a method cannot be replaced by a header or a parameter, and an unknown one is refused', async () => {
  const { account } = await world.account()
  const me = await visit(world, account)
  const [{ id } = { id: 0 }] = await world.store.ledger.tokens(account.id)
  const override = { ...me.headers, 'X-HTTP-Method-Override': 'DELETE', 'X-Method-Override': 'DELETE' }
  for (const path of [`/app/tokens/${id}`, `/app/tokens/${id}?_method=DELETE`])
    for (const method of ['GET', 'POST', 'PUT', 'PATCH']) {
      const seen = await world.send(path, { method, headers: override, ...bodyOf(method) })
      assertError(seen, 404, 'endpoint_unknown')
      assert.equal(seen.headers.get('allow'), 'DELETE, OPTIONS')
    }
  assert.equal((await world.store.ledger.tokens(account.id))[0]?.revoked, null)
})

test('a session opens no more than the plan and the add-ons do', async () => {
  const me = await visit(world, (await world.account()).account)
  for (const [name, error] of [
    ['dnshistory', 'plan_required'],
    ['daily', 'plan_required'],
    ['snapshot', 'addon_required'],
  ])
    assertError(await me.send(`/app/api/${name}?query=a.example&date=2026-11-18&enriched=1&download=1`), 403, error!)
  assertError(await me.send('/files/domains-2026-11-18.txt.gz'), 403, 'addon_required')
})

test('no response of a session may be read by another origin, or be kept', async () => {
  const me = await visit(world, (await world.account({ plan: 'local' })).account)
  for (const path of [...READS.slice(0, 5), ...ENDPOINTS.map((name) => `/app/api/${name}`)]) {
    const { headers } = await fetch(`${world.address}${path}`, { headers: me.headers })
    assert.equal(headers.get('access-control-allow-origin'), null, path)
    assert.equal(headers.get('cache-control'), 'private, no-store', path)
    assert.equal(headers.get('x-content-type-options'), 'nosniff', path)
  }
})
