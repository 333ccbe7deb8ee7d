/** The rules of the schedule that need no store: sweeps of ranges, the room, counts, and what is told of them. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { NO_CLOCKS, type Visit } from '../../src/apply/known.ts'
import { makePace, type Places, ROUND_SECONDS } from '../../src/crawl/pace.ts'
import { afterVisit, NOTHING, plus } from '../../src/schedule/count.ts'
import { Figures, LAG_SECONDS } from '../../src/schedule/figures.ts'
import { Met } from '../../src/schedule/met.ts'
import { quantiles } from '../../src/schedule/quantiles.ts'
import { beginSweep, type Candidate, type Held, isDone, nextSlots, sweepOf } from '../../src/schedule/range.ts'
import { nextLength } from '../../src/schedule/reader.ts'
import { LOW, PATIENCE, PLACES, Room } from '../../src/schedule/room.ts'
import { SHARES, turnsBy } from '../../src/schedule/turns.ts'
import { AGE_DAYS, type Count } from '../../src/store/schedule.ts'
import { parseAddress } from '../../src/words/address.ts'
import { named } from '../crawl/internet.ts'

const NOW = 1_800_000_000
const DAY = 86_400

function held(): Held {
  return { lease: { range: 3, fence: 1 }, until: 60_000, open: new Set(), sweep: null, isBusy: false }
}

test('a sweep reads every slot of its range once, wherever it begins and whatever the pieces', () => {
  fc.assert(
    fc.property(
      fc.nat(255),
      fc.array(fc.integer({ min: 1, max: 256 }), { minLength: 256, maxLength: 256 }),
      (first, lengths) => {
        const range = held()
        beginSweep(range, first)
        const read: number[] = []
        for (const length of lengths) {
          const slots = nextSlots(range, length)
          if (slots === null) break
          for (let slot = slots.from; slot <= slots.to; slot++) read.push(slot)
          range.sweep!.read += slots.to - slots.from + 1
          assert.equal(isDone(range), range.sweep!.read === 256)
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

test('a range is swept again when the next name is due, a minute later at most, and a hundred times what it took at least', () => {
  const swept = (count: Partial<Count>, took: number, isLeft = false): number => {
    const range = held()
    beginSweep(range, 0)
    Object.assign(range.sweep!, { read: 256, took, isLeft, count: { ...NOTHING, ...count } })
    return sweepOf(range, NOW, { least: 0, most: 60 })!.next - NOW
  }
  assert.equal(swept({ next: NOW + 20 }, 10), 20)
  assert.equal(swept({ next: NOW + DAY }, 10), 60)
  assert.equal(swept({}, 10), 60)
  assert.equal(swept({ next: NOW + 1 }, 3_000), 300)
  assert.equal(swept({}, 3_000, true), 0, 'names were put back')
  assert.equal(sweepOf({ ...held(), sweep: null }, NOW, { least: 0, most: 60 }), null)
})

test('a piece is made longer while it is short, and shorter when it took too long or brought too much', () => {
  assert.equal(nextLength(1, { slots: 1, took: 1, due: 0, gained: 0 }), 2)
  assert.equal(nextLength(200, { slots: 100, took: 1, due: 0, gained: 0 }), 256)
  assert.equal(nextLength(64, { slots: 64, took: 40, due: 0, gained: 0 }), 64)
  assert.equal(nextLength(64, { slots: 64, took: 101, due: 0, gained: 0 }), 32)
  assert.equal(nextLength(64, { slots: 64, took: 1, due: 10_000, gained: 0 }), 32)
  assert.equal(nextLength(1, { slots: 1, took: 5_000, due: 0, gained: 0 }), 1)
})

function candidate(name: string, kind: Candidate['kind'] = 'due', places: Places = {}): Candidate {
  const visit = visitOf(name, 0, 0)
  return { name: named(name), visit, kind, past: 'new', range: held(), read: NOW, places, wishes: new Set() }
}

function visitOf(name: string, last: number, due: number): Visit {
  const clocks = last === 0 ? NO_CLOCKS : NO_CLOCKS.with(0, last)
  return { name: named(name), version: 1, clocks, dnsPrint: 0, webPrint: 0, due, failures: 0, forgotten: false }
}

/** A room whose pace says for each name of servers how long one waits there. */
function roomOf(waits: Record<string, number>) {
  const left: string[] = []
  const taken: string[] = []
  const wait = ({ servers = '' }: Places): number => waits[servers] ?? 0
  const take = (places: Places): number => {
    taken.push(places.servers ?? '')
    return wait(places)
  }
  const pace = { wait, take, restOf: () => 0 }
  const low: string[] = []
  const room = new Room({
    pace,
    turns: turnsBy(SHARES),
    onLeft: ({ name }) => left.push(name),
    onLow: (kind) => low.push(kind),
  })
  return { room, left, taken, low }
}

test('a name whose turn comes soon waits for it, one whose turn is far off goes back, and others pass them', () => {
  const { room, left, taken } = roomOf({ soon: 5_000, far: PATIENCE + 1 })
  room.add(candidate('soon.example', 'due', { servers: 'soon' }))
  room.add(candidate('far.example', 'due', { servers: 'far' }))
  room.add(candidate('free.example', 'due', { servers: 'free' }))
  assert.equal(room.take(1_000)?.name, 'free.example')
  assert.equal(room.take(1_000), null)
  assert.deepEqual([left, room.nextTurn()], [['far.example'], 6_000])
  assert.equal(room.take(5_999), null)
  assert.equal(room.take(6_000)?.name, 'soon.example')
  assert.deepEqual(taken, ['soon', 'free'], 'each turn is taken once')
  assert.equal(room.size, 0)
})

test('no name begins at an address that came to rest while it waited for its turn there', () => {
  let now = 0
  const address = parseAddress('192.0.2.1')!
  const pace = makePace({ ticks: () => now })
  const left: string[] = []
  const room = new Room({
    pace,
    turns: turnsBy(SHARES),
    onLeft: ({ name }) => left.push(name),
    onLow() {},
  })
  for (const name of ['a.example', 'b.example', 'c.example']) room.add(candidate(name, 'due', { addresses: [address] }))
  assert.equal(room.take(now)?.name, 'a.example')
  assert.equal(room.take(now), null)
  pace.rest(address, 3_500)
  for (now = 1_000; now < 3_500; now += 500) assert.equal(room.take(now), null, `the address rests at ${now}`)
  const begun: number[] = []
  for (; now < 9_000; now += 500) if (room.take(now) !== null) begun.push(now)
  assert.deepEqual([begun.length, left], [2, []], `at ${begun}`)
  room.add(candidate('d.example', 'due', { addresses: [address] }))
  room.add(candidate('e.example', 'due', { addresses: [address] }))
  assert.equal(room.take(now)?.name, 'd.example')
  assert.equal(room.take(now), null)
  pace.rest(address, 60_000)
  now += 1_000
  assert.equal(room.take(now), null)
  assert.deepEqual([left, room.size], [['e.example'], 0], 'it goes back where that is long')
})

test('a name that is taken away while it waits for its turn does not come up', () => {
  const { room } = roomOf({ soon: 5_000 })
  const gone = candidate('gone.example', 'due', { servers: 'soon' })
  room.add(gone)
  assert.equal(room.take(0), null)
  room.remove(gone)
  assert.equal(room.take(5_000), null)
  assert.equal(room.waiting('due'), 0)
})

test('names are wanted again whenever too few wait, whether they begin, wait for their turn, leave or are taken away', () => {
  const far = roomOf({ far: PATIENCE + 1, soon: 5_000 })
  const fill = (kind: Candidate['kind'], servers: string): Candidate[] => {
    const all = Array.from({ length: LOW }, (_, index) =>
      candidate(`${kind}${servers}${index}.example`, kind, { servers }),
    )
    for (const each of all) far.room.add(each)
    return all
  }
  fill('due', 'far')
  fill('fresh', 'soon')
  far.room.take(0)
  assert.deepEqual(far.low.toSorted(), ['due', 'fresh'])
  for (let round = 0; round < 2; round++) for (const each of fill('asked', '')) far.room.remove(each)
  fill('followup', '')
  assert.equal(far.room.take(0)?.kind, 'followup')
  assert.deepEqual(far.low.slice(2), ['asked', 'asked', 'followup'])
})

test('the room has so many places of a kind, and one that is wished for changes its kind', () => {
  const { room } = roomOf({})
  const first = candidate('a.example')
  room.add(first)
  room.add(candidate('b.example'))
  assert.deepEqual([room.free('due'), room.free('asked')], [PLACES - 2, PLACES])
  room.promote(first, 'asked')
  assert.deepEqual([room.waiting('due'), room.waiting('asked'), first.kind], [1, 1, 'asked'])
})

test('a count that was corrected by a visit is that of another sweep', () => {
  const at = (days: number): number => NOW - days * DAY
  for (const [last, due, expected] of [
    [0, 0, { fresh: 1, due: 1, overdue: 0 }],
    [at(40), at(10), { fresh: 0, due: 1, overdue: 1 }],
    [at(8), at(0), { fresh: 0, due: 1, overdue: 0 }],
  ] as const) {
    const place = last === 0 ? -1 : AGE_DAYS.findIndex((days) => NOW - last <= days * DAY)
    const ages = NOTHING.ages.map((_, index) => Number(index === place))
    const before: Count = plus({ ...NOTHING, names: 1, ...expected, ages }, { ...NOTHING, names: 5, next: NOW + 9 })
    const after = afterVisit(before, visitOf('a.example', last, due), NOW, NOW + DAY)
    const young = NOTHING.ages.map((_, index) => Number(index === 0))
    assert.deepEqual(after, { names: 6, due: 0, overdue: 0, fresh: 0, next: NOW + 9, ages: young })
  }
})

test('quantiles lie between the bounds that hold them', () => {
  assert.equal(quantiles([10, 20], [0, 0, 0]), null)
  assert.deepEqual(quantiles([10, 20], [100, 0, 0]), { p50: 5, p95: 9.5, p99: 9.9 })
  assert.deepEqual(quantiles([10, 20], [50, 50, 0]), { p50: 10, p95: 19, p99: 19.8 })
  assert.deepEqual(quantiles([10, 20], [0, 0, 3]), { p50: 20, p95: 20, p99: 20 })
})

test('a crawler tells its rate of the last minute, its lags and why it pauses', () => {
  const figures = new Figures()
  for (let second = 0; second < 120; second++) figures.end('due', 'ok', second * 1000)
  figures.lag(5)
  figures.lag(1e9)
  assert.match(figures.trouble!, /^no control question/)
  figures.goesOn()
  assert.equal(figures.trouble, null)
  figures.paused('blind', 'no resolver answers', 100_000)
  figures.paused('store', 'the store fails', 110_000)
  const { rate, visits, lags, pause } = figures.report(120_000)
  assert.ok(Math.abs(rate - 1) < 0.1, `${rate}`)
  assert.deepEqual([visits, lags[0], lags[LAG_SECONDS.length]], [120, 1, 1])
  assert.deepEqual(pause, { reason: 'store', why: 'the store fails', seconds: 20 })
})

test('the names of a set of name servers are counted, and count half after a round', () => {
  const met = new Met()
  for (let count = 1; count <= 100; count++) assert.equal(met.add('a.example b.example', 0), count)
  assert.equal(met.add('c.example', 0), 1)
  assert.equal(met.add('a.example b.example', ROUND_SECONDS * 1000), 51)
})
