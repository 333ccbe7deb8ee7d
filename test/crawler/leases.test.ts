/**
 * Leases that expire, move to another crawler, or cannot be released: no name is probed twice at once, and no crawl
 * request is lost.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SelfCheckOutcome } from '../../src/crawler/session.ts'
import type { ProbeResult } from '../../src/probe/probe-result.ts'
import { LEASE_SECONDS } from '../../src/store/port/schedule.ts'
import type { Store } from '../../src/store/port/store.ts'
import { type DomainName, slotRangeOf } from '../../src/values/domain-name.ts'
import { named } from '../probe/internet.ts'
import { BEGIN, know, makeWorld } from './world.ts'

const namesOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `n${index}.example`)

/** A store with some replaced methods of its schedule. */
const withSchedule = (store: Store, other: Partial<Store['schedule']>): Store => ({
  ...store,
  schedule: { ...store.schedule, ...other },
})

test('a crawler that cannot renew its leases starts no probe when one has less than 20 seconds left', async (t) => {
  const world = await makeWorld(t)
  await know(world.store, namesOf(300))
  const leased = new Map<number, number>()
  const store = withSchedule(world.store, {
    renew: () => new Promise(() => {}),
    async lease(...given) {
      const leases = await world.store.schedule.lease(...given)
      for (const { range } of leases) leased.set(range, world.clock.monotonicMs() / 1000)
      return leases
    },
  })
  const ages: number[] = []
  const visit = (name: DomainName, holder: string): Promise<ProbeResult> => {
    ages.push(world.clock.monotonicMs() / 1000 - leased.get(slotRangeOf(name))!)
    return world.visit(name, holder)
  }
  const crawler = world.start('one', { store, probe: visit, rate: 1 })
  await world.minutes(4)
  const oldest = Math.max(...ages)
  assert.ok(oldest > LEASE_SECONDS / 2 && oldest <= LEASE_SECONDS - 20, `one began ${oldest} s after its lease`)
  world.bury('one', crawler)
})

test('leases are renewed while probes are in flight, even after an outage of the store', async (t) => {
  const world = await makeWorld(t)
  await know(world.store, namesOf(1))
  let isAway = true
  const store = withSchedule(world.store, {
    async renew(leases) {
      if (!isAway) return world.store.schedule.renew(leases)
      isAway = false
      throw new Error('the server closed the connection')
    },
  })
  const ends: number[] = []
  const visit = async (name: DomainName, holder: string): Promise<ProbeResult> => {
    const seen = await world.visit(name, holder)
    await world.clock.wait(80_000)
    ends.push(world.clock.monotonicMs() / 1000)
    return seen
  }
  const one = world.start('one', { store, probe: visit, overrides: { onFault() {} } })
  await world.clock.run(20_000)
  assert.equal(one.stats.pause?.reason, 'store')
  const two = world.start('two')
  await world.minutes(4)
  const started = world.visits.filter(({ crawler }) => crawler === 'two').map(({ at }) => at)
  assert.ok(
    started.every((at) => at >= ends[0]!),
    `begun at ${started}, while a visit lasted until ${ends}`,
  )
  world.bury('one', one)
  world.bury('two', two)
})

test('results of a range that another crawler has acquired are dropped, and its crawl request stays', async (t) => {
  const world = await makeWorld(t)
  const asked = named('asked.example')
  await world.store.crawlRequests.add('lookup', [asked])
  const store = withSchedule(world.store, { renew: async (leases) => [...leases] })
  const visit = async (name: DomainName, holder: string): Promise<ProbeResult> => {
    const seen = await world.visit(name, holder)
    await world.clock.wait(LEASE_SECONDS * 1000)
    assert.equal((await world.store.schedule.lease('thief', 1, [slotRangeOf(asked)])).length, 1)
    return seen
  }
  const crawler = world.start('one', { store, probe: visit })
  await world.minutes(2)
  assert.equal(world.visits.length, 1)
  const [row] = await world.store.observations.crawlStates([asked])
  assert.deepEqual([row!.version, await world.store.crawlRequests.count('lookup')], [0, 1])
  assert.deepEqual(await world.store.schedule.outcomes(0), [])
  world.bury('one', crawler)
})

test('a probe that an earlier session left behind is not started again while it runs', async (t) => {
  const world = await makeWorld(t)
  const slow = named('n0.example')
  await know(world.store, [slow])
  let sight: SelfCheckOutcome = { passed: true }
  let [under, most] = [0, 0]
  const visit = async (name: DomainName, holder: string): Promise<ProbeResult> => {
    most = Math.max(most, ++under)
    const seen = await world.visit(name, holder)
    await world.clock.wait(200_000)
    under--
    return seen
  }
  const crawler = world.start('one', { probe: visit, overrides: { runSelfCheck: async () => sight } })
  await world.clock.run(10_000)
  sight = { passed: false, reason: 'no resolver answers' }
  await world.minutes(1)
  sight = { passed: true }
  await world.minutes(6)
  assert.ok(world.visits.length > 1, 'it is visited again when the first visit is over')
  assert.equal(most, 1)
  world.bury('one', crawler)
})

test('leases that the store could not release are released when it is available again', async (t) => {
  const world = await makeWorld(t)
  await know(world.store, namesOf(20))
  let isAway = false
  const { save } = world.store.observations
  const failing = async (): Promise<never> => {
    throw new Error('the server closed the connection')
  }
  const { schedule } = world.store
  const store: Store = {
    ...withSchedule(world.store, { release: (leases) => (isAway ? failing() : schedule.release(leases)) }),
    observations: { ...world.store.observations, save: (...given) => (isAway ? failing() : save(...given)) },
  }
  const crawler = world.start('one', { store, overrides: { onFault() {} } })
  await world.clock.run(800)
  isAway = true
  await world.clock.run(5_000)
  assert.equal(crawler.stats.pause?.reason, 'store')
  isAway = false
  await world.clock.run(20_000)
  const rows = await world.store.observations.crawlStates(namesOf(20).map(named))
  assert.ok(rows.every(({ clocks }) => clocks[0]! >= BEGIN))
  world.bury('one', crawler)
})

test('while no result can be saved, only a limited number of further probes starts', async (t) => {
  const world = await makeWorld(t)
  await know(world.store, namesOf(3_500))
  const crawler = world.start('one', { overrides: { runSelfCheck: lookOnce() } })
  await world.minutes(1)
  assert.ok(world.visits.length >= 2_000 && world.visits.length <= 2_000 + 2 * 500 + 256, `${world.visits.length}`)
  world.bury('one', crawler)
})

/** Succeeds at first. Later checks never end. */
function lookOnce(): () => Promise<SelfCheckOutcome> {
  let looks = 0
  return () => (looks++ === 0 ? Promise.resolve({ passed: true }) : new Promise(() => {}))
}
