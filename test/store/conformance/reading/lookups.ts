/** Tests of /lookup: defaults, the values from dns and web parts, the clocks, the counts. */

import assert from 'node:assert/strict'
import { OBSERVED_PARTS } from '../../../../src/apply/crawl-state.ts'
import type { DnsPart } from '../../../../src/observe/observation.ts'
import { ingest } from '../../../../src/store/ingest.ts'
import type { Lookup, Store } from '../../../../src/store/port/store.ts'
import type { Engine } from '../engine.ts'
import { dns, minute, NXDOMAIN, name, redirecting, SERVFAIL, seen, testWithStore, web } from '../world.ts'
import { addressesOf } from './paging.ts'

const ONE = name('one.example')

async function lookup(store: Store, domain = 'one.example'): Promise<Lookup> {
  const found = await store.facts.lookup(name(domain))
  assert.ok(found !== null, `${domain} is not known`)
  return found
}

export function looking(engine: Engine): void {
  testWithStore(engine, 'an observation without parts only adds the name, with the defaults', async (store) => {
    assert.deepEqual(await ingest(store, [seen('one.example', 1, null), seen('one.example', 2, null)]), [
      'applied',
      'stale',
    ])
    assert.deepEqual(structuredClone(await lookup(store)), {
      dns: null,
      web: null,
      ip: null,
      only_dns_no_web: false,
      has_website: false,
      redirect_to_https: false,
      redirect_to_www: false,
      redirect_to_domain: false,
      only_with_www: false,
      ssl: 'nocert',
      social_networks: '[]',
      social_accounts: '[]',
      redirect_count: 0,
      reverse_ip_count: 0,
    })
  })

  testWithStore(
    engine,
    'an unknown name gives null, even if it is a redirect target, a name server or a prefix',
    async (store) => {
      await ingest(store, [seen('one.example', 1, dns({ NS: ['ns.example.org'] }), redirecting('two.example'))])
      for (const unknown of ['two.example', 'ns.example.org', 'ne.example', 'a.one.example', 'one.exampl']) {
        assert.equal(await store.facts.lookup(name(unknown)), null)
        assert.deepEqual(structuredClone(await store.facts.clocks(name(unknown))), { dns: null, web: null })
      }
    },
  )

  testWithStore(engine, 'concurrent look-ups give the fields that each gives alone', async (store) => {
    const domains = Array.from({ length: 150 }, (_, index) => name(`n${index % 100}.example`))
    const known = domains.filter((_, index) => index % 3 > 0)
    await ingest(
      store,
      known.map((domain, index) =>
        seen(domain, index, dns({ A: [`192.0.2.${index % 7}`] }), redirecting(domains[index]!)),
      ),
    )
    await store.observations.forget(name('n1.example'))
    const alone: (Lookup | null)[] = []
    for (const domain of domains) alone.push(structuredClone(await store.facts.lookup(domain)))
    const concurrent = await Promise.all(domains.map((domain) => store.facts.lookup(domain)))
    assert.deepEqual(structuredClone(concurrent), alone)
  })

  const A = ['192.0.2.1']
  const AAAA = ['2001:db8::1']
  const NS = ['ns.example']
  for (const [what, parts, ip, only] of [
    ['no type queried', [dns({})], null, false],
    ['only another type queried', [dns({ NS })], null, false],
    ['A', [dns({ A })], 'v4only', false],
    ['AAAA', [dns({ AAAA })], 'v6only', false],
    ['A and AAAA', [dns({ A }), dns({ AAAA })], 'both', false],
    ['A queried and absent', [dns({ A: [] })], 'noip', false],
    ['A absent and a name server', [dns({ A: [], NS })], 'noip', true],
    ['A absent and an earlier name server', [dns({ NS }), dns({ A: [] })], 'noip', true],
    ['A absent and a removed name server', [dns({ A: [], NS }), dns({ NS: [] })], 'noip', false],
    ['A removed, AAAA stays', [dns({ A, AAAA }), dns({ A: [] })], 'v6only', false],
    ['nxdomain', [dns({ A, NS }), NXDOMAIN], 'nxdomain', false],
    ['servfail', [dns({ A: [], NS }), SERVFAIL], 'servfail', false],
    ['nxdomain first', [NXDOMAIN], 'nxdomain', false],
    ['ok with another type after nxdomain', [NXDOMAIN, dns({ NS })], 'noip', true],
    ['ok with another type after A and servfail', [dns({ A }), SERVFAIL, dns({ NS })], 'v4only', false],
  ] satisfies [string, DnsPart[], string | null, boolean][]) {
    testWithStore(
      engine,
      `ip is ${ip ?? 'left out'} and only_dns_no_web ${only ? 'yes' : 'no'} after ${what}`,
      async (store) => {
        await ingest(
          store,
          parts.map((part, index) => seen('one.example', index, part)),
        )
        const { ip: found, only_dns_no_web } = await lookup(store)
        assert.deepEqual([found, only_dns_no_web], [ip, only])
      },
    )
  }

  testWithStore(engine, 'each web field has the value that was observed last', async (store) => {
    const first = web({ has_website: true, redirect_to_https: true, ssl: 'valid', text: 'Hello' })
    const second = web({ redirect_to_www: true, only_with_www: true, ssl: 'invalid', redirects_to: 'two.example' })
    await ingest(store, [
      seen('one.example', 1, null, first),
      seen('one.example', 3, null, second),
      seen('one.example', 2, null, first),
    ])
    const { has_website, redirect_to_https, redirect_to_www, only_with_www, redirect_to_domain, ssl } =
      await lookup(store)
    assert.deepEqual(
      { has_website, redirect_to_https, redirect_to_www, only_with_www, redirect_to_domain, ssl },
      {
        has_website: false,
        redirect_to_https: false,
        redirect_to_www: true,
        only_with_www: true,
        redirect_to_domain: true,
        ssl: 'invalid',
      },
    )
  })

  testWithStore(
    engine,
    'social accounts are in page order, and networks are in byte order, each once',
    async (store) => {
      const networks = ['x', '\u{1f600}', '\uff5e', 'facebook', 'x', 'é"\\']
      const social_accounts = networks.map((network, n) => ({
        network,
        type: `${network}_page`,
        username: `ü${n}`,
        url: `https://h/${n}?a=b&c="`,
      }))
      await ingest(store, [seen('one.example', 1, null, web({ has_website: true, social_accounts }))])
      const found = await lookup(store)
      assert.deepEqual(JSON.parse(found.social_networks), ['facebook', 'x', 'é"\\', '\uff5e', '\u{1f600}'])
      assert.deepEqual(JSON.parse(found.social_accounts), social_accounts)
      assert.deepEqual(Object.keys(JSON.parse(found.social_accounts)[0]), ['network', 'type', 'username', 'url'])
    },
  )

  for (const [status, part] of Object.entries({ nxdomain: NXDOMAIN, servfail: SERVFAIL })) {
    testWithStore(
      engine,
      `on ${status} web fields and redirect stay, addresses are removed, and return with the next ok`,
      async (store) => {
        const up = dns({ A: ['192.0.2.1'] })
        await ingest(store, [
          seen('two.example', 1, up),
          seen('one.example', 1, up, web({ redirects_to: 'two.example', ssl: 'valid' })),
          seen('one.example', 2, part),
        ])
        const { ssl, redirect_to_domain, reverse_ip_count } = await lookup(store)
        assert.deepEqual(
          { ssl, redirect_to_domain, reverse_ip_count },
          { ssl: 'valid', redirect_to_domain: true, reverse_ip_count: 0 },
        )
        const two = await lookup(store, 'two.example')
        assert.deepEqual([two.redirect_count, two.reverse_ip_count], [1, 0])
        assert.deepEqual(await addressesOf(store.facts, ONE), [])
        await ingest(store, [seen('one.example', 3, dns({}))])
        assert.equal((await lookup(store, 'two.example')).reverse_ip_count, 1)
        assert.deepEqual(await addressesOf(store.facts, ONE), ['192.0.2.1'])
      },
    )
  }

  testWithStore(engine, 'the clocks of dns and web are those of the newest part of each', async (store) => {
    const parts = [
      seen('one.example', 5, dns({ A: [] })),
      seen('one.example', 4, NXDOMAIN, web()),
      seen('one.example', 3, dns({ NS: ['ns.example'] }), web({ ssl: 'valid' })),
    ]
    assert.deepEqual(await ingest(store, parts), ['applied', 'applied', 'applied'])
    const expected = { dns: minute(5), web: minute(4) }
    assert.deepEqual(structuredClone(await store.facts.clocks(ONE)), expected)
    const { dns: dnsClock, web: webClock, ssl } = await lookup(store)
    assert.deepEqual({ dns: dnsClock, web: webClock, ssl }, { ...expected, ssl: 'nocert' })
  })

  testWithStore(engine, 'the clocks of the parts of names come in the order of the names', async (store) => {
    const two = name('two.example')
    await ingest(store, [
      seen('one.example', 3, dns({ NS: ['ns.example'], A: [] }), web()),
      seen('one.example', 5, dns({ A: [] })),
      seen('two.example', 4, NXDOMAIN),
    ])
    const names = [two, ONE, name('unknown.example'), two]
    const clocks = await store.facts.partClocks(names)
    const expected = [{ status: 4 }, { status: 5, A: 5, NS: 3, web: 3 }, {}, { status: 4 }] as Record<string, number>[]
    assert.deepEqual(
      clocks.map((each) => [...each]),
      expected.map((parts) => OBSERVED_PARTS.map((part) => (parts[part] === undefined ? 0 : minute(parts[part])))),
    )
    assert.deepEqual(await store.facts.partClocks([]), [])
  })

  testWithStore(engine, 'each part has its own clock: a part that is not newer changes nothing', async (store) => {
    const outcomes = await ingest(store, [
      seen('one.example', 5, dns({ A: ['192.0.2.5'], NS: ['five.example'] }), web({ ssl: 'valid' })),
      seen('one.example', 5, dns({ A: ['192.0.2.6'], NS: ['six.example'] }), web({ ssl: 'invalid' })),
      seen('one.example', 4, NXDOMAIN, web()),
      seen('one.example', 4, dns({ A: [], MX: [{ priority: 1, mail_server: 'mx.example' }] })),
      seen('one.example', 6, dns({ A: ['192.0.2.5'] })),
      seen('one.example', 5, dns({ TXT: [] }), web({ ssl: 'invalid' })),
    ])
    assert.deepEqual(outcomes, ['applied', 'stale', 'stale', 'applied', 'unchanged', 'unchanged'])
    const { ip, ssl } = await lookup(store)
    assert.deepEqual([ip, ssl, await addressesOf(store.facts, ONE)], ['v4only', 'valid', ['192.0.2.5']])
  })

  testWithStore(
    engine,
    'a late observation that applied in part applies completely if it is observed again',
    async (store) => {
      const late = dns({ A: ['192.0.2.2'], NS: ['ns.example'] })
      const outcomes = [
        await ingest(store, [seen('one.example', 5, dns({ A: ['192.0.2.1'] }))]),
        await ingest(store, [seen('one.example', 4, late)]),
        await ingest(store, [seen('one.example', 6, late)]),
      ]
      assert.deepEqual(outcomes.flat(), ['applied', 'applied', 'applied'])
      assert.deepEqual(await addressesOf(store.facts, ONE), ['192.0.2.2'])
    },
  )

  testWithStore(
    engine,
    'reverse_ip_count is the sum over all addresses, and redirect_count counts each source once',
    async (store) => {
      const both = ['192.0.2.1', '192.0.2.2']
      await ingest(store, [
        seen('one.example', 1, dns({ A: both, AAAA: ['2001:db8::1'] })),
        seen('two.example', 1, dns({ A: both }), redirecting('one.example')),
        seen('three.example', 1, dns({ A: ['192.0.2.2'], AAAA: ['2001:db8::1'] }), redirecting('one.example')),
        seen('two.example', 2, null, redirecting('one.example')),
      ])
      const { redirect_count, reverse_ip_count } = await lookup(store)
      assert.deepEqual([redirect_count, reverse_ip_count], [2, 4])
    },
  )
}
