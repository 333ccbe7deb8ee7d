/** The leases of a session, if one of its tasks runs between two steps of another. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unknownCrawlState } from '../../src/apply/crawl-state.ts'
import { DEFAULT_PROBE_INTERVALS } from '../../src/apply/next-probe.ts'
import { INITIAL_ANOMALY_STATE } from '../../src/crawler/anomaly/anomaly-detector.ts'
import { admitCandidates } from '../../src/crawler/continuous/admission.ts'
import { createCrawlMemory } from '../../src/crawler/continuous/crawl-memory.ts'
import type { CrawlerDependencies } from '../../src/crawler/continuous/crawler-dependencies.ts'
import {
  finishedSweep,
  type HeldRange,
  isRangeDone,
  type LeasedCandidate,
  startSweep,
} from '../../src/crawler/continuous/held-range.ts'
import { LeasedRanges } from '../../src/crawler/continuous/leased-ranges.ts'
import { DEFAULT_SHARES } from '../../src/crawler/queue/kind-selector.ts'
import { CrawlSession, type SchedulerDependencies } from '../../src/crawler/session.ts'
import { CrawlStats } from '../../src/crawler/status/stats.ts'
import { makePolitenessLimiter } from '../../src/probe/policy/politeness-limiter.ts'
import type { Store } from '../../src/store/port/store.ts'
import { SLOTS_PER_RANGE } from '../../src/values/domain-name.ts'
import { named } from '../probe/internet.ts'
import { BEGIN, DAY, makeWorld, visited } from './world.ts'

/** The leased ranges of a session over a store, without the dependencies that they do not use. */
function spanOf(store: Store): LeasedRanges {
  const clock = { nowMs: () => 0, monotonicMs: () => 0, wait: async () => {} }
  const crawl = {
    store,
    clock,
    politeness: makePolitenessLimiter(clock),
    shares: DEFAULT_SHARES,
    intervals: DEFAULT_PROBE_INTERVALS,
    stats: new CrawlStats(),
    holder: 'one',
  }
  const timings = { sweepSeconds: { min: 0, max: 60 } }
  const whole = { ...crawl, timings } as unknown as CrawlerDependencies
  const scheduler = { ...whole, openSource: () => null } as unknown as SchedulerDependencies<LeasedCandidate>
  const session = new CrawlSession(scheduler, { inFlight: new Set(), anomalyState: INITIAL_ANOMALY_STATE })
  return new LeasedRanges(whole, createCrawlMemory(), session)
}

function candidateOf(range: HeldRange): LeasedCandidate {
  const name = named('a.example')
  return {
    id: name,
    name,
    state: { ...unknownCrawlState(name), version: 1 },
    kind: 'lookup',
    prior: 'new',
    heldRange: range,
    readAt: 0,
    targets: {},
    requests: new Set(['lookup']),
  }
}

test('a range is not released if one of its names is scheduled during the release', async (t) => {
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
  range!.isReading = false
  assert.ok(isRangeDone(range!))
  meanwhile = () => span.heldRanges.has(range!.lease.range) && span.admit(candidateOf(range!))
  await span.release()
  assert.equal(range!.openCandidates.size, 1)
  assert.deepEqual(await store.schedule.renew([range!.lease]), [range!.lease], 'the lease stands')
  assert.ok(span.heldRanges.has(range!.lease.range))
})

test('the range of a name that returns to its slot is swept again at once', async (t) => {
  const { store, now } = await makeWorld(t)
  const span = spanOf(store)
  const [range] = await span.lease(1)
  startSweep(range!, 0)
  range!.sweep!.slotsRead = SLOTS_PER_RANGE
  const candidate = candidateOf(range!)
  span.admit(candidate)
  span.takeBack(candidate, false)
  assert.equal(finishedSweep(range!, await store.now(), { min: 0, max: 60 })?.nextSweep, now())
  assert.deepEqual([span.session.candidates.size, span.session.queue.size, isRangeDone(range!)], [0, 0, true])
})

test('names of a lease that another crawler has acquired are no longer in progress', async (t) => {
  const { store } = await makeWorld(t)
  const span = spanOf(store)
  const [range, other] = await span.lease(2)
  span.admit(candidateOf(range!))
  await store.schedule.release([{ lease: range!.lease, sweep: null }])
  await store.schedule.lease('thief', 1, [range!.lease.range])
  await span.renew()
  assert.deepEqual(
    [[...span.heldRanges.values()], span.session.candidates.size, span.session.queue.size],
    [[other], 0, 0],
  )
})

test('a name whose range is lost while its addresses are read is not scheduled', async (t) => {
  const { store } = await makeWorld(t)
  const [name] = ['a.example'].map(named)
  await visited(store, [name!], 8 * DAY)
  const [visit] = await store.observations.crawlStates([name!])
  let lose = (): void => {}
  const span = spanOf({
    ...store,
    observations: {
      ...store.observations,
      async currentFacts(names) {
        lose()
        return store.observations.currentFacts(names)
      },
    },
  })
  const [range] = await span.lease(1)
  lose = () => span.dropRange(range!)
  await admitCandidates(span, [{ state: visit!, range: range!, requestKind: null, readAt: BEGIN }])
  assert.deepEqual([span.session.candidates.size, range!.openCandidates.size], [0, 0])
})
