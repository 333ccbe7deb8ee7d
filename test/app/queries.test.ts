/** /app/api/<endpoint>: the seven endpoints by session, with the bodies and the charge of /v1.0/. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { fetchFile, listOf, publish } from '../spec/files/files.ts'
import { makeWorld, type Parameters } from '../spec/world.ts'
import { until } from '../until.ts'
import { assertError, visit } from './sessions.ts'

const world = await makeWorld()
const PREMIUM = { plan: 'premium', periods: ['premium:2026-11-01..'], addons: ['export', 'enriched'] } as const
const DAY = '2026-11-18'

before(async () => {
  const at = '2026-11-20T10:00:00Z'
  const web = { redirect_to_https: false, redirect_to_www: false, only_with_www: false, ssl: 'valid' }
  const text = 'words of one page'
  await world.ingest(
    {
      domain: 'one.example',
      observed_at: at,
      dns: { status: 'ok', A: ['192.0.2.1'] },
      web: { ...web, has_website: true, redirects_to: null, social_accounts: [], text },
    },
    { domain: 'two.example', observed_at: at, dns: { status: 'ok', A: ['192.0.2.1'] } },
    {
      domain: 'old.example',
      observed_at: at,
      web: { ...web, has_website: false, redirects_to: 'one.example', social_accounts: [] },
    },
  )
  await world.index()
  await publish(world, `${DAY}.txt.gz`, listOf('one.example'))
  await publish(world, `domains-${DAY}.txt.gz`, listOf('one.example'))
})

const QUERIES: [endpoint: string, parameters: Parameters, status: number][] = [
  ['lookup', { query: 'One.Example' }, 200],
  ['lookup', { query: 'unknown.example' }, 404],
  ['lookup', { query: 'no-dot' }, 400],
  ['lookup', {}, 400],
  ['redirect', { query: 'one.example' }, 200],
  ['reverseip', { query: '192.0.2.1' }, 200],
  ['reverseip', { query: 'one.example', next: 'x' }, 400],
  ['dnshistory', { query: 'one.example' }, 200],
  ['dnshistory', { query: 'one.example', type: 'B' }, 400],
  ['daily', { date: DAY }, 200],
  ['daily', { date: '2026-10-01' }, 403],
  ['daily', { date: '2026-11-19' }, 404],
  ['snapshot', {}, 200],
  ['snapshot', { download: '1' }, 200],
  ['similar', { query: 'one.example' }, 200],
]

for (const [endpoint, parameters, status] of QUERIES)
  test(`${endpoint} ${JSON.stringify(parameters)}: by POST and GET the same ${status} as /v1.0/, byte by byte`, async () => {
    const { account, token } = await world.account({ ...PREMIUM, addons: [...PREMIUM.addons] })
    const visitor = await visit(world, account)
    const query = new URLSearchParams(parameters as Record<string, string>)
    const body = JSON.stringify({ ...parameters, token })
    const expected = await fetchFile(world, `/v1.0/${endpoint}`, { method: 'POST', body })
    const byPost = await fetchFile(world, `/app/api/${endpoint}`, {
      method: 'POST',
      headers: visitor.headers,
      body: JSON.stringify(parameters),
    })
    const byGet = await fetchFile(world, `/app/api/${endpoint}?${query}`, { headers: visitor.headers })
    for (const seen of [byPost, byGet]) {
      assert.deepEqual([seen.status, seen.bytes.toString()], [status, expected.bytes.toString()])
      for (const header of ['content-type', 'content-disposition', 'observed-at', 'etag'])
        assert.equal(seen.headers.get(header), expected.headers.get(header), header)
      assert.equal(seen.headers.get('access-control-allow-origin'), null)
      assert.equal(seen.headers.get('cache-control'), 'private, no-store')
    }
    assert.equal(expected.status, status)
  })

test('a call is charged to the account, and recorded for token 0', async () => {
  const { account, token } = await world.account({ plan: 'free' })
  const visitor = await visit(world, account)
  const looked = await visitor.send('/app/api/lookup?query=one.example')
  assert.equal(looked.headers.get('ratelimit'), '"daily";r=99;t=43200')
  await visitor.send('/app/api/lookup', 'POST', { query: 'unknown.example' })
  await visitor.send('/domain/one.example')
  await world.ask('lookup', { query: 'one.example', token })
  const usage = await until(async () => {
    const counts = await world.store.ledger.usage(account.id, null, null)
    return counts.length === 3 ? counts : null
  })
  const [{ id } = { id: 0 }] = await world.store.ledger.tokens(account.id)
  assert.deepEqual(
    usage.map(({ endpoint, token, calls }) => [endpoint, token, calls]),
    [
      ['domain', 0, 1],
      ['lookup', 0, 2],
      ['lookup', id, 1],
    ],
  )
})

test('session and token share one budget', async () => {
  const { account, token } = await world.account({ plan: 'free' })
  const visitor = await visit(world, account)
  for (let call = 0; call < 50; call++) {
    await world.ask('lookup', { query: 'one.example', token })
    await visitor.send('/app/api/lookup?query=one.example')
  }
  const refused = await visitor.send('/app/api/lookup?query=one.example')
  assert.equal(refused.status, 429)
  assert.equal((await visitor.send('/domain/one.example')).status, 429)
  assert.equal((await world.ask('lookup', { query: 'one.example', token })).status, 429)
})

test('the plan decides as on /v1.0/', async () => {
  const visitor = await visit(world, (await world.account()).account)
  assertError(await visitor.send('/app/api/dnshistory?query=one.example'), 403, 'plan_required')
  assertError(await visitor.send('/app/api/snapshot'), 403, 'addon_required')
})

test('without a session or its X-CSRF-Token, nothing is answered and nothing charged', async () => {
  const { account, token } = await world.account()
  const { headers } = await visit(world, account)
  const Cookie = headers.Cookie!
  for (const path of ['/app/api/similar?query=one.example', '/domain/one.example', '/ip/192.0.2.1', '/files']) {
    const csrf = headers['X-CSRF-Token']!
    const without = await world.send(path, { headers: { 'X-CSRF-Token': csrf } })
    assert.equal(without.status, 401, path)
    assertError(await world.send(path, { headers: { Cookie } }), 403, 'origin_refused')
    assertError(await world.send(path, { headers: { Cookie, 'X-CSRF-Token': 'x' } }), 403, 'origin_refused')
  }
  assertError(await world.send('/app/api/similar?query=one.example', {}), 401, 'session_missing')
  const inBody = { method: 'POST', body: JSON.stringify({ query: 'one.example', token }) }
  assertError(await world.send('/app/api/similar', inBody), 401, 'session_missing')
  const quota = await world.send('/account/quota', { headers: { Authorization: `Bearer ${token}` } })
  assert.equal((quota.body as { used: number }).used, 0)
})

test('a token takes precedence over a session, and needs no X-CSRF-Token', async () => {
  const [one, other] = [await world.account(), await world.account()]
  const { headers } = await visit(world, one.account)
  const seen = await world.send('/domain/one.example', {
    headers: { Cookie: headers.Cookie!, Authorization: `Bearer ${other.token}` },
  })
  assert.equal(seen.status, 200)
  const quota = await world.send('/account/quota', { headers: { Authorization: `Bearer ${other.token}` } })
  assert.equal((quota.body as { used: number }).used, 1)
})

test('a body that is no JSON object, and one that is too large', async () => {
  const { headers } = await visit(world, (await world.account()).account)
  const send = (body: string) => world.send('/app/api/similar', { method: 'POST', headers, body })
  const refused = assertError(await send('["one.example"]'), 400, 'value_invalid')
  assert.equal(refused.field, 'body')
  const stranger = { method: 'POST', body: '["one.example"]' }
  assertError(await world.send('/app/api/similar', stranger), 401, 'session_missing')
  assertError(await send(JSON.stringify({ query: 'x'.repeat(70_000) })), 413, 'body_too_large')
})

test('OPTIONS names the methods and gives no other origin permission', async () => {
  const seen = await world.send('/app/api/lookup', { method: 'OPTIONS', headers: { Origin: 'https://evil.example' } })
  assert.equal(seen.status, 204)
  assert.equal(seen.headers.get('allow'), 'GET, HEAD, POST, OPTIONS')
  for (const [name] of seen.headers) assert.doesNotMatch(name, /^access-control/)
})
