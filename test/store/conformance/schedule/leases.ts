/** Tests of leases: one crawler holds a range of slots, and late writes of another one are rejected. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { postponedChange } from '../../../../src/apply/apply.ts'
import type { Change } from '../../../../src/apply/change.ts'
import { freshNameChange } from '../../../../src/apply/fresh-name.ts'
import { LEASE_SECONDS, type Lease, type RangeSweep, type Schedule } from '../../../../src/store/port/schedule.ts'
import type { Store } from '../../../../src/store/port/store.ts'
import { type DomainName, SLOT_COUNT, SLOT_RANGES, slotRangeOf } from '../../../../src/values/domain-name.ts'
import type { Instant } from '../../../../src/values/time.ts'
import { inForm } from '../../../long.ts'
import type { Clock, Engine, Opened } from '../engine.ts'
import { changesOf, dns, NOW, name, seen, testWithStore } from '../world.ts'

const HOLDERS = 4
const RUNS = inForm(10, 30)

/** The operations of every holder in one round, and the seconds until the next round. */
type Round = { operations: Operation[]; seconds: number }
type Operation = { kind: 'lease'; most: number; ranges?: number[] } | { kind: 'renew' | 'release' | 'nothing' }

const few = fc.uniqueArray(fc.nat(3), { minLength: 1 })
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ kind: fc.constant('lease' as const), most: fc.integer({ min: 1, max: 3 }), ranges: few }),
  fc.record({ kind: fc.constant('lease' as const), most: fc.constantFrom(1, 100, SLOT_RANGES) }),
  fc.record({ kind: fc.constantFrom('renew' as const, 'release' as const, 'nothing' as const) }),
)
export const round: fc.Arbitrary<Round> = fc.record({
  operations: fc.array(operation, { minLength: HOLDERS, maxLength: HOLDERS }),
  seconds: fc.oneof(fc.nat(2), fc.integer({ min: 20, max: 70 })),
})

/** A name in each of some ranges. */
const OF_RANGE = new Map<number, DomainName>()
for (let n = 0; OF_RANGE.size < SLOT_RANGES; n++) {
  const each = name(`n${n}.example`)
  if (!OF_RANGE.has(slotRangeOf(each))) OF_RANGE.set(slotRangeOf(each), each)
}

const sweepAt = (next: Instant): RangeSweep => ({
  nextSweep: next,
  count: { names: 3, due: 2, overdue: 1, neverProbed: 1, next: null, ages: [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0] },
})

/** Changes of new names, one in each range. */
const changesIn = (store: Store, ranges: readonly number[]): Promise<Change[]> =>
  changesOf(
    store,
    ranges.map((range) => seen(OF_RANGE.get(range)!, 1, dns({ A: ['192.0.2.1'] }))),
  )

const versionIn = async (store: Store, range: number): Promise<number> =>
  (await store.observations.crawlStates([OF_RANGE.get(range)!]))[0]!.version

export function leases(engine: Engine): void {
  testWithStore(
    engine,
    'of four competing holders no two hold a range at once, and fencing tokens increase',
    async (_, opened, clock) => {
      const schedules = await schedulesOf(opened)
      const property = fc.asyncProperty(fc.array(round, { maxLength: 12 }), (rounds) => race(schedules, clock, rounds))
      await fc.assert(property, { numRuns: RUNS })
    },
  )

  testWithStore(
    engine,
    'a range of a silent holder is free, and that holder learns that it has lost it',
    async (...world) => {
      const [store, opened, clock] = world
      const { schedule: other } = await opened.another()
      const [kept, lost] = await store.schedule.lease('a', 2, [3, 4])
      assert.deepEqual(await other.lease('b', 9, [3, 4]), [])
      clock.now += LEASE_SECONDS - 1
      assert.deepEqual(await other.lease('b', 9, [3, 4]), [])
      assert.deepEqual(await store.schedule.renew([kept!]), [kept])
      clock.now++
      const [taken] = await other.lease('b', 9, [3, 4])
      assert.deepEqual([taken!.range, taken!.fence > lost!.fence], [lost!.range, true])
      assert.deepEqual(await store.schedule.renew([kept!, lost!]), [kept])
      await store.schedule.release([{ lease: lost!, sweep: sweepAt(NOW + 999) }])
      const state = (await other.ranges())[lost!.range]!
      assert.deepEqual(state, {
        ...state,
        holder: 'b',
        expiresAt: clock.now + LEASE_SECONDS,
        nextSweep: 0,
        count: null,
      })
    },
  )

  testWithStore(
    engine,
    'an expired lease stays valid until another crawler acquires the range',
    async (store, _, clock) => {
      const [lease] = await store.schedule.lease('a', 1, [7])
      clock.now += LEASE_SECONDS + 5
      const { holder, expiresAt: until } = (await store.schedule.ranges())[7]!
      assert.deepEqual([holder, until], [null, null], 'nobody holds it')
      const changes = await changesIn(store, [7])
      assert.deepEqual(await store.observations.save(changes, [lease!]), { rejected: [], lost: [] })
      assert.deepEqual(await store.schedule.renew([lease!]), [lease])
      assert.deepEqual(await store.schedule.lease('b', 1, [7]), [])
    },
  )

  testWithStore(
    engine,
    'late writes with an old fencing token are lost, and the others are written',
    async (...world) => {
      const [store, opened, clock] = world
      const other = await opened.another()
      const ours = await store.schedule.lease('a', 2, [3, 4])
      clock.now += LEASE_SECONDS
      const theirs = await other.schedule.lease('b', 1, [4])
      const changes = await changesIn(store, [3, 4])
      const saved = await store.observations.save(changes, ours)
      assert.deepEqual(saved, { rejected: [], lost: [OF_RANGE.get(4)] })
      assert.deepEqual([await versionIn(store, 3), await versionIn(store, 4)], [1, 0])
      assert.deepEqual(await other.observations.save(await changesIn(other, [4]), theirs), { rejected: [], lost: [] })
      assert.equal(await versionIn(store, 4), 1)
    },
  )

  testWithStore(
    engine,
    'an unknown name is added without a lease, and one with a place in a list is due but not overdue',
    async (store) => {
      const leases = await store.schedule.lease('a', 1, [3])
      const states = await store.observations.crawlStates([3, 4, 5].map((range) => OF_RANGE.get(range)!))
      const changes = states.map((state, place) => freshNameChange(state, place))
      assert.deepEqual(await store.observations.save(changes, leases), { rejected: [], lost: [] })
      assert.deepEqual(
        (await store.observations.save(changes, leases)).rejected.toSorted(),
        changes.map(({ state }) => state.name).sort(),
      )
      const known = await store.observations.crawlStates(states.map((state) => state.name))
      assert.deepEqual(
        known.map(({ version, due }) => [version, due]),
        [
          [1, 0],
          [1, 1],
          [1, 2],
        ],
      )
      const { count } = await store.schedule.due(0, SLOT_COUNT - 1, NOW)
      assert.deepEqual([count.due, count.overdue, count.neverProbed, count.next], [3, 0, 3, null])
      const postponed = known.map((state) => postponedChange(state, NOW))
      const { lost } = await store.observations.save(postponed, leases)
      assert.deepEqual(lost, [OF_RANGE.get(4), OF_RANGE.get(5)], 'a known name needs a lease')
    },
  )

  testWithStore(
    engine,
    'writes under a released lease, or for a range that was not leased, are lost',
    async (store) => {
      const [one, two] = await store.schedule.lease('a', 2, [3, 4])
      await store.schedule.release([{ lease: one!, sweep: null }])
      await store.schedule.release([{ lease: one!, sweep: sweepAt(NOW + 999) }])
      assert.equal((await store.schedule.ranges())[3]!.nextSweep, 0, 'it was given back once')
      assert.deepEqual(await store.schedule.renew([one!, two!]), [two])
      const changes = await changesIn(store, [3, 4, 5])
      const saved = await store.observations.save(changes, [one!, two!])
      assert.deepEqual(new Set(saved.lost), new Set([OF_RANGE.get(3), OF_RANGE.get(5)]))
      assert.deepEqual([await versionIn(store, 3), await versionIn(store, 4), await versionIn(store, 5)], [0, 1, 0])
    },
  )

  testWithStore(
    engine,
    'ranges are leased in the order in which their sweeps are due, and not before',
    async (store, _, clock) => {
      const { schedule } = store
      const all = await schedule.lease('a', SLOT_RANGES)
      assert.deepEqual(
        all.map(({ range }) => range),
        Array.from({ length: SLOT_RANGES }, (_, range) => range),
      )
      const nextOf = (range: number): Instant => NOW + ((range * 37) % SLOT_RANGES)
      await schedule.release(all.map((lease) => ({ lease, sweep: sweepAt(nextOf(lease.range)) })))
      const due = all.map(({ range }) => range).sort((a, b) => nextOf(a) - nextOf(b))
      clock.now = NOW + 100
      assert.deepEqual(await rangesOf(schedule.lease('a', 50)), due.slice(0, 50))
      assert.deepEqual(await rangesOf(schedule.lease('b', 90)), due.slice(50, 101))
      assert.deepEqual(await rangesOf(schedule.lease('b', 90)), [])
      const asked = [due[0]!, due[200]!, due[150]!]
      assert.deepEqual(await rangesOf(schedule.lease('c', 5, asked)), [due[150]!, due[200]!], 'whether due or not')
      clock.now += LEASE_SECONDS
      assert.equal((await schedule.lease('d', 1))[0]!.range, due[0], 'given back without a sweep, it is due as before')
    },
  )

  testWithStore(engine, 'a range reports its holder, its last sweep and the counts of it', async (store, _, clock) => {
    const { schedule } = store
    const fresh = { holder: null, expiresAt: null, nextSweep: 0, lastSweep: null, count: null }
    assert.deepEqual(
      await schedule.ranges(),
      Array.from({ length: SLOT_RANGES }, (_, range) => ({ range, ...fresh })),
    )
    const [one, two] = await schedule.lease('a', 2, [8, 9])
    clock.now += 5
    const sweep = sweepAt(NOW + 3600)
    await schedule.release([
      { lease: one!, sweep },
      { lease: two!, sweep: null },
    ])
    await schedule.lease('b', 1, [8])
    const [eight, nine] = (await schedule.ranges()).slice(8, 10)
    const expiresAt = clock.now + LEASE_SECONDS
    assert.deepEqual(eight, {
      range: 8,
      holder: 'b',
      expiresAt,
      nextSweep: sweep.nextSweep,
      lastSweep: clock.now,
      count: sweep.count,
    })
    assert.deepEqual(nine, { range: 9, ...fresh })
  })

  testWithStore(engine, 'each range reports its own holder if several holders have ranges', async (store, _, clock) => {
    const { schedule } = store
    const holderOf = async (range: number) => (await schedule.ranges())[range]!.holder
    const [one] = await schedule.lease('a', 1, [3])
    await schedule.lease('b', 1, [4])
    assert.deepEqual([await holderOf(3), await holderOf(4), await holderOf(5)], ['a', 'b', null])
    assert.deepEqual(await schedule.lease('b', 1, [3]), [], "it is another one's")
    clock.now += LEASE_SECONDS
    assert.deepEqual([await holderOf(3), await holderOf(4)], [null, null], 'a lease that has run out is nobody\u2019s')
    const [taken] = await schedule.lease('b', 1, [3])
    assert.deepEqual([await holderOf(3), taken!.fence > one!.fence], ['b', true])
    await schedule.release([{ lease: one!, sweep: null }])
    assert.equal(await holderOf(3), 'b', 'what is late changes nothing')
    await schedule.release([{ lease: taken!, sweep: null }])
    assert.equal(await holderOf(3), null)
    assert.deepEqual(await schedule.renew([taken!]), [])
    assert.equal(await holderOf(3), null)
  })

  testWithStore(engine, 'if the clock is set back, no range stays blocked for long', async (store, _, clock) => {
    await store.schedule.lease('a', 1, [3])
    clock.now -= 86_400
    assert.deepEqual(await rangesOf(store.schedule.lease('b', 1, [3])), [3])
  })
}

async function schedulesOf(opened: Opened): Promise<Schedule[]> {
  const stores = [opened.store]
  while (stores.length < HOLDERS) stores.push(await opened.another())
  return stores.map(({ schedule }) => schedule)
}

const rangesOf = async (leases: Promise<Lease[]>): Promise<number[]> => (await leases).map(({ range }) => range)

/** What a holder believes about a range. */
type Belief = { fence: number; until: Instant }

/** Plays rounds, and checks after each of them what the holders believe. */
async function race(schedules: readonly Schedule[], clock: Clock, rounds: readonly Round[]): Promise<void> {
  const beliefs = schedules.map(() => new Map<number, Belief>())
  const fences = new Map<number, number>()
  for (const { operations, seconds } of rounds) {
    const granted = await Promise.all(
      operations.map((operation, place) => act(schedules[place]!, beliefs[place]!, operation, clock)),
    )
    for (const { range, fence } of granted.flat()) {
      assert.ok(fence > (fences.get(range) ?? 0), `range ${range} has fence ${fence} again`)
      fences.set(range, fence)
    }
    for (const range of fences.keys()) {
      const holders = beliefs.filter((held) => (held.get(range)?.until ?? 0) > clock.now)
      assert.ok(holders.length <= 1, `range ${range} is held by ${holders.length}`)
    }
    clock.now += seconds
  }
  clock.now += LEASE_SECONDS
  const all = await schedules[0]!.lease('last', SLOT_RANGES)
  assert.equal(all.length, SLOT_RANGES, 'the dead block nothing')
  await schedules[1]!.release(all.map((lease) => ({ lease, sweep: null })))
}

/** Returns the new leases. */
async function act(
  schedule: Schedule,
  held: Map<number, Belief>,
  operation: Operation,
  clock: Clock,
): Promise<Lease[]> {
  const mine = [...held].map(([range, { fence }]) => ({ range, fence }))
  const believe = (leases: readonly Lease[]): void => {
    for (const { range, fence } of leases) held.set(range, { fence, until: clock.now + LEASE_SECONDS })
  }
  if (operation.kind === 'nothing') return []
  if (operation.kind === 'lease') {
    const leases = await schedule.lease('one of four', operation.most, operation.ranges)
    believe(leases)
    return leases
  }
  held.clear()
  if (operation.kind === 'renew') believe(await schedule.renew(mine))
  else await schedule.release(mine.map((lease) => ({ lease, sweep: null })))
  return []
}
