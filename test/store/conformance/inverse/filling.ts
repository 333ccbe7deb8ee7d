/** Tests of filling the inverse index of an older store, in slices and beside writers. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Store } from '../../../../src/store/port/store.ts'
import type { DomainName } from '../../../../src/values/domain-name.ts'
import { Model } from '../../model.ts'
import { agree } from '../answers.ts'
import { certifiedHistory, NAMES } from '../arbitraries.ts'
import type { Engine } from '../engine.ts'
import { EVERYTHING, happen, happenInModel, pages, property, testProperties } from '../histories.ts'
import { faults, ingestAll, minute, NOW, name, redirecting, seen, testWithStore } from '../world.ts'
import { emptyIndex, inverseHold, maintain, maintainerOf } from './index-runs.ts'

/** More slices than any store of these tests has: on PostgreSQL one for each partition. */
const MAX_SLICES = 800

export function filling(engine: Engine): void {
  const runs = Math.min(engine.runs ?? 4, 4)
  testProperties({ ...engine, runs }, [
    property(
      'an older store gives the answers of the model after it is filled, with writers and forgotten names in between',
      [
        certifiedHistory(NAMES, 40),
        certifiedHistory(NAMES, 12),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 90 }),
        pages,
      ],
      async ({ store, url }, before, between, limit, turn, page) => {
        const model = new Model(NOW)
        happenInModel(model, [...before, ...between])
        await happen(store, before, [5])
        const hold = await inverseHold(store)
        await emptyIndex(store, url, hold)
        assert.deepEqual(await faults(store), [])
        const left = [...between]
        let share = 0
        for (let slice = 0; share < 1; slice++) {
          assert.ok(slice < MAX_SLICES, 'filling does not end')
          if (slice % turn === 0) await happen(store, left.splice(0, 2), [2])
          share = await filledShare(store, hold, limit, share)
        }
        await happen(store, left, [3])
        await agree(store, model, { ...EVERYTHING, ...page })
        await maintain(maintainerOf(store, hold))
        await agree(store, model, { ...EVERYTHING, ...page })
      },
    ),
  ])

  testWithStore(
    engine,
    'the website of an older store begins when it was last observed, and its redirect is found after it is filled',
    async (store, { url }) => {
      const names = ['a.example', 'b.example', 'c.example'].map(name)
      for (const at of [1, 2])
        await ingestAll(
          store,
          names.map((each) => seen(each, at, null, redirecting('t.example'))),
        )
      for (const each of names) await forgetWebState(store, each)
      const hold = await inverseHold(store)
      await emptyIndex(store, url, hold)
      const timesOf = async (each: DomainName) =>
        (await store.facts.webHistory(each, null, 9)).states.map(({ first_seen, last_seen }) => [first_seen, last_seen])
      assert.deepEqual(await timesOf(names[0]!), [[minute(2), minute(2)]])
      await ingestAll(store, [seen(names[1]!, 5, null, redirecting('u.example'))])
      assert.deepEqual(await timesOf(names[1]!), [
        [minute(5), minute(5)],
        [minute(2), minute(2)],
      ])
      await ingestAll(store, [seen(names[2]!, 6, null, redirecting('t.example'))])
      await maintain(maintainerOf(store, hold))
      assert.deepEqual(await timesOf(names[2]!), [[minute(6), minute(6)]])
      await ingestAll(
        store,
        names.map((each) => seen(each, 8, null, redirecting('t.example'))),
      )
      const { spans } = await store.inverse.redirects(name('t.example'), {}, null, 9)
      assert.deepEqual(
        spans.map(({ name: source, first, last }) => [source, first, last]),
        [
          ['a.example', minute(2), minute(8)],
          ['b.example', minute(2), minute(2)],
          ['b.example', minute(8), minute(8)],
          ['c.example', minute(6), minute(8)],
        ],
      )
    },
  )
}

/** Stores the facts of a name as a release without states of websites did. */
async function forgetWebState({ observations }: Pick<Store, 'observations'>, name: DomainName): Promise<void> {
  const [state] = await observations.crawlStates([name])
  const [current] = await observations.currentFacts([name])
  const { web: _, ...states } = current!.states
  const none = {
    superseded: [],
    interruptions: [],
    firstSeen: [],
    arrived: [],
    left: [],
    terms: undefined,
    certificates: [],
  }
  const target = current!.web!.redirects_to
  const redirect = { redirectBefore: target, redirectAfter: target }
  const facts = { ...none, ...redirect, current: { ...current!, states }, setChanges: [], transitions: [] }
  assert.deepEqual(await observations.save([{ state: state!, facts }]), { rejected: [], lost: [] })
}

/** Fills one slice. The share never falls, and both parts of the port know it. */
async function filledShare(
  { inverse, inverseIndex }: Pick<Store, 'inverse' | 'inverseIndex'>,
  hold: Awaited<ReturnType<typeof inverseHold>>,
  limit: number,
  before: number,
): Promise<number> {
  const { share } = (await inverseIndex.fill(hold, limit))!
  assert.ok(share >= before && share <= 1, `${share} after ${before}`)
  assert.equal((await inverse.progress()).share, share)
  return share
}
