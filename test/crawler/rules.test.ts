/** The rules of the schedule that need no store: sweeps of ranges, the ready queue, counts, and their reports. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type CrawlState, NO_CLOCKS } from '../../src/apply/crawl-state.ts'
import { MAX_DELAY_MS } from '../../src/crawler/continuous/continuous-crawl.ts'
import { NameServerCounts } from '../../src/crawler/continuous/crawl-memory.ts'
import {
  finishedSweep,
  type HeldRange,
  isRangeDone,
  type LeasedCandidate,
  nextSlots,
  startSweep,
} from '../../src/crawler/continuous/held-range.ts'
import { nextChunkLength } from '../../src/crawler/continuous/slot-reader.ts'
import { createKindSelector, DEFAULT_SHARES } from '../../src/crawler/queue/kind-selector.ts'
import { MAX_CANDIDATES_PER_KIND, REFILL_BELOW, ReadyQueue } from '../../src/crawler/queue/ready-queue.ts'
import { quantiles } from '../../src/crawler/status/quantiles.ts'
import { CrawlStats, LAG_BOUNDS_SECONDS } from '../../src/crawler/status/stats.ts'
import { addSweepCounts, countAfterProbe, EMPTY_SWEEP_COUNT } from '../../src/crawler/status/sweep-count.ts'
import {
  FULL_CYCLE_SECONDS,
  makePolitenessLimiter,
  type RateLimitTargets,
} from '../../src/probe/policy/politeness-limiter.ts'
import { AGE_DAYS, type SlotCount } from '../../src/store/port/schedule.ts'
import { parseAddress } from '../../src/values/ip-address.ts'
import { named } from '../probe/internet.ts'

const NOW = 1_800_000_000
const DAY = 86_400

function held(): HeldRange {
  return {
    lease: { range: 3, fence: 1 },
    leasedUntil: 60_000,
    openCandidates: new Set(),
    sweep: null,
    isReading: false,
  }
}

test('a sweep reads every slot of its range once, wherever it starts and whatever the chunks', () => {
  fc.assert(
    fc.property(
      fc.nat(255),
      fc.array(fc.integer({ min: 1, max: 256 }), { minLength: 256, maxLength: 256 }),
      (first, lengths) => {
        const range = held()
        startSweep(range, first)
        const read: number[] = []
        for (const length of lengths) {
          const slots = nextSlots(range, length)
          if (slots === null) break
          for (let slot = slots.from; slot <= slots.to; slot++) read.push(slot)
          range.sweep!.slotsRead += slots.to - slots.from + 1
          assert.equal(isRangeDone(range), range.sweep!.slotsRead === 256)
        }
        assert.deepEqual(
          read.toSorted((a, b) => a - b),
          Array.from({ length: 256 }, (_, index) => 768 + index),
        )
        assert.equal(read[0], 768 + first)
      },
    ),
  )
})

test('a range is swept again when the next name is due: at most a minute later, and at least a hundred times the last duration', () => {
  const swept = (count: Partial<SlotCount>, took: number, isLeft = false): number => {
    const range = held()
    startSweep(range, 0)
    Object.assign(range.sweep!, {
      slotsRead: 256,
      tookMs: took,
      hasReturned: isLeft,
      count: { ...EMPTY_SWEEP_COUNT, ...count },
    })
    return finishedSweep(range, NOW, { min: 0, max: 60 })!.nextSweep - NOW
  }
  assert.equal(swept({ next: NOW + 20 }, 10), 20)
  assert.equal(swept({ next: NOW + DAY }, 10), 60)
  assert.equal(swept({}, 10), 60)
  assert.equal(swept({ next: NOW + 1 }, 3_000), 300)
  assert.equal(swept({}, 3_000, true), 0, 'names were put back')
  assert.equal(finishedSweep({ ...held(), sweep: null }, NOW, { min: 0, max: 60 }), null)
})

test('a chunk grows while it is short, and shrinks after it took too long or returned too many names', () => {
  assert.equal(nextChunkLength(1, { slots: 1, tookMs: 1, due: 0 }), 2)
  assert.equal(nextChunkLength(200, { slots: 100, tookMs: 1, due: 0 }), 256)
  assert.equal(nextChunkLength(64, { slots: 64, tookMs: 40, due: 0 }), 64)
  assert.equal(nextChunkLength(64, { slots: 64, tookMs: 101, due: 0 }), 32)
  assert.equal(nextChunkLength(64, { slots: 64, tookMs: 1, due: 10_000 }), 32)
  assert.equal(nextChunkLength(1, { slots: 1, tookMs: 5_000, due: 0 }), 1)
})

function candidate(
  name: string,
  kind: LeasedCandidate['kind'] = 'due',
  places: RateLimitTargets = {},
): LeasedCandidate {
  const visit = visitOf(name, 0, 0)
  return {
    id: named(name),
    name: named(name),
    state: visit,
    kind,
    prior: 'new',
    heldRange: held(),
    readAt: NOW,
    targets: places,
    requests: new Set(),
  }
}

function visitOf(name: string, last: number, due: number): CrawlState {
  const clocks = last === 0 ? NO_CLOCKS : NO_CLOCKS.with(0, last)
  return {
    name: named(name),
    version: 1,
    clocks,
    dnsFingerprint: 0,
    webFingerprint: 0,
    due,
    failures: 0,
    registered: null,
    forgotten: false,
  }
}

/** A ready queue with a rate limiter that returns a delay for each set of name servers. */
function roomOf(waits: Record<string, number>) {
  const left: string[] = []
  const taken: string[] = []
  const wait = ({ nameServers: servers = '' }: RateLimitTargets): number => waits[servers] ?? 0
  const take = (places: RateLimitTargets): number => {
    taken.push(places.nameServers ?? '')
    return wait(places)
  }
  const pace = { wait, acquire: take, backoffRemaining: () => 0 }
  const low: string[] = []
  const room = new ReadyQueue({
    politeness: pace,
    maxDelayMs: MAX_DELAY_MS,
    selectKind: createKindSelector(DEFAULT_SHARES),
    onRejected: ({ name }) => left.push(name),
    onLow: (kind) => low.push(kind),
  })
  return { room, left, taken, low }
}

test('a name with a short delay waits for it, one with a long delay goes back, and others overtake both', () => {
  const { room, left, taken } = roomOf({ soon: 5_000, far: MAX_DELAY_MS + 1 })
  room.add(candidate('soon.example', 'due', { nameServers: 'soon' }))
  room.add(candidate('far.example', 'due', { nameServers: 'far' }))
  room.add(candidate('free.example', 'due', { nameServers: 'free' }))
  assert.equal(room.next(1_000)?.name, 'free.example')
  assert.equal(room.next(1_000), null)
  assert.deepEqual([left, room.nextRelease()], [['far.example'], 6_000])
  assert.equal(room.next(5_999), null)
  assert.equal(room.next(6_000)?.name, 'soon.example')
  assert.deepEqual(taken, ['soon', 'free'], 'each turn is taken once')
  assert.equal(room.size, 0)
})

test('no probe starts at an address that entered backoff while its name waited', () => {
  let now = 0
  const address = parseAddress('192.0.2.1')!
  const pace = makePolitenessLimiter({ nowMs: () => now })
  const left: string[] = []
  const room = new ReadyQueue({
    politeness: pace,
    maxDelayMs: MAX_DELAY_MS,
    selectKind: createKindSelector(DEFAULT_SHARES),
    onRejected: ({ name }) => left.push(name),
    onLow() {},
  })
  for (const name of ['a.example', 'b.example', 'c.example']) room.add(candidate(name, 'due', { addresses: [address] }))
  assert.equal(room.next(now)?.name, 'a.example')
  assert.equal(room.next(now), null)
  pace.backOff(address, 3_500)
  for (now = 1_000; now < 3_500; now += 500) assert.equal(room.next(now), null, `the address rests at ${now}`)
  const started: number[] = []
  for (; now < 9_000; now += 500) if (room.next(now) !== null) started.push(now)
  assert.deepEqual([started.length, left], [2, []], `at ${started}`)
  room.add(candidate('d.example', 'due', { addresses: [address] }))
  room.add(candidate('e.example', 'due', { addresses: [address] }))
  assert.equal(room.next(now)?.name, 'd.example')
  assert.equal(room.next(now), null)
  pace.backOff(address, 60_000)
  now += 1_000
  assert.equal(room.next(now), null)
  assert.deepEqual([left, room.size], [['e.example'], 0], 'it goes back where that is long')
})

test('a name whose targets are already acquired starts at once, and acquires none', () => {
  const { room, taken, left } = roomOf({ far: MAX_DELAY_MS + 1 })
  room.add(candidate('granted.example', 'new', { nameServers: 'far' }), true)
  assert.equal(room.next(0)?.name, 'granted.example')
  assert.deepEqual([taken, left, room.size], [[], [], 0])
})

test('a name that is removed while it waits is not returned', () => {
  const { room } = roomOf({ soon: 5_000 })
  const removed = candidate('gone.example', 'due', { nameServers: 'soon' })
  room.add(removed)
  assert.equal(room.next(0), null)
  room.remove(removed)
  assert.equal(room.next(5_000), null)
  assert.equal(room.waitingCount('due'), 0)
})

test('more names are requested whenever too few wait, whether names start, wait, leave or are removed', () => {
  const far = roomOf({ far: MAX_DELAY_MS + 1, soon: 5_000 })
  const fill = (kind: LeasedCandidate['kind'], servers: string): LeasedCandidate[] => {
    const all = Array.from({ length: REFILL_BELOW }, (_, index) =>
      candidate(`${kind}${servers}${index}.example`, kind, { nameServers: servers }),
    )
    for (const each of all) far.room.add(each)
    return all
  }
  fill('due', 'far')
  fill('new', 'soon')
  far.room.next(0)
  assert.deepEqual(far.low.toSorted(), ['due', 'new'])
  for (let round = 0; round < 2; round++) for (const each of fill('lookup', '')) far.room.remove(each)
  fill('followup', '')
  assert.equal(far.room.next(0)?.kind, 'followup')
  assert.deepEqual(far.low.slice(2), ['lookup', 'lookup', 'followup'])
})

test('the queue has a limited number of names per kind, and a crawl request changes the kind of a name', () => {
  const { room } = roomOf({})
  const first = candidate('a.example')
  room.add(first)
  room.add(candidate('b.example'))
  assert.deepEqual(
    [room.capacityLeft('due'), room.capacityLeft('lookup')],
    [MAX_CANDIDATES_PER_KIND - 2, MAX_CANDIDATES_PER_KIND],
  )
  room.promote(first, 'lookup')
  assert.deepEqual([room.waitingCount('due'), room.waitingCount('lookup'), first.kind], [1, 1, 'lookup'])
})

test('a count that a probe corrected belongs to another sweep', () => {
  const at = (days: number): number => NOW - days * DAY
  for (const [last, due, expected] of [
    [0, 0, { neverProbed: 1, due: 1, overdue: 0 }],
    [at(40), at(10), { neverProbed: 0, due: 1, overdue: 1 }],
    [at(8), at(0), { neverProbed: 0, due: 1, overdue: 0 }],
  ] as const) {
    const place = last === 0 ? -1 : AGE_DAYS.findIndex((days) => NOW - last <= days * DAY)
    const ages = EMPTY_SWEEP_COUNT.ages.map((_, index) => Number(index === place))
    const before: SlotCount = addSweepCounts(
      { ...EMPTY_SWEEP_COUNT, names: 1, ...expected, ages },
      { ...EMPTY_SWEEP_COUNT, names: 5, next: NOW + 9 },
    )
    const after = countAfterProbe(before, visitOf('a.example', last, due), NOW, NOW + DAY)
    const young = EMPTY_SWEEP_COUNT.ages.map((_, index) => Number(index === 0))
    assert.deepEqual(after, { names: 6, due: 0, overdue: 0, neverProbed: 0, next: NOW + 9, ages: young })
  }
})

test('quantiles are between the limits of their buckets', () => {
  assert.equal(quantiles([10, 20], [0, 0, 0]), null)
  assert.deepEqual(quantiles([10, 20], [100, 0, 0]), { p50: 5, p95: 9.5, p99: 9.9 })
  assert.deepEqual(quantiles([10, 20], [50, 50, 0]), { p50: 10, p95: 19, p99: 19.8 })
  assert.deepEqual(quantiles([10, 20], [0, 0, 3]), { p50: 20, p95: 20, p99: 20 })
})

test('a crawler reports its rate of the last minute, its lags and why it pauses', () => {
  const figures = new CrawlStats()
  for (let second = 0; second < 120; second++) figures.countProbe('due', 'ok', second * 1000)
  figures.recordLag(5)
  figures.recordLag(1e9)
  assert.match(figures.notReadyReason!, /^no self-check/)
  figures.resume()
  assert.equal(figures.notReadyReason, null)
  figures.pauseFor('self_check', 'no resolver answers', 100_000)
  figures.pauseFor('store', 'the store failed', 110_000)
  const { rate, probes: visits, lags, pause } = figures.report(120_000)
  assert.ok(Math.abs(rate - 1) < 0.1, `${rate}`)
  assert.deepEqual([visits, lags[0], lags[LAG_BOUNDS_SECONDS.length]], [120, 1, 1])
  assert.deepEqual(pause, { reason: 'store', message: 'the store failed', seconds: 20 })
})

test('the names of a set of name servers are counted, and count half after a round', () => {
  const met = new NameServerCounts()
  for (let count = 1; count <= 100; count++) assert.equal(met.add('a.example b.example', 0), count)
  assert.equal(met.add('c.example', 0), 1)
  assert.equal(met.add('a.example b.example', FULL_CYCLE_SECONDS * 1000), 51)
})
