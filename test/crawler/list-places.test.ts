/** First probes in the order of a list: the limits of places, and a crawl of a list over many ranges. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { unknownCrawlState } from '../../src/apply/crawl-state.ts'
import { freshNameChange, LAST_LIST_PLACE, listPlaceOf } from '../../src/apply/fresh-name.ts'
import { nextPlaceLimit, startPlaceSweep, withinPlaceLimit } from '../../src/crawler/continuous/list-places.ts'
import { addNames } from '../../src/registrations/add-names.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import { named } from '../probe/internet.ts'
import { BEGIN, know, makeWorld, visited } from './world.ts'

const fresh = (name: string, place: number) => freshNameChange(unknownCrawlState(named(name)), place).state

test('the sweeps of a range admit every place once, each sweep only later places, and no place too early', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.integer({ min: 1, max: 3_000_000 }), { minLength: 1, maxLength: 200 }),
      fc.nat(5),
      (places, unplaced) => {
        let waiting = [
          ...places.map((place) => fresh('a.example', place)),
          ...Array.from({ length: unplaced }, () => fresh('b.example', 0)),
        ]
        const order: number[] = []
        let limit: number | undefined
        let sweeps = 0
        do {
          const sweep = startPlaceSweep(limit)
          const admitted = withinPlaceLimit(sweep, waiting)
          assert.equal(admitted.filter((state) => listPlaceOf(state) === 0).length, sweeps === 0 ? unplaced : 0)
          order.push(...admitted.map(listPlaceOf).filter((place) => place > 0))
          waiting = waiting.filter((state) => !admitted.includes(state))
          limit = nextPlaceLimit(sweep) ?? undefined
          sweeps++
        } while (limit !== undefined)
        assert.deepEqual(waiting, [])
        assert.deepEqual(
          order,
          places.toSorted((a, b) => a - b),
        )
        assert.ok(sweeps < 80, `${sweeps} sweeps`)
      },
    ),
  )
})

test('a time from 2000 on is no place, and a place never becomes one', () => {
  assert.equal(listPlaceOf({ due: LAST_LIST_PLACE + 1 }), 0)
  assert.equal(LAST_LIST_PLACE + 1, Date.UTC(2000, 0, 1) / 1000)
  assert.equal(fresh('a.example', LAST_LIST_PLACE + 5).due, LAST_LIST_PLACE)
})

test('a crawl probes the names of a list in its order, beside names that are due, and none counts as overdue', async (t) => {
  const world = await makeWorld(t)
  const due = ['due-a.example', 'due-b.example']
  await visited(world.store, due, 8 * 86_400)
  const front = Array.from({ length: 40 }, (_, index) => named(`front${index}.example`))
  const known = Array.from({ length: 5 }, (_, index) => named(`known${index}.example`))
  const back = Array.from({ length: 40 }, (_, index) => named(`back${index}.example`))
  await know(world.store, known, BEGIN)
  const { store } = world
  async function* batches() {
    yield [...front, ...known]
    yield back
  }
  const signal = new AbortController().signal
  await addNames(
    batches(),
    { insertsUnknown: true, makesDue: false, keepsOrder: true },
    { store, signal, onAdded() {} },
  )
  const states = await store.observations.crawlStates([...front, ...back])
  assert.deepEqual(
    states.map(({ due: place }) => place),
    [...front.keys(), ...back.keys()].map((index, at) => 1 + index + (at < 40 ? 0 : 45)),
  )
  await store.observations.save(
    states.slice(40).map((state) => ({ state: { ...state, due: state.due + 30_000 }, facts: null })),
  )
  const { count } = await store.schedule.due(0, 65_535, BEGIN)
  assert.deepEqual([count.due, count.overdue], [front.length + back.length + 5 + 2, 2])
  const crawler = world.start('one')
  await world.minutes(10)
  crawler.stop()
  await world.clock.run(Number.POSITIVE_INFINITY, () => false)
  await crawler.ended
  const at = (name: DomainName): number => world.visits.findIndex((visit) => visit.name === name)
  const [lastFront, firstBack] = [Math.max(...front.map(at)), Math.min(...back.map(at))]
  assert.ok(Math.min(...front.map(at)) >= 0 && firstBack > lastFront, `${lastFront}, then ${firstBack}`)
  for (const name of due) assert.ok(at(named(name)) >= 0)
})
