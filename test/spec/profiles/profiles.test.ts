/** GET /domain/NAME and GET /ip/ADDRESS: everything current in one call, with the checks and the charge of /v1.0/. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { DEFAULT_PLAN_LIMITS } from '../../../src/accounts/plan.ts'
import { until } from '../../until.ts'
import { makeWorld, NOON } from '../world.ts'

const world = await makeWorld()

const TEN = '2026-11-20T10:00:00Z'
const NINE = '2026-11-20T09:00:00Z'
const CROWDED = '203.0.113.7'

const NO_WEB = {
  has_website: false,
  redirect_to_https: false,
  redirect_to_www: false,
  only_with_www: false,
  ssl: 'nocert',
  social_accounts: [],
}

before(async () => {
  const txt = '<script>alert(1)</script>'
  await world.ingest(
    { domain: 'one.example', observed_at: NINE, dns: { status: 'ok', A: ['192.0.2.1'], NS: ['ns.example'] } },
    { domain: 'two.example', observed_at: NINE, dns: { status: 'ok', A: ['192.0.2.1'] } },
    {
      domain: 'one.example',
      observed_at: TEN,
      dns: { status: 'ok', A: ['192.0.2.1'], AAAA: ['2001:db8::1'], TXT: [[txt]], CNAME: [] },
      web: { ...NO_WEB, redirects_to: 'www.target.example' },
    },
    { domain: 'gone.example', observed_at: NINE, dns: { status: 'ok', A: ['192.0.2.1'] } },
    { domain: 'gone.example', observed_at: TEN, dns: { status: 'nxdomain' } },
    { domain: 'listed.example', observed_at: NINE },
  )
  const crowd = Array.from({ length: 103 }, (_, n) => `n${String(n).padStart(3, '0')}.example`)
  await world.ingest(...crowd.map((domain) => ({ domain, observed_at: NINE, dns: { status: 'ok', A: [CROWDED] } })), {
    domain: 'wide.example',
    observed_at: NINE,
    dns: { status: 'ok', A: Array.from({ length: 120 }, (_, n) => `198.51.100.${n}`) },
  })
})

type Profile = { lookup: { ip: string }; address_count: number; addresses: unknown[] }

const get = (path: string, token: string, method = 'GET') =>
  world.send(path, { method, headers: { Authorization: `Bearer ${token}`, Accept: 'application/json' } })

test('a profile has the result of /lookup, the target, the records of all types, and the addresses', async () => {
  const { token } = await world.account({ plan: 'premium' })
  const { status, headers, body } = await get('/domain/One.Example.', token)
  assert.equal(status, 200)
  const looked = await world.ask('lookup', { token, query: 'one.example' })
  assert.deepEqual(body, {
    name: 'one.example',
    requested: null,
    observed: { dns: TEN, web: TEN },
    lookup: (looked.body as { result: object }).result,
    redirects_to: { target: 'target.example' },
    records: {
      A: { since: NINE, records: [{ ipv4_address: '192.0.2.1' }] },
      AAAA: { since: TEN, records: [{ ipv6_address: '2001:db8::1' }] },
      MX: null,
      TXT: { since: TEN, records: [{ text: '<script>alert(1)</script>', parts: ['<script>alert(1)</script>'] }] },
      NS: { since: NINE, records: [{ nameserver: 'ns.example' }] },
      SOA: null,
      CNAME: null,
    },
    former_records: null,
    address_count: 2,
    addresses: [
      { ip: '192.0.2.1', since: NINE, neighbours: 1 },
      { ip: '2001:db8::1', since: TEN, neighbours: 0 },
    ],
    cost: 1,
  })
  assert.equal(headers.get('observed-at'), looked.headers.get('observed-at'))
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
})

test('a plan without /dnshistory gets the current records, and not since when they are', async () => {
  const { token } = await world.account({ plan: 'free' })
  const { body } = await get('/domain/one.example', token)
  const { records, addresses } = body as { records: Record<string, { since: unknown }>; addresses: { since: string }[] }
  assert.deepEqual(records.A, { since: null, records: [{ ipv4_address: '192.0.2.1' }] })
  assert.equal(addresses[0]!.since, NINE, '/reverseip says that to every plan')
})

test('the records of a domain that is gone are former ones, and one that was never probed has none', async () => {
  const { token } = await world.account({ plan: 'premium' })
  const gone = (await get('/domain/gone.example', token)).body as Profile & Record<'records' | 'former_records', object>
  assert.deepEqual([gone.lookup.ip, gone.address_count, gone.addresses], ['nxdomain', 0, []])
  assert.ok(Object.values(gone.records).every((each) => each === null))
  const former = { A: { since: NINE, records: [{ ipv4_address: '192.0.2.1' }] } }
  assert.deepEqual(gone.former_records, { ...gone.records, ...former })
  const listed = (await get('/domain/listed.example', token)).body as Record<string, object>
  assert.deepEqual(listed.observed, { dns: null, web: null })
  assert.ok(Object.values(listed.records!).every((each) => each === null))
})

test('what was never observed is null, and not "no"', async () => {
  const { token } = await world.account()
  const lookupOf = async (name: string) =>
    ((await get(`/domain/${name}`, token)).body as { lookup: Record<string, unknown> }).lookup
  const counts = { redirect_count: '0', reverse_ip_count: '0' }
  const unknown = {
    ...{ has_website: null, redirect_to_https: null, redirect_to_www: null, redirect_to_domain: null },
    ...{
      only_with_www: null,
      only_dns_no_web: null,
      ssl: null,
      ip: null,
      social_networks: null,
      social_accounts: null,
    },
  }
  assert.deepEqual(await lookupOf('listed.example'), { ...unknown, ...counts })
  assert.deepEqual(await lookupOf('gone.example'), { ...unknown, ...counts, only_dns_no_web: 'no', ip: 'nxdomain' })
})

test('a URL or a www. host of which nothing is on record is read as its registrable domain', async () => {
  const { token } = await world.account()
  const nameAndRequested = async (query: string) => {
    const { status, body } = await get(`/domain/${encodeURIComponent(query)}`, token)
    const { name, requested } = body as { name: string; requested: string | null }
    return [status, name, requested]
  }
  assert.deepEqual(await nameAndRequested('www.two.example'), [200, 'two.example', 'www.two.example'])
  assert.deepEqual(await nameAndRequested('https://login.two.example/a?b'), [200, 'two.example', 'login.two.example'])
  assert.deepEqual(await nameAndRequested('https://two.example/'), [200, 'two.example', null])
  assert.equal((await get('/domain/login.two.example', token)).status, 404, 'a name stands for itself')
  await world.ingest({ domain: 'www.two.example', observed_at: NINE })
  assert.deepEqual(await nameAndRequested('www.two.example'), [200, 'www.two.example', null])
})

test('a profile lists at most 100 addresses, and counts all', async () => {
  const { token } = await world.account()
  const body = (await get('/domain/wide.example', token)).body as { address_count: number; addresses: unknown[] }
  assert.deepEqual([body.address_count, body.addresses.length], [120, 100])
})

test('an address has its first 100 domains, and /reverseip continues after them', async () => {
  const { token } = await world.account()
  const { body } = await get(`/ip/${CROWDED}`, token)
  const { count, domains, next } = body as { count: number; domains: { target: string }[]; next: string }
  assert.deepEqual([count, domains.length, domains[0]], [103, 100, { target: 'n000.example', since: NINE }])
  const rest = await world.ask('reverseip', { token, query: CROWDED, next })
  const { result, meta } = rest.body as { result: { target: string }[]; meta: { next: null } }
  assert.deepEqual(
    result.map(({ target }) => target),
    ['n100.example', 'n101.example', 'n102.example'],
  )
  assert.equal(meta.next, null)
})

test('both forms of an IPv6 address are the same address', async () => {
  const { token } = await world.account()
  const short = await get('/ip/2001:db8::1', token)
  assert.equal(short.text, (await get('/ip/2001:0db8:0:0:0:0:0:1', token)).text)
  assert.deepEqual(short.body, {
    ip: '2001:db8::1',
    count: 1,
    domains: [{ target: 'one.example', since: TEN }],
    next: null,
    cost: 1,
  })
})

test('each answer costs one call: 200, 404 and HEAD; other errors cost nothing', async () => {
  const known = await world.account()
  const paths = ['/domain/one.example', '/domain/unknown.example', '/ip/192.0.2.1', '/ip/192.0.2.250']
  const seen: number[] = []
  for (const path of paths) seen.push((await get(path, known.token)).status)
  for (const path of paths) seen.push((await get(path, known.token, 'HEAD')).status)
  assert.deepEqual(seen, [200, 404, 200, 404, 200, 404, 200, 404])
  for (const path of ['/domain/no-dot', '/domain/192.0.2.1', '/ip/one.example', '/ip/192.0.2.0%2F33'])
    assert.deepEqual([path, (await get(path, known.token)).status], [path, 400])
  const { headers, body } = await get('/account/quota', known.token)
  assert.deepEqual([(body as { used: number }).used, headers.get('ratelimit')], [8, '"daily";r=92;t=43200'])
})

test('usage is recorded for the token under the name of the path', async () => {
  const known = await world.account()
  await get('/domain/one.example', known.token)
  await get('/ip/192.0.2.1', known.token)
  const [token] = await world.store.ledger.tokens(known.account.id)
  const usage = await until(async () => {
    const counts = await world.store.ledger.usage(known.account.id, null, null)
    return counts.length === 2 ? counts : null
  })
  assert.deepEqual(
    usage.map(({ endpoint, token: id, calls }) => [endpoint, id, calls]),
    [
      ['domain', token!.id, 1],
      ['ip', token!.id, 1],
    ],
  )
})

test('the checks have the order of /v1.0/: token, quota, parameters, data', async () => {
  const missing = await world.send('/domain/no-dot', {})
  assert.deepEqual([missing.status, missing.headers.get('www-authenticate')], [401, 'Bearer'])
  assert.equal((missing.body as { error: string }).error, 'token_missing')
  const invalid = await get('/domain/no-dot', 'dxt_wrong')
  assert.deepEqual([invalid.status, (invalid.body as { error: string }).error], [401, 'token_invalid'])
  const inQuery = await world.send(`/domain/one.example?token=${(await world.account()).token}`, {})
  assert.equal(inQuery.status, 401, 'the token is a header')
  await world.serve(world.store, { ...DEFAULT_PLAN_LIMITS, free: { ...DEFAULT_PLAN_LIMITS.free, dailyCalls: 1 } })
  const { token } = await world.account()
  assert.equal((await get('/domain/one.example', token)).status, 200)
  const refused = await get('/domain/no-dot', token)
  assert.equal(refused.status, 429)
  assert.deepEqual(refused.body, { ...(refused.body as object), error: 'rate_limited', limit: 1, used: 1 })
  assert.equal(refused.headers.get('retry-after'), String(43_200))
  assert.equal(world.clock.now, NOON)
})

test('a name of 253 characters is found by every path that takes a name', async () => {
  const { token } = await world.account({ plan: 'premium' })
  const long = `${['a', 'b', 'c'].map((letter) => letter.repeat(63)).join('.')}.${'d'.repeat(53)}.example`
  await world.ingest({ domain: long, observed_at: NINE, dns: { status: 'ok', A: ['192.0.2.77'] } })
  const profile = await get(`/domain/${long}`, token)
  assert.deepEqual([profile.status, (profile.body as { name: string }).name], [200, long])
  const page = `${encodeURIComponent(`https://www.${long.slice(64)}/${'path/'.repeat(300)}`)}`
  assert.equal(((await get(`/domain/${page}`, token)).body as { error: string }).error, 'no_data')
  const passive = await fetch(`${world.address}/pdns/query/${long}`, { headers: { Authorization: `Bearer ${token}` } })
  assert.deepEqual([passive.status, (await passive.text()).includes('192.0.2.77')], [200, true])
})
