/** Tests of the schedule: due names, the counts of a sweep, and the known crawlers. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Change } from '../../../../src/apply/change.ts'
import { type CrawlState, NO_CLOCKS, OBSERVED_PARTS, unknownCrawlState } from '../../../../src/apply/crawl-state.ts'
import { ingest } from '../../../../src/store/ingest.ts'
import { AGE_DAYS, LEASE_SECONDS, type OutcomeCount, type SlotCount } from '../../../../src/store/port/schedule.ts'
import type { Store } from '../../../../src/store/port/store.ts'
import { type DomainName, SLOTS_PER_RANGE, slotOf, slotRangeOf } from '../../../../src/values/domain-name.ts'
import type { Instant } from '../../../../src/values/time.ts'
import { inForm } from '../../../long.ts'
import type { Engine } from '../engine.ts'
import { address, dns, NOW, name, seen, testWithStore } from '../world.ts'

const RUNS = inForm(15, 40)
const DAY = 86_400
const HOUR = 3600

/** Names of one range, some in the same slot. */
const RANGE = 77
const NAMES = Array.from({ length: 9000 }, (_, n) => name(`n${n}.example`)).filter(
  (each) => slotRangeOf(each) === RANGE,
)

const inOrder = (a: DomainName, b: DomainName): number => slotOf(a) - slotOf(b) || (a < b ? -1 : 1)

/**
 * A row written as a probe result, or forgotten. `ago`: seconds since the newest clock, null for none. `ahead`: seconds
 * until it is due.
 */
type Operation = { place: number; ago: number | null; ahead: number | null; forget: boolean }

const time = fc.oneof(
  fc.constantFrom(...AGE_DAYS.flatMap((days) => [days * DAY - 1, days * DAY, days * DAY + 1]), 0, 1),
  fc.integer({ min: 0, max: 200 * DAY }),
)
export const operation: fc.Arbitrary<Operation> = fc.record({
  place: fc.nat(NAMES.length - 1),
  ago: fc.option(time, { freq: 3 }),
  ahead: fc.option(
    fc.oneof(
      time.map((seconds) => -seconds),
      fc.integer({ min: -2, max: 40 * DAY }),
    ),
    { freq: 3 },
  ),
  forget: fc.integer({ min: 0, max: 9 }).map((dice) => dice === 0),
})

export function schedule(engine: Engine): void {
  testWithStore(engine, 'due names and their count agree with a plain model', async (store) => {
    const model = new Map<DomainName, CrawlState>()
    const slots = fc
      .tuple(fc.nat(SLOTS_PER_RANGE - 1), fc.nat(SLOTS_PER_RANGE - 1))
      .map((bounds) => bounds.sort((a, b) => a - b))
    const at = fc.constantFrom(NOW, NOW - DAY, NOW + 3 * DAY)
    const property = fc.asyncProperty(
      fc.array(operation, { maxLength: 40 }),
      slots,
      at,
      async (operations, bounds, at) => {
        for (const each of operations) await write(store, model, each)
        const [from, to] = bounds.map((slot) => RANGE * SLOTS_PER_RANGE + slot) as [number, number]
        const there = [...model.values()]
          .filter(({ name }) => slotOf(name) >= from && slotOf(name) <= to)
          .sort((a, b) => inOrder(a.name, b.name))
        const { states, count } = await store.schedule.due(from, to, at)
        assert.deepEqual(
          states,
          there.filter(({ due }) => due <= at),
        )
        assert.deepEqual(count, countOf(there, at))
      },
    )
    await fc.assert(property, { numRuns: RUNS })
  })

  testWithStore(engine, 'a pass over all names misses no unchanged name during writes', async (store, opened) => {
    const other = await opened.another()
    const all = Array.from({ length: 600 }, (_, n) => name(`walk${n}.example`))
    await store.observations.save(all.map(asNew))
    const removed = all.filter((_, n) => n % 50 === 0)
    for (const each of removed.slice(0, 6)) await store.observations.forget(each)
    const walked: DomainName[] = []
    for (let after: DomainName | null = null, page = 0; ; page++) {
      const names: DomainName[] = await store.schedule.names(after, 37)
      walked.push(...names)
      if (names.length < 37) break
      after = names.at(-1)!
      await other.observations.save([0, 1, 2].map((n) => asNew(name(`new${page}-${n}.example`))))
      const late = removed.slice(6)[page]
      if (late) await other.observations.forget(late)
    }
    assert.deepEqual(walked, [...new Set(walked)].sort(inOrder))
    const stayed = all.filter((each) => !removed.includes(each))
    assert.deepEqual(
      stayed.filter((each) => !walked.includes(each)),
      [],
    )
    assert.ok(removed.slice(0, 6).every((each) => !walked.includes(each)))
  })

  testWithStore(engine, 'a forgotten name is never due again', async (store) => {
    await ingest(store, [seen('one.example', 1, dns({ A: ['192.0.2.1'] }))])
    const slot = slotOf(name('one.example'))
    const before = await store.schedule.due(slot, slot, NOW + 90 * DAY)
    assert.deepEqual([before.states.length, before.count.names, before.count.due], [1, 1, 1])
    await store.observations.forget(name('one.example'))
    const after = await store.schedule.due(slot, slot, NOW + 90 * DAY)
    assert.deepEqual([after.states, after.count.names, after.count.neverProbed], [[], 0, 0])
    assert.deepEqual(await store.schedule.names(null, 9), [])
    const [row] = await store.observations.crawlStates([name('one.example')])
    assert.deepEqual([row!.forgotten, row!.due, row!.failures], [true, 0, 0])
  })

  testWithStore(
    engine,
    'names per address and target are counted as they are now, in the requested order',
    async (store) => {
      const on = (domain: string, at: number, ...addresses: string[]) => seen(domain, at, dns({ A: addresses }))
      const three = ['192.0.2.9', '192.0.2.1', '192.0.2.2', '192.0.2.1'].map(address)
      await ingest(store, [on('a.example', 1, '192.0.2.1'), on('b.example', 1, '192.0.2.1', '192.0.2.2')])
      assert.deepEqual(await store.schedule.nameCounts(three), [0, 2, 1, 2])
      await ingest(store, [on('a.example', 2, '192.0.2.9')])
      assert.deepEqual(await store.schedule.nameCounts(three), [1, 1, 1, 1])
      assert.deepEqual(await store.schedule.nameCounts([]), [])
    },
  )

  testWithStore(engine, 'a crawler is alive until it ends or its heartbeat stops', async (store, opened, clock) => {
    const { schedule: other } = await opened.another()
    assert.equal(await store.schedule.heartbeat('a', '{"rate":1}'), 1)
    clock.now += 5
    assert.equal(await other.heartbeat('b', '{}'), 2)
    clock.now += LEASE_SECONDS - 6
    assert.equal(await other.heartbeat('b', '{"rate":2}'), 2)
    const b = { holder: 'b', heartbeatAt: clock.now, report: '{"rate":2}' }
    assert.deepEqual(await store.schedule.crawlers(), [{ holder: 'a', heartbeatAt: NOW, report: '{"rate":1}' }, b])
    clock.now++
    assert.deepEqual(await store.schedule.crawlers(), [b], 'a was not heard of')
    assert.equal(await store.schedule.heartbeat('c', '{}'), 2)
    assert.equal(await store.schedule.heartbeat('b', null), 1)
    assert.deepEqual(
      (await other.crawlers()).map(({ holder }) => holder),
      ['c'],
    )
  })

  testWithStore(engine, 'all crawlers with concurrent heartbeats are counted', async (store, opened) => {
    const { schedule: other } = await opened.another()
    const beats = Array.from({ length: 20 }, (_, n) =>
      (n % 2 === 0 ? store.schedule : other).heartbeat(`crawler ${n}`, '{}'),
    )
    assert.equal(Math.max(...(await Promise.all(beats))), 20)
    assert.equal((await store.schedule.crawlers()).length, 20)
  })

  testWithStore(
    engine,
    'outcomes of all crawlers add up by hour and kind, for 8 days',
    async (store, opened, clock) => {
      const processes = [store.schedule, (await opened.another()).schedule, (await opened.another()).schedule]
      const hour = NOW - (NOW % HOUR)
      const one = (hour: Instant, kind: string): OutcomeCount => ({
        hour,
        kind,
        probes: 5,
        servfail: 1,
        nxdomain: 2,
        noWebsite: 3,
      })
      const kinds = ['due', 'new', 'lookup']
      const rows = [hour - HOUR, hour].flatMap((hour) => kinds.map((kind) => one(hour, kind)))
      await Promise.all(
        Array.from({ length: 12 }, (_, n) => processes[n % 3]!.addOutcomes(n % 2 === 0 ? rows : rows.toReversed())),
      )
      await store.schedule.addOutcomes([one(hour, 'due'), one(hour, 'due')])
      const times = (row: OutcomeCount, factor: number): OutcomeCount => {
        const [probes, servfail, nxdomain, none] = [row.probes, row.servfail, row.nxdomain, row.noWebsite].map(
          (n) => n * factor,
        )
        return { ...row, probes: probes!, servfail: servfail!, nxdomain: nxdomain!, noWebsite: none! }
      }
      const expected = rows
        .map((row) => times(row, row.hour === hour && row.kind === 'due' ? 14 : 12))
        .sort((a, b) => a.hour - b.hour || (a.kind < b.kind ? -1 : 1))
      assert.deepEqual(await store.schedule.outcomes(0), expected)
      assert.deepEqual(await store.schedule.outcomes(hour), expected.slice(3))
      clock.now = hour + 8 * DAY
      await store.schedule.addOutcomes([one(clock.now, 'due')])
      assert.deepEqual(await store.schedule.outcomes(0), [...expected.slice(3), one(clock.now, 'due')])
    },
  )
}

async function write(
  store: Store,
  model: Map<DomainName, CrawlState>,
  { place, ago, ahead, forget }: Operation,
): Promise<void> {
  const name = NAMES[place]!
  const [before] = await store.observations.crawlStates([name])
  if (forget) await store.observations.forget(name)
  if (forget || before!.forgotten) {
    model.delete(name)
    return
  }
  const clocks = ago === null ? NO_CLOCKS : OBSERVED_PARTS.map((_, part) => NOW - ago - (part % 2) * 1000)
  const visit = { ...before!, clocks, due: ahead === null ? 0 : NOW + ahead, failures: place % 32 }
  assert.deepEqual((await store.observations.save([{ state: visit, facts: null }])).rejected, [])
  model.set(name, { ...visit, version: visit.version + 1 })
}

function countOf(states: readonly CrawlState[], at: Instant): SlotCount {
  const ages = [...AGE_DAYS, Number.POSITIVE_INFINITY].map(() => 0)
  for (const { clocks } of states) {
    const clock = Math.max(...clocks)
    const age = AGE_DAYS.findIndex((days) => at - clock <= days * DAY)
    if (clock > 0) ages[age < 0 ? AGE_DAYS.length : age]!++
  }
  const isFresh = ({ clocks }: CrawlState): boolean => Math.max(...clocks) === 0
  const later = states.filter(({ due }) => due > at).map(({ due }) => due)
  return {
    names: states.length,
    due: states.filter(({ due }) => due <= at).length,
    overdue: states.filter((state) => state.due <= at - DAY && !(state.due === 0 && isFresh(state))).length,
    neverProbed: states.filter(isFresh).length,
    next: later.length === 0 ? null : Math.min(...later),
    ages,
  }
}

/** A name that is known but was never probed. */
function asNew(name: DomainName): Change {
  return { state: unknownCrawlState(name), facts: null }
}
