/** Tests of the profiles of domains and addresses. Random histories compare them with the model (answers.ts). */

import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ingest } from '../../../../src/store/ingest.ts'
import type { Engine } from '../engine.ts'
import { address, dns, minute, minuteText, NXDOMAIN, name, redirecting, seen, testWithStore, web } from '../world.ts'

const ONE = name('one.example')

const NO_TARGET = web()

export function profiles(engine: Engine): void {
  testWithStore(
    engine,
    'an unknown name and a forgotten one have no profile, an unknown address no names',
    async (store) => {
      assert.equal(await store.facts.domainProfile(ONE, 10), null)
      await ingest(store, [seen('one.example', 1, dns({ A: ['192.0.2.1'] }))])
      await store.observations.forget(ONE)
      assert.equal(await store.facts.domainProfile(ONE, 10), null)
      assert.deepEqual(await store.facts.addressProfile(address('192.0.2.1'), 10), { count: 0, domains: [] })
    },
  )

  testWithStore(engine, 'a name that was never probed has a profile without records and addresses', async (store) => {
    await ingest(store, [seen('one.example', 1, null)])
    const { lookup, ...profile } = (await store.facts.domainProfile(ONE, 10))!
    assert.equal(lookup.has_website, false)
    assert.deepEqual(profile, { redirects_to: null, records: {}, addresses: [], addressCount: 0 })
  })

  testWithStore(engine, 'a profile has the target, the newest states, and the names on each address', async (store) => {
    const shared = ['192.0.2.9', '192.0.2.10']
    await ingest(store, [
      seen('one.example', 1, dns({ A: ['192.0.2.9'], NS: ['ns.example'] })),
      seen('two.example', 1, dns({ A: shared })),
      seen('three.example', 2, dns({ A: ['192.0.2.10'] })),
    ])
    const later = dns({ A: shared, AAAA: ['2001:db8::1'], NS: [] })
    await ingest(store, [seen('one.example', 5, later, redirecting('target.example'))])
    const found = (await store.facts.domainProfile(ONE, 2))!
    assert.equal(found.redirects_to, 'target.example')
    assert.equal(found.lookup.reverse_ip_count, 3)
    assert.equal(found.addressCount, 3)
    assert.deepEqual(found.addresses, [
      { address: '192.0.2.9', since: minuteText(1), names: 2 },
      { address: '192.0.2.10', since: minuteText(5), names: 3 },
    ])
    assert.deepEqual(Object.keys(found.records).toSorted(), ['A', 'AAAA', 'NS'])
    assert.deepEqual(found.records.NS, { first_seen: minute(5), records: '[]' })
    assert.deepEqual(JSON.parse(found.records.A!.records), [
      { ipv4_address: '192.0.2.9' },
      { ipv4_address: '192.0.2.10' },
    ])
  })

  testWithStore(engine, 'a name that is in no zone any more keeps its records and has no addresses', async (store) => {
    await ingest(store, [seen('one.example', 1, dns({ A: ['192.0.2.1'] })), seen('one.example', 2, NXDOMAIN)])
    const found = (await store.facts.domainProfile(ONE, 10))!
    assert.deepEqual([found.lookup.ip, found.addresses, found.addressCount], ['nxdomain', [], 0])
    assert.equal(found.records.A?.first_seen, minute(1))
  })

  testWithStore(engine, 'the parts of a profile are from one moment, also while the name is written', async (store) => {
    const all = ['192.0.2.1', '192.0.2.2', '192.0.2.3']
    await ingest(store, [
      seen('two.example', 1, dns({ A: all.slice(0, 2) })),
      seen('three.example', 1, dns({ A: all.slice(1) })),
      seen('one.example', 1, dns({ A: [] })),
    ])
    let isWriting = true
    const write = async (): Promise<void> => {
      for (let at = 2; at < 42; at++) {
        const [from, to] = [at % 3, 1 + (at % 4)]
        const target = redirecting(`t${at % 2}.example`)
        await ingest(store, [
          seen('one.example', at, dns({ A: all.slice(from, to) }), at % 3 === 0 ? NO_TARGET : target),
        ])
      }
      isWriting = false
    }
    const read = async (): Promise<void> => {
      while (isWriting) {
        const { lookup, redirects_to, records, addresses, addressCount } = (await store.facts.domainProfile(ONE, 10))!
        const current = JSON.parse(records.A?.records ?? '[]') as { ipv4_address: string }[]
        assert.deepEqual(
          addresses.map(({ address }) => address),
          current.map(({ ipv4_address }) => ipv4_address),
        )
        assert.equal(addressCount, addresses.length)
        assert.equal(
          lookup.reverse_ip_count,
          addresses.reduce((sum, { names }) => sum + names - 1, 0),
        )
        assert.equal(lookup.redirect_to_domain, redirects_to !== null)
        assert.equal(lookup.ip, addresses.length === 0 ? 'noip' : 'v4only')
        await nextTurn()
      }
    }
    await Promise.all([write(), read(), read()])
  })

  testWithStore(engine, 'the profile of an address has its first names and the number of all', async (store) => {
    const domains = ['c', 'a', 'b'].map((label) => `${label}.example`)
    await ingest(
      store,
      domains.map((domain, at) => seen(domain, at + 1, dns({ A: ['192.0.2.1'] }))),
    )
    assert.deepEqual(await store.facts.addressProfile(address('192.0.2.1'), 2), {
      count: 3,
      domains: [
        { target: 'a.example', since: minuteText(2) },
        { target: 'b.example', since: minuteText(3) },
      ],
    })
  })
}
