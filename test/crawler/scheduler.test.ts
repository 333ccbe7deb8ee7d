/** The scheduler over a real store, with a simulated clock and a simulated network. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { RunningCrawler } from '../../bench/crawl-simulation/crawler.ts'
import { DEFAULT_PROBE_INTERVALS } from '../../src/apply/next-probe.ts'
import { CRAWL_TIMINGS } from '../../src/crawler/continuous/crawler-dependencies.ts'
import type { SelfCheckOutcome } from '../../src/crawler/session.ts'
import { makePolitenessLimiter } from '../../src/probe/policy/politeness-limiter.ts'
import type { ProbeResult } from '../../src/probe/probe-result.ts'
import { type DomainName, slotRangeOf } from '../../src/values/domain-name.ts'
import { parseAddress } from '../../src/values/ip-address.ts'
import { inForm } from '../long.ts'
import { named } from '../probe/internet.ts'
import { BEGIN, DAY, know, makeWorld, visited, type World } from './world.ts'

const FRESH = ['a.example', 'bb.example', 'ccc.example', 'dddd.example']
const DUE = ['eeeee.example', 'ffffff.example']
const NOT_DUE = 'ggggggg.example'
const ASKED = 'hhhhhhhh.example'
const FOLLOWED = 'iiiiiiiii.example'
const FORGOTTEN = 'jjjjjjjjjj.example'
/** The number of moments to try. `KILLS=1000` tries each of them. */
const KILLS = Number(process.env.KILLS ?? inForm(10, 25))
/** Timings by which a range without due names is read every five minutes, since a minute makes a long test slow. */
const RARE_SWEEPS = { ...CRAWL_TIMINGS, sweepSeconds: { min: 0, max: 300 } }
const WANTED = [...FRESH, ...DUE, ASKED, FOLLOWED]

async function fill({ store }: World): Promise<void> {
  await know(store, FRESH)
  await visited(store, DUE, 8 * DAY)
  await visited(store, [NOT_DUE, FOLLOWED], DAY)
  await know(store, [FORGOTTEN])
  await store.observations.forget(named(FORGOTTEN))
  await store.crawlRequests.add('lookup', [named(ASKED), named(FORGOTTEN)])
  await store.crawlRequests.add('followup', [named(FOLLOWED)])
}

async function filled(t: TestContext): Promise<World> {
  const world = await makeWorld(t)
  await fill(world)
  return world
}

const namesOf = (world: World): string[] => world.visits.map(({ name }) => name).sort()

/** Checks that everything is done and no lease is held. */
async function expectDone({ store, visits, together }: World): Promise<void> {
  const done = await store.observations.crawlStates(WANTED.map(named))
  for (const visit of done) assert.ok(visit.clocks[0]! >= BEGIN && visit.due >= BEGIN + 0.9 * DAY, visit.name)
  assert.deepEqual([await store.crawlRequests.count('lookup'), await store.crawlRequests.count('followup')], [0, 0])
  assert.deepEqual(together, [])
  assert.ok(visits.every(({ name }) => WANTED.includes(name)))
  const held = (await store.schedule.ranges()).filter(({ holder }) => holder !== null)
  assert.deepEqual([held, await store.schedule.crawlers()], [[], []])
}

test('names that are due, new, or requested are probed once, others are not, and all leases are released', async (t) => {
  const world = await filled(t)
  const crawler = world.start('one')
  await world.minutes(5)
  assert.equal((await world.store.schedule.crawlers()).length, 1)
  crawler.stop()
  await world.clock.run(Number.POSITIVE_INFINITY, () => false)
  await crawler.ended
  assert.deepEqual(namesOf(world), WANTED.toSorted())
  await expectDone(world)
  assert.ok((await world.store.facts.lookup(named(ASKED))) !== null, 'the asked name is answered')
})

test('a crawler that is killed at any moment loses nothing, and no name is probed by two at once', async (t) => {
  const whole = await filled(t)
  const first = whole.start('one')
  await whole.clock.run(20_000)
  const moments = first.process.killPoints
  await whole.close()
  const step = moments / KILLS
  for (let endsAt = 1; endsAt <= moments; endsAt += step) {
    const world = await filled(t)
    const mortal = world.start('one', { killAtPoint: Math.floor(endsAt), timings: RARE_SWEEPS })
    const second = world.start('two', { timings: RARE_SWEEPS })
    await world.clock.run(120_000, () => mortal.process.isKilled)
    world.bury('one', mortal)
    const third = world.start('three', { timings: RARE_SWEEPS })
    await world.minutes(5)
    for (const crawler of [second, third]) crawler.stop()
    await world.clock.run(Number.POSITIVE_INFINITY)
    await Promise.all([second.ended, third.ended])
    await expectDone(world)
    await world.close()
  }
})

/** Ends a crawler in order. */
async function finish({ clock }: World, crawler: RunningCrawler): Promise<void> {
  crawler.stop()
  await clock.run(Number.POSITIVE_INFINITY)
  await crawler.ended
}

test('results since the last successful self-check are discarded, and probed again after the next one', async (t) => {
  const world = await filled(t)
  let isBlind = false
  const look = async (): Promise<SelfCheckOutcome> =>
    isBlind ? { passed: false, reason: 'no resolver answers' } : { passed: true }
  const crawler = world.start('one', { overrides: { runSelfCheck: look } })
  await world.clock.run(500)
  assert.ok(world.visits.length > 0)
  isBlind = true
  await world.minutes(1)
  const first = world.visits.length
  assert.deepEqual(crawler.stats.pause, { reason: 'self_check', message: 'no resolver answers', since: 2_500 })
  assert.equal(crawler.stats.notReadyReason, 'no resolver answers')
  assert.deepEqual([crawler.stats.batches.saved, crawler.stats.batches.discarded], [0, 1])
  const clocks = (await world.store.observations.crawlStates(FRESH.map(named))).flatMap((visit) => visit.clocks)
  assert.deepEqual(new Set(clocks), new Set([0]))
  const held = (await world.store.schedule.ranges()).filter(({ holder }) => holder !== null)
  assert.deepEqual(held, [], 'others may go on meanwhile')
  await world.minutes(10)
  assert.equal(world.visits.length, first, 'nothing is visited meanwhile')
  isBlind = false
  await world.minutes(3)
  assert.equal(crawler.stats.notReadyReason, null)
  await finish(world, crawler)
  await expectDone(world)
})

test('if the store fails, the crawl pauses, and it resumes when the store is available', async (t) => {
  const world = await filled(t)
  let isAway = false
  const failing = <Part extends object>(part: Part): Part =>
    new Proxy(part, {
      get(target, key) {
        const value = Reflect.get(target, key)
        if (typeof value !== 'function') return typeof value === 'object' ? failing(value as object) : value
        return async (...given: unknown[]) => {
          if (isAway) throw new Error('the server closed the connection')
          return value.apply(target, given)
        }
      },
    })
  const faults: unknown[] = []
  const crawler = world.start('one', {
    store: failing(world.store),
    overrides: { onFault: (error) => faults.push(error) },
  })
  await world.clock.run(800)
  isAway = true
  await world.minutes(2)
  assert.equal(crawler.stats.pause?.reason, 'store')
  assert.ok(faults.length > 0)
  isAway = false
  await world.minutes(5)
  assert.equal(crawler.stats.pause, null)
  await finish(world, crawler)
  await expectDone(world)
})

test('an opted-out name is not probed, not even on request, and is due again later', async (t) => {
  const world = await filled(t)
  const out = new Set<string>([FRESH[0]!, DUE[0]!, ASKED])
  const crawler = world.start('one', { overrides: { optOut: { hasName: (name) => out.has(name) } } })
  await world.minutes(3)
  await finish(world, crawler)
  assert.deepEqual(namesOf(world), WANTED.filter((name) => !out.has(name)).toSorted())
  const [fresh, due, asked] = await world.store.observations.crawlStates([FRESH[0]!, DUE[0]!, ASKED].map(named))
  assert.ok(fresh!.due >= BEGIN + DEFAULT_PROBE_INTERVALS.max && due!.due >= BEGIN + DEFAULT_PROBE_INTERVALS.max)
  assert.deepEqual([Math.max(...fresh!.clocks), due!.clocks[0], asked!.version], [0, BEGIN - 8 * DAY, 0])
  assert.equal(await world.store.crawlRequests.count('lookup'), 0)
})

test('a name that could not be probed is not written and is due again soon, with unchanged clocks', async (t) => {
  const world = await filled(t)
  const before = await world.store.observations.crawlStates(DUE.map(named))
  let isDark = true
  const crawler = world.start('one', {
    probe: async (name, holder) => {
      const visit = await world.visit(name, holder)
      return isDark && DUE.includes(name) ? { ...visit, dns: null } : visit
    },
  })
  await world.minutes(4)
  const meanwhile = await world.store.observations.crawlStates(DUE.map(named))
  assert.deepEqual(
    meanwhile.map(({ clocks }) => clocks),
    before.map(({ clocks }) => clocks),
  )
  assert.ok(meanwhile.every(({ due }) => due > BEGIN && due <= BEGIN + 600))
  assert.equal(world.visits.filter(({ name }) => DUE.includes(name)).length, DUE.length)
  assert.equal(crawler.stats.probes.due.notProbed, DUE.length)
  isDark = false
  await world.minutes(10)
  await finish(world, crawler)
  await expectDone(world)
})

test('a name whose address is in backoff is probed again after the backoff, also if it was requested', async (t) => {
  const world = await filled(t)
  const [dark, address] = [[DUE[0]!, ASKED].map(named), parseAddress('192.0.2.1')!]
  const pace = makePolitenessLimiter({ nowMs: () => world.clock.monotonicMs() })
  pace.backOff(address, 3_600_000)
  const crawler = world.start('one', {
    timings: RARE_SWEEPS,
    overrides: { politeness: pace },
    probe: async (name, holder) => {
      const visit = await world.visit(name, holder)
      return dark.includes(name) && pace.wait({ addresses: [address] }) > 0 ? { ...visit, deferredAt: address } : visit
    },
  })
  await world.minutes(59)
  const seen = (): number[] => dark.map((each) => world.visits.filter(({ name }) => name === each).length)
  assert.deepEqual(seen(), [1, 1])
  await world.minutes(10)
  await finish(world, crawler)
  assert.deepEqual(seen(), [2, 2])
  await expectDone(world)
})

test('a requested name that is deferred for no time rests a minute, and keeps a later due time', async (t) => {
  const world = await makeWorld(t)
  const [name, address] = [named(ASKED), parseAddress('192.0.2.1')!]
  await visited(world.store, [ASKED], DAY)
  const [before] = await world.store.observations.crawlStates([name])
  assert.ok(before!.due > BEGIN + DAY)
  await world.store.crawlRequests.add('followup', [name])
  const crawler = world.start('one', {
    timings: RARE_SWEEPS,
    probe: async (visited, holder) => ({ ...(await world.visit(visited, holder)), deferredAt: address }),
  })
  await world.minutes(4)
  const times = world.visits.map(({ at }) => at)
  assert.equal(times.length, 2)
  assert.ok(times[1]! - times[0]! >= 60, `${times}`)
  const [after] = await world.store.observations.crawlStates([name])
  assert.equal(after!.due, before!.due)
  await finish(world, crawler)
})

test('a name that can never be probed is tried less and less often, also if it was requested', async (t) => {
  const world = await filled(t)
  const dark: DomainName[] = [DUE[0]!, ASKED].map(named)
  let isDark = true
  const crawler = world.start('one', {
    probe: async (name, holder) => {
      const visit = await world.visit(name, holder)
      return isDark && dark.includes(name) ? { ...visit, dns: null } : visit
    },
  })
  await world.minutes(20)
  for (const name of dark) {
    const times = world.visits.filter((visit) => visit.name === name).map((visit) => Math.round(visit.at / 60))
    const pauses = times.slice(1).map((time, place) => time - times[place]!)
    assert.equal(pauses.length, 2, `${name} after ${pauses} minutes`)
    for (const [place, pause] of pauses.entries())
      assert.ok(Math.abs(pause - 5 * 2 ** place) <= 2, `${name} after ${pauses}`)
  }
  isDark = false
  await world.store.crawlRequests.add('lookup', [named(ASKED)])
  await world.minutes(28)
  await finish(world, crawler)
  await expectDone(world)
})

test('a name whose address is always rate limited is tried less and less often, also if it was requested', async (t) => {
  const world = await filled(t)
  const [dark, address] = [[DUE[0]!, ASKED].map(named), parseAddress('192.0.2.1')!]
  const crawler = world.start('one', {
    timings: RARE_SWEEPS,
    probe: async (name, holder) => {
      const visit = await world.visit(name, holder)
      return dark.includes(name) ? { ...visit, deferredAt: address } : visit
    },
  })
  await world.minutes(70)
  const times = dark.map((each) =>
    world.visits.filter(({ name }) => name === each).map(({ at }) => Math.round(at / 60)),
  )
  const pauses = times.map((all) => all.slice(1).map((time, place) => Math.round((time - all[place]!) / 5) * 5))
  assert.deepEqual(pauses, [
    [5, 10, 20],
    [0, 10, 20],
  ])
  await finish(world, crawler)
})

test('a crawl request of a caller is given up after three probes without a result, and one for a file is not', async (t) => {
  const world = await makeWorld(t)
  await world.store.crawlRequests.add('lookup', [named(ASKED)])
  await world.store.crawlRequests.add('followup', [named(FOLLOWED)])
  const crawler = world.start('one', {
    timings: RARE_SWEEPS,
    probe: async (name, holder) => ({ ...(await world.visit(name, holder)), dns: null }),
  })
  const crawlRequests = async () => [
    await world.store.crawlRequests.count('lookup'),
    await world.store.crawlRequests.count('followup'),
  ]
  await world.minutes(14)
  assert.deepEqual(await crawlRequests(), [1, 1])
  await world.minutes(100)
  assert.deepEqual(await crawlRequests(), [0, 1])
  assert.equal(world.visits.filter(({ name }) => name === ASKED).length, 3)
  await finish(world, crawler)
})

test('a crawl request of a caller whose name never starts is given up after a day', async (t) => {
  const world = await makeWorld(t)
  await world.store.crawlRequests.add('lookup', [named(DUE[0]!)])
  await visited(world.store, [DUE[0]!], DAY)
  const pace = { ...makePolitenessLimiter({ nowMs: () => world.clock.monotonicMs() }), wait: () => 3_600_000 }
  const crawler = world.start('one', {
    overrides: { politeness: pace, timings: { ...CRAWL_TIMINGS, pollMs: 600_000 } },
  })
  await world.minutes(23 * 60)
  assert.equal(await world.store.crawlRequests.count('lookup'), 1)
  await world.minutes(2 * 60)
  assert.deepEqual([await world.store.crawlRequests.count('lookup'), world.visits.length], [0, 0])
  await finish(world, crawler)
})

test('crawlers that start together share the rate after two seconds', async (t) => {
  const world = await makeWorld(t)
  await know(
    world.store,
    Array.from({ length: 500 }, (_, index) => `n${index}.example`),
  )
  const crawlers = ['one', 'two', 'three'].map((holder) => [holder, world.start(holder, { rate: 9 })] as const)
  await world.clock.run(12_000)
  const started = world.visits.filter(({ at }) => at >= 4).length
  assert.ok(started > 40 && started <= 8 * 9 + 3, `${started} in 8 seconds`)
  for (const [holder, crawler] of crawlers) world.bury(holder, crawler)
})

test('requested names that cannot be probed delay no other name, wherever they are', async (t) => {
  const world = await makeWorld(t)
  const all = Array.from({ length: 9_999 }, (_, index) => named(`asked${index}.example`))
  const inRange = (range: number): DomainName => all.find((name) => slotRangeOf(name) === range)!
  const dark = Array.from({ length: 24 }, (_, range) => inRange(range))
  const visit = async (name: DomainName, holder: string): Promise<ProbeResult> => {
    const visit = await world.visit(name, holder)
    return dark.includes(name) ? { ...visit, dns: null } : visit
  }
  await world.store.crawlRequests.add('lookup', dark)
  const crawler = world.start('one', { probe: visit })
  await world.minutes(2)
  const good = [100, 200, 255].map(inRange)
  await world.store.crawlRequests.add('lookup', good)
  await world.clock.run(world.clock.monotonicMs() + 20_000)
  for (const name of good)
    assert.ok(
      world.visits.some((visit) => visit.name === name),
      name,
    )
  await finish(world, crawler)
})

test('probes that run 15 seconds after the stop are dropped, and completed results are saved', async (t) => {
  const world = await filled(t)
  const never = named(FRESH[0]!)
  const visit = async (name: DomainName, holder: string): Promise<ProbeResult> => {
    const visit = await world.visit(name, holder)
    if (name === never) await world.clock.wait(1e12)
    return visit
  }
  const crawler = world.start('one', { probe: visit })
  await world.clock.run(500)
  crawler.stop()
  await world.clock.run(16_000)
  await crawler.ended
  const [dropped, ...others] = await world.store.observations.crawlStates(FRESH.map(named))
  assert.equal(Math.max(...dropped!.clocks), 0)
  assert.ok(others.every(({ clocks }) => clocks[0]! >= BEGIN))
  assert.deepEqual(
    (await world.store.schedule.ranges()).filter(({ holder }) => holder !== null),
    [],
  )
})

test('two crawlers share the rate of the installation', async (t) => {
  const world = await makeWorld(t)
  await know(
    world.store,
    Array.from({ length: 400 }, (_, index) => `n${index}.example`),
  )
  const crawlers = ['one', 'two'].map((holder) => world.start(holder, { rate: 4 }))
  await world.clock.run(20_000)
  const started = (): number => world.visits.length
  const before = started()
  await world.clock.run(60_000)
  assert.ok(Math.abs(started() - before - 160) <= 4, `${started() - before} in 40 seconds`)
  for (const crawler of crawlers) crawler.stop()
  await world.clock.run(Number.POSITIVE_INFINITY)
  assert.deepEqual(world.together, [])
})

test('a name that is requested while its range is leased is probed before those that wait there', async (t) => {
  const world = await makeWorld(t)
  const names = Array.from({ length: 300 }, (_, index) => `n${index}.example`)
  await know(world.store, names)
  const crawler = world.start('one', { rate: 1 })
  await world.clock.run(10_000)
  const held = new Set((await world.store.schedule.ranges()).flatMap(({ range, holder }) => (holder ? [range] : [])))
  const asked = Array.from({ length: 9_999 }, (_, index) => named(`asked${index}.example`)).find((name) =>
    held.has(slotRangeOf(name)),
  )!
  await world.store.crawlRequests.add('lookup', [asked])
  await world.clock.run(30_000)
  assert.ok(world.visits.some(({ name }) => name === asked))
  assert.ok(world.visits.length < 60)
  await finish(world, crawler)
})

test('a batch with more missing names than any hour of the week is not saved, even if the self-check succeeds', async (t) => {
  const world = await makeWorld(t)
  const names = Array.from({ length: 400 }, (_, index) => `n${index}.example`)
  await visited(world.store, names, 8 * DAY)
  const hours = Array.from({ length: 72 }, (_, index) => BEGIN - (BEGIN % 3600) - (index + 4) * 3600)
  await world.store.schedule.addOutcomes(
    hours.map((hour) => ({ hour, kind: 'dns', probes: 1_000, servfail: 0, nxdomain: 5, noWebsite: 0 })),
  )
  let isLying = true
  const missing = { outcome: 'nxdomain' } as const
  const crawler = world.start('one', {
    probe: async (name, holder) => {
      const visit = await world.visit(name, holder)
      return isLying ? { ...visit, dns: { A: missing, AAAA: missing } } : visit
    },
  })
  await world.minutes(2)
  assert.equal(crawler.stats.pause?.reason, 'anomaly')
  assert.match(crawler.stats.notReadyReason!, /^nxdomain is 100\.0 % of /)
  assert.equal(world.visits.length, names.length, 'none is visited again before the first trial')
  const clocks = (await world.store.observations.crawlStates(names.map(named))).flatMap((visit) => visit.clocks)
  assert.ok(clocks.every((clock) => clock < BEGIN))
  isLying = false
  await world.minutes(30)
  assert.equal(crawler.stats.pause, null)
  assert.ok((await world.store.observations.crawlStates(names.map(named))).every(({ clocks }) => clocks[0]! >= BEGIN))
  await finish(world, crawler)
})
