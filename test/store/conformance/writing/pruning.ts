/**
 * Tests of pruning: old states go with what they alone say, and every answer about the kept time stays as it was.
 * `DOMAINDEX_TEST_RUNS=500` sets the number of random histories.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readDomainAsOf } from '../../../../src/api/endpoints/profiles/domain-as-of.ts'
import { STATE_TYPES } from '../../../../src/apply/stored-numbers.ts'
import { ingest } from '../../../../src/store/ingest.ts'
import type { LockHold } from '../../../../src/store/port/jobs.ts'
import type { StateCutoffs } from '../../../../src/store/port/retention.ts'
import type { Store } from '../../../../src/store/port/store.ts'
import { pruneHistory } from '../../../../src/store/prune-history.ts'
import type { DomainName } from '../../../../src/values/domain-name.ts'
import { RECORD_TYPES } from '../../../../src/values/records/dns-record.ts'
import type { Instant } from '../../../../src/values/time.ts'
import { inForm } from '../../../long.ts'
import { Model } from '../../model.ts'
import { agree } from '../answers.ts'
import { certifiedHistory, type Event, NAMES } from '../arbitraries.ts'
import type { Engine } from '../engine.ts'
import { EVERYTHING, happen, happenInModel, property } from '../histories.ts'
import { inverseHold, maintain, maintainerOf } from '../inverse/index-runs.ts'
import { dns, minute, NOW, name, seen, soa, testWithStore } from '../world.ts'

const clock = { wait: async () => {}, monotonicMs: () => 0 }
const { signal } = new AbortController()

async function heldLock({ jobs }: Pick<Store, 'jobs'>): Promise<LockHold> {
  const hold = await jobs.acquireLock('prune', 'test')
  assert.ok(hold !== null)
  return hold
}

/** `stopped`: after how many names the first try is killed; null: it is not. */
export type Prune = { events: Event[]; cutoffs: StateCutoffs; stopped: number | null }

const cutoffs: fc.Arbitrary<StateCutoffs> = fc.record(
  Object.fromEntries(STATE_TYPES.map((type) => [type, fc.integer({ min: 0, max: 41 }).map(minute)])),
  { requiredKeys: [], noNullPrototype: true },
)
export const prunes: fc.Arbitrary<Prune[]> = fc.array(
  fc.record({
    events: certifiedHistory(NAMES, 24),
    cutoffs,
    stopped: fc.oneof(fc.constant(null), fc.nat({ max: NAMES.length })),
  }),
  { minLength: 1, maxLength: 2 },
)

/** What the names and the addresses show of the present, and of each moment since the cutoff of its type. */
function keptAnswers(model: Model, cutoffs: StateCutoffs): object {
  return NAMES.map((name) => [
    model.lookup(name),
    model.domainProfile(name, 9),
    RECORD_TYPES.map((type) => statesSince(model.history(name, type), cutoffs[type])),
    statesSince(model.webHistory(name), cutoffs.web),
    statesSince(model.certificateHistory(name), cutoffs.certificate),
  ])
}

/** `states`: newest first. */
function statesSince<State extends { first_seen: Instant }>(states: readonly State[], cutoff = 0): State[] {
  const inForce = states.findIndex(({ first_seen }) => first_seen <= cutoff)
  return inForce < 0 ? [...states] : states.slice(0, inForce + 1)
}

const PROPERTY = property(
  'histories that are pruned at random ages, also if a prune is killed and repeated, give the answers of the model, and ' +
    'those of the kept time and of the present are as before',
  [prunes],
  async ({ store, check }, rounds) => {
    const model = new Model(NOW)
    const hold = await heldLock(store)
    const merger = maintainerOf(store, await inverseHold(store))
    for (const { events, cutoffs, stopped } of rounds) {
      assert.deepEqual(await happen(store, events, [7]), happenInModel(model, events))
      const kept = keptAnswers(model, cutoffs)
      const { names } = await store.pruning.candidates(cutoffs, null, 1000)
      const counted = await pruneHistory(store, { cutoffs, hold: null, clock, signal })
      let done = 0
      const first = names.slice(0, stopped ?? 0)
      for (const each of first) done += (await store.pruning.prune(hold, [each], cutoffs))!.states
      if (first.length > 0) assert.deepEqual(await check(), [])
      await maintain(merger)
      const total = done + (await pruneHistory(store, { cutoffs, hold, clock, signal }))!.states
      assert.equal(total, counted!.states)
      model.prune(cutoffs)
      assert.deepEqual(keptAnswers(model, cutoffs), kept)
      await agree(store, model, { ...EVERYTHING, limit: 4 })
      assert.deepEqual(await check(), [])
      assert.deepEqual(await pruneHistory(store, { cutoffs, hold, clock, signal }), { names: 0, states: 0 })
    }
  },
)

const ONE: DomainName = name('one.example')

export function pruning(engine: Engine): void {
  const numRuns = Number(process.env.DOMAINDEX_TEST_RUNS ?? engine.runs ?? inForm(3, 20))
  test(PROPERTY.sentence, () => fc.assert(PROPERTY.on(engine), { numRuns }))

  testWithStore(engine, 'the oldest kept SOA gets its records if only its serial was stored', async (store, opened) => {
    for (const n of [1, 2, 3, 4]) await ingest(store, [seen('one.example', n, dns({ SOA: [soa(n)] }))])
    const before = await store.facts.history(ONE, ['SOA'], null, 10)
    const cutoffs = { SOA: minute(2) }
    const hold = await heldLock(store)
    assert.deepEqual(await pruneHistory(store, { cutoffs, hold, clock, signal }), { names: 1, states: 1 })
    const { states, total } = (await store.facts.history(ONE, ['SOA'], null, 10)).byType.SOA
    assert.deepEqual([structuredClone(states), total], [structuredClone(before.byType.SOA.states.slice(0, 3)), 3])
    await ingest(store, [seen('one.example', 5, dns({ SOA: [soa(5)] }))]) // the newest state had the removed one as its base
    assert.deepEqual(await opened.check(), [])
    assert.equal((await pruneHistory(store, { cutoffs: { SOA: minute(5) }, hold, clock, signal }))!.states, 3)
    await ingest(store, [seen('one.example', 6, dns({ SOA: [soa(6)] }))])
  })

  testWithStore(
    engine,
    'of a moment whose states of A were removed, nothing is claimed of its addresses',
    async (store) => {
      for (const n of [1, 2, 3])
        await ingest(store, [seen('one.example', n, dns({ A: [`192.0.2.${n}`], AAAA: ['::1'] }))])
      const shownAt = async (n: number): Promise<{ ip: string; A: unknown; AAAA: unknown }> => {
        const { body } = (await readDomainAsOf(store.facts, ONE, null, minute(n)))!
        const { lookup, records } = JSON.parse(body.map(String).join(''))
        return { ip: lookup.ip, A: records.A?.records, AAAA: records.AAAA?.records }
      }
      const AAAA = [{ ipv6_address: '::1' }]
      assert.deepEqual(await store.facts.prunedUntil(), {})
      assert.deepEqual(await shownAt(1), { ip: 'both', A: [{ ipv4_address: '192.0.2.1' }], AAAA })
      const hold = await heldLock(store)
      await pruneHistory(store, { cutoffs: { A: minute(2) }, hold, clock, signal })
      await pruneHistory(store, { cutoffs: { A: minute(1), SOA: minute(9) }, hold, clock, signal })
      assert.deepEqual(await store.facts.prunedUntil(), { A: minute(2) }) // nothing else was removed
      assert.deepEqual(await shownAt(1), { ip: null, A: undefined, AAAA })
      assert.deepEqual(await shownAt(2), { ip: 'both', A: [{ ipv4_address: '192.0.2.2' }], AAAA })
    },
  )

  testWithStore(engine, 'a search in small steps finds each name that may have old states once', async (store) => {
    const all = ['a.example', 'b.example', 'c.example', 'd.example', 'e.example']
    for (const n of [1, 2])
      await ingest(
        store,
        all.map((each) => seen(each, n, dns({ TXT: [[String(n)]] }))),
      )
    await ingest(store, [
      seen('later.example', 5, dns({ TXT: [['1']] })),
      seen('alone.example', 1, dns({ TXT: [['1']] })),
    ])
    await ingest(store, [seen('later.example', 6, dns({ TXT: [['2']] }))])
    const found: DomainName[] = []
    let after: string | null = null
    do {
      const page: Awaited<ReturnType<Store['pruning']['candidates']>> = await store.pruning.candidates(
        { TXT: minute(3), SOA: minute(9) },
        after,
        2,
      )
      found.push(...page.names)
      assert.ok(page.share >= 0 && page.share <= 1)
      after = page.next
    } while (after !== null)
    assert.deepEqual(found.toSorted(), all)
    assert.deepEqual(await store.pruning.candidates({}, null, 1000).then(({ names }) => names), [])
  })

  testWithStore(engine, 'a writer that read a name before it was pruned is rejected', async (store, opened) => {
    for (const n of [1, 2, 3]) await ingest(store, [seen('one.example', n, dns({ TXT: [[String(n)]] }))])
    const other = await opened.another()
    let pruned = false
    const racing: Pick<Store, 'observations' | 'now'> = {
      now: () => store.now(),
      observations: {
        ...store.observations,
        async save(changes, leases) {
          if (!pruned) {
            pruned = true
            const cutoffs = { TXT: minute(3) }
            await pruneHistory(other, { cutoffs, hold: await heldLock(other), clock, signal })
          }
          return store.observations.save(changes, leases)
        },
      },
    }
    await ingest(racing, [seen('one.example', 4, dns({ TXT: [['4']] }))])
    const { states, total } = (await store.facts.history(ONE, ['TXT'], null, 10)).byType.TXT
    assert.deepEqual([states.map(({ first_seen }) => first_seen), total], [[minute(4), minute(3)], 2])
  })

  testWithStore(engine, 'a process that lost the lock prunes nothing', async (store, _opened, clockOfStore) => {
    for (const n of [1, 2]) await ingest(store, [seen('one.example', n, dns({ TXT: [[String(n)]] }))])
    const lost = await heldLock(store)
    clockOfStore.now += 100
    await heldLock(store)
    const cutoffs = { TXT: minute(2) }
    assert.equal(await pruneHistory(store, { cutoffs, hold: lost, clock, signal }), null)
    assert.equal((await store.facts.history(ONE, ['TXT'], null, 10)).byType.TXT.total, 2)
  })
}
