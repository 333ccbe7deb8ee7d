/** GET /domain/NAME and GET /ip/ADDRESS as of a moment, in a time, and of a network. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { parseName } from '../../../src/values/domain-name.ts'
import { parseInstant } from '../../../src/values/time.ts'
import { look, NXDOMAIN, ok, SERVFAIL, site } from '../observations.ts'
import { makeWorld } from '../world.ts'

const world = await makeWorld()
const { token } = await world.account({ plan: 'premium' })

const on = (day: string) => `2026-${day}T10:00:00Z`

before(async () => {
  const moved = (day: string, A: string, more: object = {}) =>
    look('moved.example', { dns: ok({ A: [A], AAAA: [], NS: ['ns.example'] }), ...more }, on(day))
  await world.ingest(
    moved('01-10', '192.0.2.1', { web: site({}) }),
    moved('02-10', '192.0.2.1'),
    moved('03-10', '192.0.2.2'),
    moved('06-10', '192.0.2.1'),
    look('gone.example', { dns: ok({ A: ['192.0.2.1'], MX: [] }) }, on('02-01')),
    look('gone.example', { dns: NXDOMAIN }, on('04-01')),
    look('gone.example', { dns: NXDOMAIN }, on('08-01')),
    look('back.example', { dns: ok({ A: ['192.0.2.9'] }) }, on('02-01')),
    look('back.example', { dns: NXDOMAIN }, on('04-01')),
    look('back.example', { dns: ok({ A: ['192.0.2.9'] }) }, on('08-01')),
    look('lapsed.example', { dns: ok({ A: ['10.7.0.6'] }) }, on('02-01')),
    look('lapsed.example', { dns: NXDOMAIN }, on('04-01')),
    look('lapsed.example', { dns: ok({ A: ['10.7.0.6'] }) }, on('06-01')),
    look('lapsed.example', { dns: NXDOMAIN }, on('08-01')),
    look('lapsed.example', { dns: NXDOMAIN }, on('10-01')),
    look('failing.example', { dns: ok({ A: ['192.0.2.200'], AAAA: ['2001:db8::1'] }) }, on('02-01')),
    look('failing.example', { dns: SERVFAIL }, on('03-01')),
    look('changed.example', { dns: ok({ A: ['10.7.0.1'] }) }, on('02-01')),
    look('changed.example', { dns: ok({ A: ['10.7.0.2'] }) }, on('04-01')),
    look('returned.example', { dns: ok({ A: ['10.7.0.3'] }) }, on('02-01')),
    look('returned.example', { dns: NXDOMAIN }, on('03-15')),
    look('returned.example', { dns: ok({ A: ['10.7.0.4'] }) }, on('04-01')),
    look('emptied.example', { dns: ok({ A: ['10.7.0.5'] }) }, on('02-01')),
    look('emptied.example', { dns: ok({ A: [] }) }, on('04-01')),
    look('other.example', { dns: ok({ A: ['198.51.100.1'] }) }, on('02-01')),
  )
})

type Row = { target: string; ip: string; first_seen: string; last_seen: string }
type Page = { meta: { query: string; next: string | null }; result: Row[] }
type Past = {
  at: string
  observed: object
  lookup: Record<string, unknown>
  records: Record<string, unknown>
  former_records: Record<string, unknown> | null
  addresses: object[]
}

const get = (path: string, key = token, headers = {}) =>
  world.send(path, { headers: { Authorization: `Bearer ${key}`, Accept: 'application/json', ...headers } })
const domainAt = async (name: string, at: string) => (await get(`/domain/${name}?at=${at}`)).body as Past
const rowsOf = async (path: string) =>
  ((await get(path)).body as Page).result.map(({ target, ip, first_seen, last_seen }) =>
    [target, ip, first_seen.slice(5, 10), last_seen.slice(5, 10)].join(' '),
  )
const errorOf = async (path: string, key = token) => {
  const { status, body } = await get(path, key)
  return [status, (body as { error: string }).error]
}

test('a domain as of a day has the records that were the newest at the end of that day', async () => {
  const { status, body } = await get('/domain/moved.example?at=2026-03-01')
  assert.equal(status, 200)
  const none = Object.fromEntries(['MX', 'TXT', 'SOA', 'CNAME'].map((type) => [type, null]))
  const unknown = {
    ...{ has_website: 'yes', redirect_to_https: 'no', redirect_to_www: 'no', redirect_to_domain: 'no' },
    ...{ only_with_www: 'no', only_dns_no_web: 'no', ssl: 'nocert', ip: 'v4only', redirect_count: null },
    ...{ reverse_ip_count: null, social_networks: [], social_accounts: [] },
  }
  const { lookup, ...rest } = body as Past
  assert.deepEqual(rest, {
    name: 'moved.example',
    requested: null,
    at: '2026-03-01T23:59:59Z',
    observed: { dns: null, web: on('01-10') },
    redirects_to: null,
    website: { since: on('01-10'), last_seen: on('01-10') },
    records: {
      ...none,
      A: { since: on('01-10'), last_seen: on('02-10'), records: [{ ipv4_address: '192.0.2.1' }] },
      AAAA: null,
      NS: { since: on('01-10'), last_seen: on('06-10'), records: [{ nameserver: 'ns.example' }] },
    },
    former_records: null,
    address_count: 1,
    addresses: [{ ip: '192.0.2.1', since: on('01-10'), neighbours: null }],
    cost: 1,
  })
  assert.deepEqual(lookup, unknown)
})

test('a time means that second, with any offset, and the website is that of then', async () => {
  const { at, lookup, addresses } = await domainAt('moved.example', '2026-03-10T11:59:59%2B02:00')
  assert.deepEqual(
    [at, addresses],
    ['2026-03-10T09:59:59Z', [{ ip: '192.0.2.1', since: on('01-10'), neighbours: null }]],
  )
  assert.equal(lookup.has_website, 'yes')
  assert.deepEqual((await domainAt('moved.example', '2026-03-10T10:00:00')).addresses, [
    { ip: '192.0.2.2', since: on('03-10'), neighbours: null },
  ])
  await world.ingest(look('moved.example', { web: site({ has_website: false }) }, on('07-10')))
  const later = await domainAt('moved.example', '2026-03-10')
  assert.deepEqual(
    [later.lookup.has_website, later.lookup.social_networks, later.observed],
    ['yes', null, { dns: null, web: null }],
  )
  const before = await domainAt('moved.example', '2026-01-10T09:00:00')
  assert.equal((before as unknown as { error: string }).error, 'no_data')
})

test('an address that a domain came back to keeps the date on which it was first there', async () => {
  assert.deepEqual((await domainAt('moved.example', '2026-07-01')).addresses, [
    { ip: '192.0.2.1', since: on('01-10'), neighbours: null },
  ])
})

test('a domain that did not exist is nxdomain with its former records; before, it has records', async () => {
  const gone = await domainAt('gone.example', '2026-06-01')
  const A = { since: on('02-01'), last_seen: on('02-01'), records: [{ ipv4_address: '192.0.2.1' }] }
  assert.deepEqual([gone.lookup.ip, gone.addresses, gone.records.A, gone.former_records!.A], ['nxdomain', [], null, A])
  const before = await domainAt('gone.example', '2026-03-01')
  assert.deepEqual([before.lookup.ip, before.records.A, before.former_records], ['v4only', A, null])
  const now = await domainAt('gone.example', '2026-11-20')
  assert.deepEqual([now.lookup.ip, now.observed], ['nxdomain', { dns: on('08-01'), web: null }])
})

test('of a domain that came back, it is unknown from when to when it did not exist', async () => {
  const { lookup, records } = await domainAt('back.example', '2026-06-01')
  const A = { since: on('02-01'), last_seen: on('02-01'), records: [{ ipv4_address: '192.0.2.9' }] }
  assert.deepEqual([lookup.ip, lookup.only_dns_no_web, records.A], [null, null, A])
})

test('of a domain that was absent twice, it is unknown before the first absence, and nxdomain from the second one', async () => {
  for (const [day, ip] of [
    ['03-01', null],
    ['05-01', null],
    ['07-01', 'v4only'],
    ['09-01', 'nxdomain'],
  ] as const)
    assert.equal((await domainAt('lapsed.example', `2026-${day}`)).lookup.ip, ip, day)
})

test('between two observations that differ in everything, the former records count, unless it was absent in between', async () => {
  for (const [name, ip] of [
    ['changed.example', 'v4only'],
    ['returned.example', null],
    ['emptied.example', null],
  ] as const) {
    const { lookup, records } = await domainAt(name, '2026-03-01')
    assert.deepEqual([lookup.ip, records.A !== null], [ip, true], name)
  }
})

test('failed look-ups after a moment do not hide that the domain existed', async () => {
  assert.equal((await domainAt('failing.example', '2026-02-15')).lookup.ip, 'both')
})

test('a failed look-up is shown if it is the newest', async () => {
  const { lookup, addresses } = await domainAt('failing.example', '2026-03-10')
  assert.deepEqual([lookup.ip, addresses], ['servfail', []])
})

test('a domain of which nothing is on record at the moment gives 404', async () => {
  assert.deepEqual(await errorOf('/domain/moved.example?at=2026-01-09'), [404, 'no_data'])
  assert.deepEqual(await errorOf('/domain/unknown.example?at=2026-03-01'), [404, 'no_data'])
  const { requested, name } = (await domainAt('www.moved.example', '2026-03-01')) as never as Record<string, string>
  assert.deepEqual([requested, name], ['www.moved.example', 'moved.example'])
})

test('an address as of a moment has the domains whose newest observation showed it', async () => {
  assert.deepEqual(await rowsOf('/ip/192.0.2.1?at=2026-03-01'), [
    'gone.example 192.0.2.1 02-01 02-01',
    'moved.example 192.0.2.1 01-10 02-10',
  ])
  assert.deepEqual(await rowsOf('/ip/192.0.2.1?at=2026-07-01'), ['moved.example 192.0.2.1 06-10 06-10'])
  assert.deepEqual(await errorOf('/ip/192.0.2.1?at=2026-01-01'), [404, 'no_data'])
})

test('an address in a time has the domains that were seen there in it, each time as a row', async () => {
  assert.deepEqual(await rowsOf('/ip/192.0.2.1?from=2026-02-10&to=2026-06-10'), [
    'moved.example 192.0.2.1 01-10 02-10',
    'moved.example 192.0.2.1 06-10 06-10',
  ])
  assert.deepEqual(await rowsOf('/ip/192.0.2.1?to=2026-02-01'), [
    'gone.example 192.0.2.1 02-01 02-01',
    'moved.example 192.0.2.1 01-10 02-10',
  ])
})

test('a network has its rows in the order of the addresses, present and past, or as of a moment', async () => {
  const all = [
    'gone.example 192.0.2.1 02-01 02-01',
    'moved.example 192.0.2.1 01-10 02-10',
    'moved.example 192.0.2.1 06-10 06-10',
    'moved.example 192.0.2.2 03-10 03-10',
    'back.example 192.0.2.9 02-01 02-01',
    'back.example 192.0.2.9 08-01 08-01',
    'failing.example 192.0.2.200 02-01 02-01',
  ]
  assert.deepEqual(await rowsOf('/ip/192.0.2.0/24'), all)
  assert.deepEqual(await rowsOf('/ip/192.0.2.77%2F24'), all)
  assert.deepEqual(await rowsOf('/ip/192.0.2.0/30?at=2026-04-01'), ['moved.example 192.0.2.2 03-10 03-10'])
  assert.deepEqual(await rowsOf('/ip/2001:db8::/32'), ['failing.example 2001:db8::1 02-01 02-01'])
  assert.equal(((await get('/ip/192.0.2.77/24')).body as Page).meta.query, '192.0.2.0/24')
})

test('pages of one row have the rows of one page, and a cursor belongs to its query', async () => {
  const rows: Row[] = []
  let next: string | null = null
  do {
    const cursor: string = next === null ? '' : `&next=${next}`
    const { meta, result } = (await get(`/ip/192.0.2.0/24?limit=1${cursor}`)).body as Page
    rows.push(...result)
    next = meta.next
  } while (next !== null)
  assert.deepEqual(rows, ((await get('/ip/192.0.2.0/24')).body as Page).result)
  const first = ((await get('/ip/192.0.2.0/24?limit=1')).body as Page).meta.next
  for (const other of ['/ip/192.0.2.0/25?', '/ip/192.0.2.0/24?at=2026-03-01&', '/ip/192.0.2.0/24?to=2026-03-01&'])
    assert.deepEqual(await errorOf(`${other}next=${first}`), [400, 'cursor_mismatch'])
  assert.deepEqual(await errorOf('/ip/192.0.2.0/24?next=x'), [400, 'cursor_invalid'])
})

test('the rows come as CSV as well, and a profile of an address stays JSON', async () => {
  const send = (path: string) =>
    fetch(`${world.address}${path}`, { headers: { Authorization: `Bearer ${token}`, Accept: 'text/csv' } })
  const csv = await (await send('/ip/192.0.2.2/32')).text()
  assert.equal(csv, `target,ip,first_seen,last_seen\nmoved.example,192.0.2.2,${on('03-10')},${on('03-10')}\n`)
  assert.equal(((await (await send('/ip/192.0.2.1')).json()) as { count: number }).count, 1)
})

test('errors: dates, times that exclude each other, prefixes', async () => {
  const errors: Record<string, [number, string]> = {
    '/domain/moved.example?at=2026-02-30': [400, 'date_format'],
    '/domain/moved.example?at=yesterday': [400, 'date_format'],
    '/domain/moved.example?at=2026-11-21': [400, 'date_format'],
    '/domain/moved.example?at=2026-11-20T12:00:01Z': [400, 'date_format'],
    '/ip/192.0.2.1?at=2027-01-01': [400, 'date_format'],
    '/ip/192.0.2.1?at=2026-03-01&from=2026-01-01': [400, 'date_format'],
    '/ip/192.0.2.1?from=2026-03-01&to=2026-02-01': [400, 'date_format'],
    '/ip/192.0.2.0/33': [400, 'domain_format'],
    '/ip/192.0.2.0/x': [400, 'domain_format'],
    '/ip/2001:db8::/129': [400, 'domain_format'],
    '/ip/203.0.113.0/24': [404, 'no_data'],
  }
  for (const [path, expected] of Object.entries(errors))
    assert.deepEqual([path, ...(await errorOf(path))], [path, ...expected])
})

test('the past of a domain needs the plan of /dnshistory; that of an address is in every plan, with its page size', async () => {
  const free = (await world.account({ plan: 'free' })).token
  assert.deepEqual(await errorOf('/domain/moved.example?at=2026-03-01', free), [403, 'plan_required'])
  assert.equal((await get('/domain/moved.example', free)).status, 200)
  const { meta } = (await get('/ip/192.0.2.1?at=2026-03-01&limit=99999', free)).body as { meta: Record<string, number> }
  assert.deepEqual([meta.limit, meta.max_limit], [1_000, 1_000])
  const { headers } = await get('/account/quota', free)
  assert.equal(headers.get('ratelimit'), '"daily";r=98;t=43200', 'a page costs one call, and a refusal none')
})

test('given a store whose oldest states were removed, an answer that reaches back further says so', async () => {
  type Marked = { meta: { removed_before: string | null } }
  const markOf = async (path: string) => ((await get(path)).body as Marked).meta.removed_before
  const cutoff = parseInstant(on('03-20'))!
  assert.equal(await markOf('/ip/192.0.2.1/32'), null)
  const hold = (await world.store.jobs.acquireLock('prune', 'test'))!
  const cutoffs = { A: cutoff, web: cutoff }
  assert.equal((await world.store.pruning.prune(hold, [parseName('moved.example')!], cutoffs))!.names, 1)
  const mark = on('03-20')
  assert.deepEqual(await rowsOf('/ip/192.0.2.1?at=2026-02-20'), ['gone.example 192.0.2.1 02-01 02-01'])
  assert.equal(await markOf('/ip/192.0.2.1?at=2026-02-20'), mark)
  assert.equal(await markOf('/ip/192.0.2.1/32'), mark)
  assert.equal(await markOf('/ip/192.0.2.1?to=2026-09-01'), mark)
  assert.equal(await markOf('/ip/192.0.2.1?from=2026-03-20T10:00:00Z'), null)
  assert.equal(await markOf('/ip/192.0.2.1?at=2026-07-01'), null)
  assert.equal(await markOf('/ip/2001:db8::1?at=2026-02-20'), null) // AAAA is kept
  const { status, body } = await get('/ip/192.0.2.77?at=2026-02-20')
  assert.equal(status, 404)
  assert.match(
    (body as { msg: string }).msg,
    /at this time\. The operator has removed history from before 2026-03-20T10:00:00Z\./,
  )
  const { body: redirects } = await get('/domain/moved.example/redirects?at=2026-02-20')
  assert.match((redirects as { msg: string }).msg, /has removed history from before 2026-03-20T10:00:00Z\.$/)
  assert.doesNotMatch(
    ((await get('/domain/moved.example/redirects?at=2026-04-20')).body as { msg: string }).msg,
    /removed/,
  )
})
