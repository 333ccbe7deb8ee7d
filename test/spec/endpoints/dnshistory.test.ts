/** /dnshistory: the states of each record type and the format of its records. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from '../errors.ts'
import { look, NXDOMAIN, ok, SERVFAIL } from '../observations.ts'
import { makeWorld, type Parameters } from '../world.ts'

const world = await makeWorld()
const { token } = await world.account({ plan: 'premium' })
const ask = (parameters: Parameters) => world.ask('dnshistory', { token, ...parameters })

const at = (day: number) => `2026-11-${String(day).padStart(2, '0')}T06:07:08`
/** An observation on a day of November. */
const on = (day: number, domain: string, dns: object) => look(domain, { dns }, `${at(day)}Z`)
const a = (...addresses: string[]) => addresses.map((ipv4_address) => ({ ipv4_address }))

const NOTHING = { A: [], AAAA: [], MX: [], TXT: [], NS: [], SOA: [], CNAME: [] }
const NO_TOTALS = { A: 0, AAAA: 0, MX: 0, TXT: 0, NS: 0, SOA: 0, CNAME: 0 }

const SOA = {
  primary_nameserver: 'ns1.example.net',
  admin_email: 'host.master@example.net',
  serial: 2026111901,
  refresh_seconds: 7200,
  retry_seconds: 3600,
  expire_seconds: 1209600,
}

test('without type all seven types at once, and the format of the records of each', async () => {
  const dns = ok({
    A: ['192.0.2.10', '192.0.2.9'],
    AAAA: ['2001:0db8::0001'],
    MX: [
      { priority: 20, mail_server: 'B.example.net.' },
      { priority: 5, mail_server: 'c.example.net' },
      { priority: 20, mail_server: 'a.example.net' },
    ],
    TXT: [['v=spf1 -all'], ['one, ', 'two']],
    NS: ['ns2.example.net', 'NS1.example.net.'],
    SOA: [{ ...SOA, minimum_ttl_seconds: 300 }],
    CNAME: ['alias.example.net.'],
  })
  await world.ingest(on(1, 'whole.example', dns))
  const state = (...records: object[]) => [{ first_seen: at(1), records }]
  const seen = await ask({ query: 'Whole.example' })
  assert.equal(seen.status, 200)
  assert.deepEqual(seen.body, {
    meta: {
      query: 'whole.example',
      rcode: 200,
      count: 7,
      max_limit: 100,
      limit: 10,
      totals: { A: 1, AAAA: 1, MX: 1, TXT: 1, NS: 1, SOA: 1, CNAME: 1 },
    },
    result: {
      A: state(...a('192.0.2.9', '192.0.2.10')),
      AAAA: state({ ipv6_address: '2001:db8::1' }),
      MX: state(
        { priority: 5, mail_server: 'c.example.net' },
        { priority: 20, mail_server: 'a.example.net' },
        { priority: 20, mail_server: 'b.example.net' },
      ),
      TXT: state({ text: 'one, two', parts: ['one, ', 'two'] }, { text: 'v=spf1 -all', parts: ['v=spf1 -all'] }),
      NS: state({ nameserver: 'ns1.example.net' }, { nameserver: 'ns2.example.net' }),
      SOA: state({ ...SOA, minimum_ttl_seconds: 300 }),
      CNAME: state({ target: 'alias.example.net' }),
    },
  })
})

test('without type: all seven keys, [] where there is none; totals has all seven', async () => {
  await world.ingest(on(1, 'one.example', ok({ A: ['192.0.2.1'] })))
  const { body } = await ask({ query: 'one.example' })
  assert.deepEqual(body, {
    meta: { query: 'one.example', rcode: 200, count: 1, max_limit: 100, limit: 10, totals: { ...NO_TOTALS, A: 1 } },
    result: { ...NOTHING, A: [{ first_seen: at(1), records: a('192.0.2.1') }] },
  })
})

test('with type: that one key, in result and in totals; any letter case of type', async () => {
  await world.ingest(on(1, 'typed.example', ok({ A: ['192.0.2.1'], MX: [] })))
  for (const type of ['A', 'a', ' A ']) {
    assert.deepEqual((await ask({ query: 'typed.example', type })).body, {
      meta: { query: 'typed.example', rcode: 200, count: 1, max_limit: 100, limit: 10, totals: { A: 1 } },
      result: { A: [{ first_seen: at(1), records: a('192.0.2.1') }] },
    })
  }
  for (const type of ['MX', 'aaaa', 'Txt', 'ns', 'SoA', 'cname']) {
    const key = type.toUpperCase()
    assert.deepEqual((await ask({ query: 'typed.example', type })).body, {
      meta: { query: 'typed.example', rcode: 200, count: 0, max_limit: 100, limit: 10, totals: { [key]: 0 } },
      result: { [key]: [] },
    })
  }
})

test('unknown domain: 200 with empty arrays and totals 0', async () => {
  for (const query of ['unknown.example', 'a.suffix-that-is-none']) {
    const seen = await ask({ query })
    assert.equal(seen.status, 200)
    assert.deepEqual(seen.body, {
      meta: { query, rcode: 200, count: 0, max_limit: 100, limit: 10, totals: NO_TOTALS },
      result: NOTHING,
    })
  }
})

test('states are returned newest first; first_seen is when the state was first observed', async () => {
  await world.ingest(
    on(1, 'moves.example', ok({ A: ['192.0.2.1'] })),
    on(2, 'moves.example', ok({ A: ['192.0.2.1'] })),
    on(3, 'moves.example', ok({ A: ['192.0.2.2'] })),
    on(4, 'moves.example', ok({ A: ['192.0.2.2', '192.0.2.1'] })),
    on(5, 'moves.example', ok({ A: ['192.0.2.1'] })),
  )
  assert.deepEqual((await ask({ query: 'moves.example', type: 'A' })).body, {
    meta: { query: 'moves.example', rcode: 200, count: 4, max_limit: 100, limit: 10, totals: { A: 4 } },
    result: {
      A: [
        { first_seen: at(5), records: a('192.0.2.1') },
        { first_seen: at(4), records: a('192.0.2.1', '192.0.2.2') },
        { first_seen: at(3), records: a('192.0.2.2') },
        { first_seen: at(1), records: a('192.0.2.1') },
      ],
    },
  })
})

type History = { result: Record<string, { first_seen: string; records: object[] }[]> }
const historyOf = async (query: string, type: string) => ((await ask({ query, type })).body as History).result[type]!

test('order and letter case of names make no new state, and each record is there once', async () => {
  await world.ingest(
    on(1, 'same.example', ok({ NS: ['a.example', 'b.example'] })),
    on(2, 'same.example', ok({ NS: ['B.EXAMPLE.', 'A.example', 'b.example'] })),
  )
  assert.deepEqual(await historyOf('same.example', 'NS'), [
    { first_seen: at(1), records: [{ nameserver: 'a.example' }, { nameserver: 'b.example' }] },
  ])
})

test('records that disappear give a state with records []; a type that was never observed has no states', async () => {
  await world.ingest(
    on(1, 'vanish.example', ok({ A: ['192.0.2.1'], MX: [] })),
    on(2, 'vanish.example', ok({ A: [], MX: [] })),
  )
  assert.deepEqual(await historyOf('vanish.example', 'A'), [
    { first_seen: at(2), records: [] },
    { first_seen: at(1), records: a('192.0.2.1') },
  ])
  assert.deepEqual(await historyOf('vanish.example', 'MX'), [])
})

test('NXDOMAIN and SERVFAIL do not change the history', async () => {
  await world.ingest(
    on(1, 'gone.example', ok({ A: ['192.0.2.1'] })),
    on(2, 'gone.example', NXDOMAIN),
    on(3, 'gone.example', SERVFAIL),
    on(4, 'gone.example', ok({ A: ['192.0.2.1'] })),
  )
  assert.deepEqual(await historyOf('gone.example', 'A'), [{ first_seen: at(1), records: a('192.0.2.1') }])
})

test('SOA: numbers are JSON numbers; minimum_ttl_seconds is omitted, never null, if it was not reported', async () => {
  await world.ingest(
    on(1, 'soa.example', ok({ SOA: [SOA] })),
    on(2, 'soa.example', ok({ SOA: [{ ...SOA, serial: 4294967295 }] })),
    on(3, 'soa.example', ok({ SOA: [{ ...SOA, serial: 0, minimum_ttl_seconds: 0 }] })),
  )
  assert.deepEqual(await historyOf('soa.example', 'SOA'), [
    { first_seen: at(3), records: [{ ...SOA, serial: 0, minimum_ttl_seconds: 0 }] },
    { first_seen: at(2), records: [{ ...SOA, serial: 4294967295 }] },
    { first_seen: at(1), records: [SOA] },
  ])
})

test('TXT: strings longer than 255 bytes are split; parts keeps them, text is the parts joined', async () => {
  const parts = ['x'.repeat(255), 'y'.repeat(255), '"quoted" é \\\\ \\000 <b>']
  await world.ingest(on(1, 'txt.example', ok({ TXT: [parts] })))
  assert.deepEqual(await historyOf('txt.example', 'TXT'), [
    { first_seen: at(1), records: [{ text: parts.join(''), parts }] },
  ])
})

test('names in presentation form, lower-case, no trailing dot, the root is "."', async () => {
  await world.ingest(
    on(1, 'root.example', ok({ MX: [{ priority: 0, mail_server: '.' }], CNAME: ['_Dmarc.Exa\\.mple.NET.'] })),
  )
  assert.deepEqual(await historyOf('root.example', 'MX'), [
    { first_seen: at(1), records: [{ priority: 0, mail_server: '.' }] },
  ])
  assert.deepEqual(await historyOf('root.example', 'CNAME'), [
    { first_seen: at(1), records: [{ target: '_dmarc.exa\\.mple.net' }] },
  ])
})

test('AAAA records are returned as they are, including IPv4-mapped ones', async () => {
  await world.ingest(on(1, 'mapped.example', ok({ AAAA: ['::ffff:192.0.2.1', '2001:db8::2'] })))
  assert.deepEqual(await historyOf('mapped.example', 'AAAA'), [
    { first_seen: at(1), records: [{ ipv6_address: '::ffff:192.0.2.1' }, { ipv6_address: '2001:db8::2' }] },
  ])
})

for (const [key, parameters] of [
  ['query_missing', {}],
  ['query_missing', { query: '' }],
  ['domain_format', { query: 'nodot' }],
  ['domain_format', { query: '192.0.2.1' }],
  ['type_invalid', { query: 'a.example', type: 'PTR' }],
  ['type_invalid', { query: 'a.example', type: 'ANY' }],
  ['type_invalid', { query: 'a.example', type: ['A'] }],
  ['type_invalid', { query: 'a.example', type: 1 }],
] as const) {
  test(`400 ${key}, at the top level: ${JSON.stringify(parameters)}`, async () => {
    assertRefused(await ask(parameters), 'dnshistory', key)
  })
}

test('a type that is null or "" counts as not sent', async () => {
  const without = await ask({ query: 'whole.example' })
  for (const type of [null, '', ' ']) assert.deepEqual((await ask({ query: 'whole.example', type })).body, without.body)
})

test('403 plan_required: Free; Basic and Premium are allowed, also by a period that contains today', async () => {
  const free = await world.account()
  const late = await world.account({ periods: ['premium:2026-01-01..2026-11-19', 'basic:2026-11-21..'] })
  const today = await world.account({ periods: ['basic:2026-11-20..2026-11-20'] })
  const asked = (token: string) => world.ask('dnshistory', { token, query: 'one.example' })
  assertRefused(await asked(free.token), 'dnshistory', 'plan_required')
  assertRefused(await asked(late.token), 'dnshistory', 'plan_required')
  assert.equal((await asked(today.token)).status, 200)
})
