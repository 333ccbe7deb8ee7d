/** What a span has in hand, where one of its lanes comes between two steps of another. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RHYTHM } from '../../src/apply/due.ts'
import { NO_CLOCKS } from '../../src/apply/known.ts'
import { makePace } from '../../src/crawl/pace.ts'
import { admit } from '../../src/schedule/admission.ts'
import type { Crawl } from '../../src/schedule/crawl.ts'
import { Figures } from '../../src/schedule/figures.ts'
import { newMemory } from '../../src/schedule/memory.ts'
import { beginSweep, type Candidate, type Held, isDone, sweepOf } from '../../src/schedule/range.ts'
import { Span } from '../../src/schedule/span.ts'
import { SHARES } from '../../src/schedule/turns.ts'
import type { Store } from '../../src/store/store.ts'
import { RANGE_SLOTS } from '../../src/words/name.ts'
import { named } from '../crawl/internet.ts'
import { BEGIN, DAY, makeWorld, visited } from './world.ts'

/** A span over a store; what a span alone does not ask for is left out. */
function spanOf(store: Store): Span {
  const clock = { ticks: () => 0, wait: async () => {} }
  const crawl = {
    store,
    clock,
    pace: makePace(clock),
    shares: SHARES,
    rate: null,
    rhythm: RHYTHM,
    figures: new Figures(),
    holder: 'one',
  }
  const times = { sweeps: { least: 0, most: 60 } }
  const whole = { ...crawl, times } as unknown as Crawl
  return new Span(whole, newMemory(whole))
}

function candidateOf(range: Held): Candidate {
  const name = named('a.example')
  const visit = { name, version: 1, clocks: NO_CLOCKS, dnsPrint: 0, webPrint: 0, due: 0, failures: 0, forgotten: false }
  return { name, visit, kind: 'asked', past: 'new', range, read: 0, places: {}, wishes: new Set(['asked']) }
}

test('a range in which a name comes up just as it is being given back is not given back', async (t) => {
  const { store, now } = await makeWorld(t)
  let meanwhile = (): void => {}
  const span = spanOf({
    ...store,
    async now() {
      meanwhile()
      return now()
    },
  })
  const [range] = await span.lease(1)
  range!.isBusy = false
  assert.ok(isDone(range!))
  meanwhile = () => span.held.has(range!.lease.range) && span.admit(candidateOf(range!))
  await span.release()
  assert.equal(range!.open.size, 1)
  assert.deepEqual(await store.schedule.renew([range!.lease]), [range!.lease], 'the lease stands')
  assert.ok(span.held.has(range!.lease.range))
})

test('the range of a name that goes back to its slot is swept again at once', async (t) => {
  const { store, now } = await makeWorld(t)
  const span = spanOf(store)
  const [range] = await span.lease(1)
  beginSweep(range!, 0)
  range!.sweep!.read = RANGE_SLOTS
  const candidate = candidateOf(range!)
  span.admit(candidate)
  span.leave(candidate)
  assert.equal(sweepOf(range!, await store.now(), { least: 0, most: 60 })?.next, now())
  assert.deepEqual([span.names.size, span.room.size, isDone(range!)], [0, 0, true])
})

test('what belongs to a lease that is another crawler’s is in hand no more', async (t) => {
  const { store } = await makeWorld(t)
  const span = spanOf(store)
  const [range, other] = await span.lease(2)
  span.admit(candidateOf(range!))
  await store.schedule.release([{ lease: range!.lease, sweep: null }])
  await store.schedule.lease('thief', 1, [range!.lease.range])
  await span.renew()
  assert.deepEqual([[...span.held.values()], span.names.size, span.room.size], [[other], 0, 0])
})

test('a name whose range is lost while its places are read does not come in', async (t) => {
  const { store } = await makeWorld(t)
  const [name] = ['a.example'].map(named)
  await visited(store, [name!], 8 * DAY)
  const [visit] = await store.frontier.visits([name!])
  let lose = (): void => {}
  const span = spanOf({
    ...store,
    frontier: {
      ...store.frontier,
      async currents(names) {
        lose()
        return store.frontier.currents(names)
      },
    },
  })
  const [range] = await span.lease(1)
  lose = () => span.lose(range!)
  await admit(span, [{ visit: visit!, range: range!, wish: null, read: BEGIN }])
  assert.deepEqual([span.names.size, range!.open.size], [0, 0])
})
