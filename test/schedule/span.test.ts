/** What a span has in hand, where one of its lanes comes between two steps of another. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_CLOCKS } from '../../src/apply/known.ts'
import { makePace } from '../../src/crawl/pace.ts'
import type { Crawl } from '../../src/schedule/crawl.ts'
import { Figures } from '../../src/schedule/figures.ts'
import { type Candidate, type Held, isDone } from '../../src/schedule/range.ts'
import { newMemory, Span } from '../../src/schedule/span.ts'
import { SHARES } from '../../src/schedule/turns.ts'
import type { Store } from '../../src/store/store.ts'
import { named } from '../crawl/internet.ts'
import { makeWorld } from './world.ts'

/** A span over a store; what a span alone does not ask for is left out. */
function spanOf(store: Store): Span {
  const clock = { ticks: () => 0, wait: async () => {} }
  const crawl = {
    store,
    clock,
    pace: makePace(clock),
    shares: SHARES,
    rate: null,
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
  return { name, visit, kind: 'asked', range, read: 0, places: {}, wishes: new Set(['asked']) }
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
