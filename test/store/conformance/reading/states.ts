/** Tests of /dnshistory: when a state is recorded, how states are paged and counted, and their records. */

import assert from 'node:assert/strict'
import { ingest } from '../../../../src/store/ingest.ts'
import type { Store } from '../../../../src/store/port/store.ts'
import { RECORD_TYPES, type RecordType } from '../../../../src/values/records/dns-record.ts'
import { Model } from '../../model.ts'
import { agree } from '../answers.ts'
import type { Engine } from '../engine.ts'
import {
  dns,
  ingestAll,
  type Lists,
  minute,
  NOW,
  NXDOMAIN,
  name,
  SERVFAIL,
  seen,
  soa,
  testWithStore,
} from '../world.ts'
import { walkHistory } from './paging.ts'

const ONE = name('one.example')
const EMPTY = { states: [], total: 0, more: false, absent_since: null }

/** The states of one type, newest first: the minute of each first observation, and its records. */
async function statesOf(store: Store, type: RecordType): Promise<[number, unknown[]][]> {
  const states = await walkHistory(store.facts, ONE, type, 3)
  return states.map(({ first_seen, records }) => [(first_seen - minute(0)) / 60, JSON.parse(records)])
}

function ingestLists(store: Store, ...lists: (Lists | null)[]) {
  return ingest(
    store,
    lists.map((given, at) => seen('one.example', at, given === null ? NXDOMAIN : dns(given))),
  )
}

export function states(engine: Engine): void {
  testWithStore(engine, 'an unknown name, and a type that was never observed, have no states', async (store) => {
    const nothing = Object.fromEntries(RECORD_TYPES.map((type) => [type, EMPTY]))
    const unknown = { byType: nothing, lastObserved: { dns: null, web: null } }
    assert.deepEqual(structuredClone(await store.facts.history(ONE, RECORD_TYPES, null, 10)), unknown)
    await ingestLists(store, { A: [], NS: [] })
    assert.deepEqual(structuredClone((await store.facts.history(ONE, RECORD_TYPES, null, 10)).byType), nothing)
    assert.deepEqual(Object.keys((await store.facts.history(ONE, ['SOA'], minute(5), 10)).byType), ['SOA'])
    assert.deepEqual((await store.facts.history(ONE, [], null, 10)).byType, {})
  })

  testWithStore(
    engine,
    'a new state is recorded only when the set of records differs from the newest state',
    async (store) => {
      const a = [{ ipv4_address: '192.0.2.1' }]
      await ingestLists(
        store,
        { A: ['192.0.2.1'] },
        { A: ['192.0.2.1', '192.0.2.1'] },
        {},
        { A: ['192.0.2.2', '192.0.2.1'] },
      )
      await ingest(store, [
        seen('one.example', 4, dns({ A: ['192.0.2.1', '192.0.2.2'] })),
        seen('one.example', 5, dns({ A: ['192.0.2.1'] })),
      ])
      assert.deepEqual(await statesOf(store, 'A'), [
        [5, a],
        [3, [...a, { ipv4_address: '192.0.2.2' }]],
        [0, a],
      ])
    },
  )

  testWithStore(engine, 'records that disappear give one state without records', async (store) => {
    await ingestLists(store, { NS: ['ns.example'] }, { NS: [] }, { NS: [] }, { NS: ['NS.example.'] })
    assert.deepEqual(await statesOf(store, 'NS'), [
      [3, [{ nameserver: 'ns.example' }]],
      [1, []],
      [0, [{ nameserver: 'ns.example' }]],
    ])
  })

  testWithStore(engine, 'NXDOMAIN and SERVFAIL leave the history as it is', async (store) => {
    await ingestLists(store, { CNAME: ['target.example'] }, null)
    await ingest(store, [seen('one.example', 2, SERVFAIL), seen('one.example', 3, dns({ CNAME: ['target.example'] }))])
    assert.deepEqual(await statesOf(store, 'CNAME'), [[0, [{ target: 'target.example' }]]])
  })

  testWithStore(
    engine,
    'a late observation of a type that was not queried since gives a state at its own time',
    async (store) => {
      const late = seen('one.example', 2, dns({ A: ['192.0.2.2'], NS: ['ns.example'] }))
      await ingest(store, [seen('one.example', 9, dns({ A: ['192.0.2.9'] })), late, seen('one.example', 5, NXDOMAIN)])
      assert.deepEqual(await statesOf(store, 'A'), [[9, [{ ipv4_address: '192.0.2.9' }]]])
      assert.deepEqual(await statesOf(store, 'NS'), [[2, [{ nameserver: 'ns.example' }]]])
    },
  )

  testWithStore(engine, 'each type has its fields, in the order of the specification', async (store) => {
    const { minimum_ttl_seconds: _, ...older } = soa(7) as { minimum_ttl_seconds: number }
    await ingestLists(store, {
      AAAA: ['2001:DB8:0::1', '::ffff:192.0.2.1'],
      MX: [
        { priority: 10, mail_server: 'b.example' },
        { priority: 9, mail_server: 'c.example' },
        { mail_server: 'A.example.', priority: 10 },
      ],
      TXT: [['v=spf1 ', '-all'], ['v=spf1 -all'], ['é "\\200\u0000'], []].slice(0, 3),
      SOA: [older],
    })
    const records = async (type: RecordType) =>
      (await store.facts.history(ONE, [type], null, 1)).byType[type].states[0]!.records
    assert.equal(await records('AAAA'), '[{"ipv6_address":"::ffff:192.0.2.1"},{"ipv6_address":"2001:db8::1"}]')
    const mx = [
      ['9', 'c'],
      ['10', 'a'],
      ['10', 'b'],
    ].map(([priority, host]) => `{"priority":${priority},"mail_server":"${host}.example"}`)
    assert.equal(await records('MX'), `[${mx.join(',')}]`)
    assert.deepEqual(JSON.parse(await records('TXT')), [
      { text: 'v=spf1 -all', parts: ['v=spf1 ', '-all'] },
      { text: 'v=spf1 -all', parts: ['v=spf1 -all'] },
      { text: 'é "\\200\\000', parts: ['é "\\200\\000'] },
    ])
    assert.equal(await records('SOA'), `[${JSON.stringify(older)}]`)
  })

  testWithStore(
    engine,
    'an SOA is read back completely in every state, whatever changed in it, and on any page',
    async (store) => {
      const { minimum_ttl_seconds: _, ...older } = soa(6) as { minimum_ttl_seconds: number }
      const chain = [
        [soa(1)],
        [soa(2)],
        [soa(3)],
        [soa(3, 60)],
        [soa(4, 60)],
        [soa(4)],
        [soa(5)],
        [older],
        [{ ...older, serial: 7 }],
        [soa(7)],
        [],
        [soa(7)],
        [soa(4_294_967_295)],
        [soa(0)],
        [soa(0), soa(1)],
        [soa(0), soa(2)],
        [soa(2)],
        [soa(3)],
        [{ ...soa(4), admin_email: 'other@example' }],
        [{ ...soa(5), admin_email: 'other@example' }],
        [soa(1)],
      ]
      const observations = chain.map((SOA, at) => seen('one.example', at, dns({ SOA })))
      const model = new Model(NOW)
      for (const [index, observation] of observations.entries()) {
        await ingest(store, index % 4 ? [observation] : observations.slice(0, index + 1))
        model.observe(observation)
        await agree(store, model, { names: [ONE], addresses: [], limit: 1 + (index % 5) })
      }
      for (let limit = 1; limit <= chain.length + 1; limit++) {
        assert.deepEqual(await walkHistory(store.facts, ONE, 'SOA', limit), model.history(ONE, 'SOA'))
      }
      for (let before = 0; before <= chain.length; before++) {
        const { SOA } = (await store.facts.history(ONE, ['SOA'], minute(before), 4)).byType
        const older = model.history(ONE, 'SOA').filter(({ first_seen }) => first_seen < minute(before))
        assert.deepEqual(structuredClone(SOA.states), older.slice(0, 4))
        assert.deepEqual([SOA.more, SOA.total], [older.length > 4, chain.length])
      }
    },
  )

  testWithStore(
    engine,
    '`before` is exclusive, need not be the time of a state, and does not change the total',
    async (store) => {
      await ingestLists(
        store,
        ...Array.from({ length: 5 }, (_, n) => ({ A: [`192.0.2.${n}`], NS: [`ns${n % 2}.example`] })),
      )
      const page = async (before: number, limit: number) => {
        const { A } = (await store.facts.history(ONE, ['A', 'NS'], before, limit)).byType
        return [A.states.map(({ first_seen }) => (first_seen - minute(0)) / 60), A.total, A.more]
      }
      assert.deepEqual(await page(minute(4), 2), [[3, 2], 5, true])
      assert.deepEqual(await page(minute(2), 2), [[1, 0], 5, false])
      assert.deepEqual(await page(minute(2) + 1, 2), [[2, 1], 5, true])
      assert.deepEqual(await page(minute(0), 2), [[], 5, false])
      assert.deepEqual(await page(0, 2), [[], 5, false])
      assert.deepEqual(await page(NOW * 2, 5), [[4, 3, 2, 1, 0], 5, false])
    },
  )

  testWithStore(engine, 'the total stops at 1,001, and paging continues to the oldest state', async (store) => {
    const first = minute(0) - 2000
    const observations = Array.from({ length: 1005 }, (_, n) => ({
      ...seen('one.example', 0, dns({ SOA: [soa(n)], A: [`192.0.${n & 1}.1`] })),
      observed_at: first + n,
    }))
    const total = async () => {
      const { SOA, A, NS } = (await store.facts.history(ONE, ['SOA', 'A', 'NS'], null, 100)).byType
      return [SOA.total, A.total, NS.total, SOA.more, SOA.states.length]
    }
    await ingestAll(store, observations.slice(0, 1000), 300)
    assert.deepEqual(await total(), [1000, 1000, 0, true, 100])
    await ingestAll(store, observations.slice(1000, 1001))
    assert.deepEqual(await total(), [1001, 1001, 0, true, 100])
    await ingestAll(store, observations.slice(1001), 2)
    assert.deepEqual(await total(), [1001, 1001, 0, true, 100])
    const states = await walkHistory(store.facts, ONE, 'SOA', 100)
    assert.deepEqual(
      states.map(({ first_seen, records }) => [first_seen - first, JSON.parse(records)[0].serial]),
      Array.from({ length: 1005 }, (_, n) => [1004 - n, 1004 - n]),
    )
  })

  testWithStore(engine, 'a set of 500 records and of 64 KiB is read back completely', async (store) => {
    const MX = Array.from({ length: 500 }, (_, n) => ({ priority: n, mail_server: `mx${n}.example` }))
    const TXT = Array.from({ length: 100 }, (_, n) => [
      `${n}`.padEnd(250, 'ü'.slice(0, 1)).slice(0, 120),
      'x'.repeat(60),
    ])
    const A = Array.from({ length: 256 }, (_, n) => `192.0.2.${n}`)
    await ingestLists(store, { MX, TXT, A }, { MX: [], TXT: [], A: [] })
    for (const [type, count] of [
      ['MX', 500],
      ['TXT', 100],
      ['A', 256],
    ] as const) {
      assert.equal((await statesOf(store, type)).at(-1)![1].length, count)
    }
  })
}
