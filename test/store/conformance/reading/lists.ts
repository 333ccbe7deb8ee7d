/** Tests of /redirect and /reverseip: order, positions, pages, long lists. */

import assert from 'node:assert/strict'
import type { Observation } from '../../../../src/observe/observation.ts'
import { ingest } from '../../../../src/store/ingest.ts'
import type { NeighbourRow, RedirectRow, Store } from '../../../../src/store/port/store.ts'
import { inForm } from '../../../long.ts'
import { Model } from '../../model.ts'
import { agree } from '../answers.ts'
import type { Engine } from '../engine.ts'
import { address, dns, minuteText, NOW, NXDOMAIN, name, redirecting, seen, testWithStore } from '../world.ts'
import { addressesOf, parsePage, walkNeighbours, walkRedirects } from './paging.ts'

/** The sizes of pages that are tried: up to more than all rows. */
const LIMITS = Array.from({ length: 25 }, (_, n) => n + 1).filter((limit) => limit < 4 || limit % inForm(5, 1) === 0)

const IN_ORDER = [
  '0.0.0.0',
  '2.0.0.1',
  '10.0.0.1',
  '10.0.0.2',
  '192.0.2.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:10.0.0.1',
  '2001:db8::',
  'ff00::1',
].map(address)

function on(domain: string, at: number, addresses: readonly string[]): Observation {
  return seen(
    domain,
    at,
    dns({ A: addresses.filter((a) => !a.includes(':')), AAAA: addresses.filter((a) => a.includes(':')) }),
  )
}

async function rowsOf(store: Store, ...given: Parameters<Store['facts']['neighbours']>): Promise<string[]> {
  const [addresses, except, after, limit] = given
  const { rows } = parsePage<NeighbourRow, unknown>(await store.facts.neighbours(addresses, except, after, limit))
  return rows.map(({ ip, target }) => `${ip} ${target}`)
}

export function lists(engine: Engine): void {
  testWithStore(engine, 'an unknown name or address has an empty last page', async (store) => {
    const one = name('one.example')
    assert.deepEqual(parsePage(await store.facts.redirects(one, null, 10)), { rows: [], count: 0, last: null })
    assert.deepEqual(await addressesOf(store.facts, one), [])
    for (const addresses of [[], [address('192.0.2.1')]]) {
      assert.deepEqual(parsePage(await store.facts.neighbours(addresses, null, null, 10)), {
        rows: [],
        count: 0,
        last: null,
      })
      assert.deepEqual(parsePage(await store.facts.neighbours(addresses, one, null, 10)), {
        rows: [],
        count: 0,
        last: null,
      })
    }
  })

  testWithStore(
    engine,
    'addresses are in the order IPv4, IPv6, numeric within each, and a mapped address stays as it is',
    async (store) => {
      await ingest(store, [on('one.example', 1, IN_ORDER.toReversed()), on('two.example', 1, IN_ORDER)])
      assert.deepEqual(await addressesOf(store.facts, name('one.example')), IN_ORDER)
      const rows = await walkNeighbours(store.facts, name('one.example'), 3)
      assert.deepEqual(
        rows.map(({ ip }) => ip),
        IN_ORDER,
      )
    },
  )

  testWithStore(engine, 'rows of one list are in byte order of their names', async (store) => {
    const inOrder = ['-.a', '0.a', '_.a', 'a-.a', 'a.a', 'a.a.a', 'a.b', 'a0.a', 'ab.a', 'xn--9ca.a'].sort()
    const observations = inOrder
      .toReversed()
      .map((domain) => ({ ...on(domain, 1, ['192.0.2.1']), web: redirecting('one.example') }))
    await ingest(store, observations)
    for (let limit = 1; limit <= 11; limit++) {
      assert.deepEqual(await walkRedirects(store.facts, name('one.example'), limit), inOrder)
      const rows = await walkNeighbours(store.facts, [address('192.0.2.1')], limit)
      assert.deepEqual(
        rows.map(({ target }) => target),
        inOrder,
      )
    }
  })

  testWithStore(
    engine,
    'a page is the JSON of its rows: keys in the order of the specification, and the position of its last row',
    async (store) => {
      const model = new Model(NOW)
      const observations = ['a', 'b', 'c'].map((domain) => ({
        ...on(`${domain}.example`, 1, ['192.0.2.1', '::1']),
        web: redirecting('t.example'),
      }))
      await ingest(store, observations)
      for (const observation of observations) model.observe(observation)
      const addresses = ['192.0.2.1', '::1'].map(address)
      const all = model.neighbours(addresses, null).map(({ target, ip, since }) => ({ target, ip, since }))
      const targets = model.redirects(name('t.example')).map((target) => ({ target }))
      for (let limit = 1; limit <= 7; limit++) {
        const page = parsePage<NeighbourRow, unknown>(await store.facts.neighbours(addresses, null, null, limit))
        assert.equal(JSON.stringify(page.rows), JSON.stringify(all.slice(0, limit)))
        assert.deepEqual(Object.keys(page.rows[0]!), ['target', 'ip', 'since'])
        const { ip, target } = page.rows.at(-1)!
        assert.deepEqual(structuredClone(page.last), limit < all.length ? { address: ip, name: target } : null)
        const sources = parsePage<RedirectRow, unknown>(await store.facts.redirects(name('t.example'), null, limit))
        assert.equal(JSON.stringify(sources.rows), JSON.stringify(targets.slice(0, limit)))
        assert.equal(sources.last, limit < targets.length ? sources.rows.at(-1)!.target : null)
      }
    },
  )

  testWithStore(
    engine,
    'any page size gives the same rows, for a domain and for addresses, with and without the domain itself',
    async (store) => {
      const model = new Model(NOW)
      const names = ['a', 'b', 'c', 'd', 'e'].map((label) => `${label}.example`)
      const observations = names.map((domain, n) => on(domain, n, IN_ORDER.slice(n, 2 * n + 3)))
      await ingest(store, observations)
      for (const observation of observations) model.observe(observation)
      for (const limit of LIMITS) {
        await agree(store, model, { names: names.map(name), addresses: IN_ORDER, limit })
        assert.deepEqual(await walkNeighbours(store.facts, IN_ORDER, limit), model.neighbours(IN_ORDER, null))
      }
    },
  )

  testWithStore(
    engine,
    'the neighbours of a name come with its addresses and clocks, whether they fit into one statement or not',
    async (store) => {
      const model = new Model(NOW)
      const shared = ['192.0.2.1', '192.0.2.2', '::1']
      const observations = Array.from({ length: 120 }, (_, n) =>
        on(`n${n}.example`, n, n === 0 ? shared : [shared[n % 2 === 0 ? 0 : 2]!]),
      )
      for (let n = 0; n < 21; n++) observations.push(on(`m${n}.example`, 1, n === 20 ? ['::9'] : ['192.0.2.7', '::9']))
      const many = Array.from({ length: 60 }, (_, n) => `198.51.100.${n}`)
      observations.push(on('wide.example', 1, many), on('beside.example', 1, many.slice(-1)))
      observations.push(on('alone.example', 1, ['192.0.2.9']), on('nowhere.example', 1, []))
      await ingest(store, [...observations, on('forgotten.example', 1, shared)])
      await store.observations.forget(name('forgotten.example'))
      for (const observation of observations) model.observe(observation)
      const labels = ['n0', 'n1', 'n2', 'm0', 'm20', 'wide', 'beside', 'alone', 'nowhere', 'unknown', 'forgotten']
      for (const domain of labels.map((label) => name(`${label}.example`))) {
        const addresses = model.addresses(domain)
        const all = model.neighbours(addresses, domain)
        for (const limit of [1, 2, 19, 20, 21, 58, 59, 60, 119, 1_000]) {
          const found = await store.facts.neighboursOf(domain, null, limit)
          assert.deepEqual(found.addresses, addresses)
          assert.deepEqual(found.lastObserved, await store.facts.clocks(domain))
          const { rows, count, last } = parsePage<NeighbourRow, unknown>(found.page)
          assert.deepEqual(rows, all.slice(0, limit))
          assert.equal(count, rows.length)
          const { ip, target } = all[limit - 1] ?? {}
          assert.deepEqual(last, limit < all.length ? { address: ip, name: target } : null)
        }
      }
    },
  )

  testWithStore(engine, 'if only the excluded name would follow, the page is the last one', async (store) => {
    await ingest(store, [
      on('a.example', 1, ['192.0.2.1']),
      on('b.example', 1, ['192.0.2.1']),
      on('c.example', 1, ['192.0.2.1', '192.0.2.2']),
    ])
    const addresses = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map(address)
    assert.equal((await store.facts.neighbours(addresses, name('c.example'), null, 2)).last, null)
    assert.notEqual((await store.facts.neighbours(addresses, null, null, 2)).last, null)
    assert.equal((await store.facts.neighbours(addresses, null, null, 4)).last, null)
  })

  testWithStore(engine, 'a position need not be that of an existing row', async (store) => {
    await ingest(
      store,
      ['a', 'c', 'e'].map((label) => ({
        ...on(`${label}.example`, 1, ['192.0.2.1', '192.0.2.3', '::1']),
        web: redirecting('t.example'),
      })),
    )
    const addresses = ['192.0.2.1', '192.0.2.3', '::1'].map(address)
    const after = (ip: string, domain: string) =>
      rowsOf(store, addresses, name('e.example'), { address: address(ip), name: name(domain) }, 2)
    assert.deepEqual(await after('192.0.2.1', 'b.example'), ['192.0.2.1 c.example', '192.0.2.3 a.example'])
    assert.deepEqual(await after('192.0.2.2', 'z.example'), ['192.0.2.3 a.example', '192.0.2.3 c.example'])
    assert.deepEqual(await after('192.0.2.2', 'a.a'), ['192.0.2.3 a.example', '192.0.2.3 c.example'])
    assert.deepEqual(await after('0.0.0.0', 'z.z'), ['192.0.2.1 a.example', '192.0.2.1 c.example'])
    assert.deepEqual(await after('255.0.0.0', 'z.z'), ['::1 a.example', '::1 c.example'])
    assert.deepEqual(await after('::1', 'c.example'), [])
    assert.deepEqual(await after('::2', 'a.a'), [])
    const sources = parsePage<RedirectRow, unknown>(
      await store.facts.redirects(name('t.example'), name('b.example'), 5),
    )
    assert.deepEqual(
      sources.rows.map(({ target }) => target),
      ['c.example', 'e.example'],
    )
    assert.deepEqual(parsePage(await store.facts.redirects(name('t.example'), name('z.example'), 5)), {
      rows: [],
      count: 0,
      last: null,
    })
  })

  testWithStore(
    engine,
    'only current rows are listed: a name that moved or stopped resolving is not',
    async (store) => {
      await ingest(store, [
        on('a.example', 1, ['192.0.2.1']),
        on('b.example', 1, ['192.0.2.1', '192.0.2.2']),
        on('c.example', 1, ['192.0.2.1']),
        on('a.example', 2, ['192.0.2.2']),
        seen('c.example', 2, NXDOMAIN),
      ])
      assert.deepEqual(await rowsOf(store, ['192.0.2.1', '192.0.2.2'].map(address), null, null, 9), [
        '192.0.2.1 b.example',
        '192.0.2.2 a.example',
        '192.0.2.2 b.example',
      ])
    },
  )

  testWithStore(engine, 'a source that redirects elsewhere or no longer redirects leaves the list', async (store) => {
    const redirects = async (target: string) => walkRedirects(store.facts, name(target), 5)
    await ingest(
      store,
      ['a.example', 'b.example', 'c.example'].map((domain) => seen(domain, 1, null, redirecting('t.example'))),
    )
    await ingest(store, [
      seen('a.example', 2, null, redirecting('u.example')),
      seen('b.example', 2, null, { ...redirecting('t.example'), redirects_to: null }),
    ])
    assert.deepEqual([await redirects('t.example'), await redirects('u.example')], [['c.example'], ['a.example']])
  })

  testWithStore(
    engine,
    '`since` is the first time of the domain on the address, even if it left and returned',
    async (store) => {
      await ingest(store, [
        on('a.example', 1, ['192.0.2.1', '::1']),
        on('a.example', 2, ['192.0.2.2']),
        on('a.example', 3, ['192.0.2.1', '192.0.2.2']),
        seen('a.example', 4, NXDOMAIN),
        on('a.example', 5, ['192.0.2.1', '::1']),
        on('b.example', 9, ['192.0.2.1']),
      ])
      await ingest(store, [on('a.example', 6, ['192.0.2.1', '192.0.2.2', '::1'])])
      const rows = await walkNeighbours(store.facts, name('a.example'), 5)
      assert.deepEqual(
        rows.map(({ since }) => since),
        [minuteText(9)],
      )
      const mine = await walkNeighbours(store.facts, ['192.0.2.1', '192.0.2.2', '::1'].map(address), 5)
      assert.deepEqual(
        mine.filter(({ target }) => target === 'a.example').map(({ since }) => since),
        [minuteText(1), minuteText(2), minuteText(1)],
      )
    },
  )
}
