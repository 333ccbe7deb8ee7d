/**
 * Baselines and the anomaly detector: noise raises no alarm, a lying resolver does, and a lasting change is finally
 * accepted.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type CrawlState, NO_CLOCKS, unknownCrawlState, type WebFacts } from '../../../src/apply/crawl-state.ts'
import { DEFAULT_PROBE_INTERVALS } from '../../../src/apply/next-probe.ts'
import {
  type AnomalyState,
  type AnomalyVerdict,
  detectAnomaly,
  INITIAL_ANOMALY_STATE,
} from '../../../src/crawler/anomaly/anomaly-detector.ts'
import { anomalyOf, baselineBlocks } from '../../../src/crawler/anomaly/baseline.ts'
import { type PriorState, priorStateOf } from '../../../src/crawler/anomaly/prior-state.ts'
import type { OutcomeCount } from '../../../src/store/port/schedule.ts'
import { named } from '../../probe/internet.ts'

const HOUR = 3600
const NOW = 1_800_000_000
const FULL = 2_000
const SLICE = 500
/** With one batch per second. */
const SLICES_A_YEAR = 31_536_000

const SHARES = 3
const WINDOWS = 4

const VISIT: CrawlState = { ...unknownCrawlState(named('a.example')), version: 1 }

type Levels = { servfail: number; nxdomain: number; none: number }

/** A deterministic random generator (mulberry32). */
function dice(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** One row of outcomes of probes, each with at most one special outcome. */
function sample(random: () => number, visits: number, levels: Levels, hour: number, kind = 'website'): OutcomeCount {
  const row: OutcomeCount = { hour, kind, probes: visits, servfail: 0, nxdomain: 0, noWebsite: 0 }
  for (let visit = 0; visit < visits; visit++) {
    const thrown = random()
    if (thrown < levels.servfail) row.servfail++
    else if (thrown < levels.servfail + levels.nxdomain) row.nxdomain++
    else if (thrown < levels.servfail + levels.nxdomain + levels.none) row.noWebsite++
  }
  return row
}

const USUAL: Levels = { servfail: 0.02, nxdomain: 0.05, none: 0.2 }
/** Turns a share of all answers into NXDOMAIN. */
const lied = (levels: Levels, share: number): Levels => ({
  servfail: levels.servfail * (1 - share),
  nxdomain: levels.nxdomain + (1 - levels.nxdomain) * share,
  none: levels.none * (1 - share),
})

/** A week of hours before `now`. */
function weekOf(random: () => number, levelsAt: (hour: number) => Levels, visits = 1_200, now = NOW): OutcomeCount[] {
  const start = now - (now % HOUR)
  return Array.from({ length: 168 }, (_, back) => start - back * HOUR).map((hour) =>
    sample(random, visits, levelsAt(hour), hour),
  )
}

/** The logarithms of n!, for exact probabilities. */
const factorials = [0]
for (let n = 1; n <= FULL; n++) factorials.push(factorials[n - 1]! + Math.log(n))

function probability(visits: number, count: number, level: number): number {
  if (level === 0 || level === 1) return count === level * visits ? 1 : 0
  const ways = factorials[visits]! - factorials[count]! - factorials[visits - count]!
  return Math.exp(ways + count * Math.log(level) + (visits - count) * Math.log(1 - level))
}

test('binomial noise around any level of the week exceeds a baseline less than once in a year of batches', () => {
  const level = fc.double({ min: 0, max: 0.9, noNaN: true })
  fc.assert(
    fc.property(level, level, fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(), (one, other, at, seed) => {
      const [low, high] = [Math.min(one, other), Math.max(one, other)]
      const random = dice(seed)
      const week = weekOf(random, () => ({ servfail: 0, nxdomain: low + random() * (high - low), none: 0 }))
      const blocks = baselineBlocks(week)
      const shares = blocks.map(({ nxdomain, probes: visits }) => nxdomain / visits)
      const now = Math.min(...shares) + at * (Math.max(...shares) - Math.min(...shares))
      for (const probes of [SLICE, FULL]) {
        let alarm = 0
        for (let nxdomain = 0; nxdomain <= probes; nxdomain++) {
          const counts = { kind: 'website', probes: probes, servfail: 0, nxdomain, noWebsite: 0 }
          if (anomalyOf(counts, blocks) !== null) alarm += probability(probes, nxdomain, now)
        }
        assert.ok(alarm * SLICES_A_YEAR * SHARES * WINDOWS < 1, `${alarm} at ${now} between ${low} and ${high}`)
      }
    }),
    { numRuns: 25 },
  )
})

test('a year of correct batches, one per hour, is saved completely', () => {
  const random = dice(1)
  const blocks = baselineBlocks(weekOf(random, () => USUAL))
  for (let slice = 0; slice < 8_760; slice++) {
    const counts = sample(random, SLICE, USUAL, NOW)
    assert.equal(anomalyOf(counts, blocks), null)
  }
})

test('a resolver that turns a fifth of all answers into NXDOMAIN is detected within 2,000 probes', () => {
  const level = fc.double({ min: 0, max: 0.3, noNaN: true })
  fc.assert(
    fc.property(level, fc.nat(), (nxdomain, seed) => {
      const random = dice(seed)
      const levels = { servfail: 0.02, nxdomain, none: 0.2 }
      const week = weekOf(random, () => levels)
      let watch: AnomalyState = INITIAL_ANOMALY_STATE
      for (let slice = 0; slice < 6; slice++) {
        const judged = detectAnomaly(watch, [sample(random, SLICE, levels, NOW)], week, NOW)
        assert.equal(judged.anomaly, null)
        watch = judged.state
      }
      let caught: string | null = null
      for (let slice = 0; slice < FULL / SLICE && caught === null; slice++) {
        const judged = detectAnomaly(watch, [sample(random, SLICE, lied(levels, 0.2), NOW)], week, NOW)
        watch = judged.state
        caught = judged.anomaly
      }
      assert.match(
        caught ?? 'not caught',
        /^nxdomain is [\d.]+ % of the last \d+ probes \(website\); the maximum of the last week is /,
      )
    }),
    { numRuns: 60 },
  )
})

test('a batch of more probes than the detector looks back on is still judged', () => {
  const random = dice(2)
  const week = weekOf(random, () => USUAL)
  const slice = [sample(random, 2 * FULL, lied(USUAL, 0.2), NOW)]
  assert.match(
    detectAnomaly(INITIAL_ANOMALY_STATE, slice, week, NOW).anomaly ?? 'saved',
    /^nxdomain is .* of the last 4000 probes/,
  )
})

test('falling shares raise no alarm, and neither do names that are new, failed before or changed lately', () => {
  const random = dice(3)
  const week = weekOf(random, () => USUAL)
  const well = sample(random, FULL, { servfail: 0, nxdomain: 0, none: 0 }, NOW)
  assert.equal(detectAnomaly(INITIAL_ANOMALY_STATE, [well], week, NOW).anomaly, null)
  for (const kind of ['new', 'failed', 'recentlyChanged'] satisfies PriorState[]) {
    const history = week.map((row) => ({ ...row, kind }))
    assert.equal(
      detectAnomaly(INITIAL_ANOMALY_STATE, [sample(random, FULL, lied(USUAL, 0.9), NOW, kind)], history, NOW).anomaly,
      null,
    )
  }
})

test('names without a website are judged by whether they exist, not by whether they have one', () => {
  const random = dice(9)
  const week = weekOf(random, () => USUAL).map((row) => ({ ...row, kind: 'dns' }))
  const judged = (levels: Levels) =>
    detectAnomaly(INITIAL_ANOMALY_STATE, [sample(random, FULL, levels, NOW, 'dns')], week, NOW).anomaly
  assert.equal(judged({ ...USUAL, none: 0.9 }), null)
  assert.match(judged({ ...USUAL, servfail: 0.2 })!, /^servfail is .* \(dns\); the maximum of the last week is/)
})

test('a few probes of one kind among many others are too few, and many batches with a few are enough', () => {
  const random = dice(10)
  const week = weekOf(random, () => USUAL)
  const slicesOf = (others: OutcomeCount): (string | null)[] => {
    const whys: (string | null)[] = []
    for (let slice = 0, watch = INITIAL_ANOMALY_STATE; slice < 40; slice++) {
      const judged = detectAnomaly(watch, [sample(random, 20, lied(USUAL, 0.5), NOW), others], week, NOW)
      watch = judged.state
      whys.push(judged.anomaly)
    }
    return whys
  }
  assert.ok(slicesOf(sample(random, 480, USUAL, NOW, 'recentlyChanged')).every((why) => why === null))
  assert.ok(slicesOf(sample(random, 480, USUAL, NOW, 'new')).some((why) => why !== null))
})

test('a name counts by its prior state, the result of its last probe', () => {
  const past = (days: number, web: boolean | null, other: Partial<CrawlState> = {}) =>
    priorStateOf(
      { ...VISIT, clocks: NO_CLOCKS.with(0, NOW), due: NOW + days * 24 * HOUR, ...other },
      { web: web === null ? null : ({ has_website: web } as WebFacts) },
      DEFAULT_PROBE_INTERVALS,
    )
  assert.deepEqual([past(7, true), past(7, false), past(7, null)], ['website', 'dns', 'dns'])
  assert.deepEqual([past(2, true), past(7, true, { failures: 1 })], ['recentlyChanged', 'failed'])
  assert.deepEqual(
    [past(7, true, { clocks: NO_CLOCKS }), priorStateOf(VISIT, null, DEFAULT_PROBE_INTERVALS)],
    ['new', 'new'],
  )
})

test('each kind has its own baseline, and none before a day of history', () => {
  const random = dice(4)
  const week = weekOf(random, () => USUAL)
  const bad = lied(USUAL, 0.5)
  assert.equal(detectAnomaly(INITIAL_ANOMALY_STATE, [sample(random, FULL, bad, NOW, 'dns')], week, NOW).anomaly, null)
  assert.notEqual(detectAnomaly(INITIAL_ANOMALY_STATE, [sample(random, FULL, bad, NOW)], week, NOW).anomaly, null)
  const short = week.filter(({ hour }) => hour > NOW - 26 * HOUR)
  assert.equal(detectAnomaly(INITIAL_ANOMALY_STATE, [sample(random, FULL, bad, NOW)], short, NOW).anomaly, null)
  const sparse = week.map((row) => ({ ...row, probes: 50, servfail: 1, nxdomain: 2, noWebsite: 10 }))
  assert.equal(detectAnomaly(INITIAL_ANOMALY_STATE, [sample(random, FULL, bad, NOW)], sparse, NOW).anomaly, null)
})

test('batches of more than a day ago are not judged together with the newest one', () => {
  const random = dice(12)
  const week = weekOf(random, () => USUAL)
  const verdictAfter = (age: number): string | null => {
    let state: AnomalyState = INITIAL_ANOMALY_STATE
    for (let batch = 0; batch < 9; batch++) {
      const earlier = detectAnomaly(state, [sample(random, 20, lied(USUAL, 0.5), NOW - age)], week, NOW - age)
      assert.equal(earlier.anomaly, null, 'too few probes')
      state = earlier.state
    }
    return detectAnomaly(state, [sample(random, 60, lied(USUAL, 0.5), NOW)], week, NOW).anomaly
  }
  assert.notEqual(verdictAfter(24 * HOUR - 1), null)
  assert.equal(verdictAfter(24 * HOUR), null)
})

/** Batches every five minutes after an alarm, until one is saved. Returns after how many hours, and its verdict. */
function pausedFor(random: () => number, week: OutcomeCount[], levelsAt: (seconds: number) => Levels, visits = SLICE) {
  let judged: AnomalyVerdict = { state: INITIAL_ANOMALY_STATE, anomaly: 'none yet', message: null }
  for (let seconds = 0; seconds < 60 * HOUR; seconds += 300) {
    judged = detectAnomaly(
      judged.state,
      [sample(random, visits, levelsAt(seconds), NOW + seconds)],
      week,
      NOW + seconds,
    )
    if (seconds === 0) assert.notEqual(judged.anomaly, null)
    if (judged.anomaly === null) return { hours: seconds / HOUR, judged }
  }
  return assert.fail('paused for ever')
}

test('an alarm that is over ends at the next trial', () => {
  const random = dice(5)
  const week = weekOf(random, () => USUAL)
  const { hours, judged } = pausedFor(random, week, (seconds) => (seconds < HOUR ? lied(USUAL, 0.2) : USUAL))
  assert.ok(hours >= 1 && hours <= 2.5, String(hours))
  assert.equal(judged.message, 'outcomes match the baseline again')
})

test('a lasting change is accepted after half a day, and belongs to the baseline from then on', () => {
  const random = dice(6)
  const week = weekOf(random, () => USUAL)
  const changed = lied(USUAL, 0.2)
  const { hours, judged } = pausedFor(random, week, () => changed)
  assert.ok(hours >= 12 && hours <= 14, String(hours))
  assert.match(judged.message!, /^change accepted after it lasted: nxdomain is/)
  let { state: watch } = judged
  for (const levels of [changed, USUAL]) {
    for (let slice = 0; slice < 20; slice++) {
      const at = NOW + 15 * HOUR
      const next = detectAnomaly(watch, [sample(random, SLICE, levels, at)], week, at)
      assert.equal(next.anomaly, null)
      watch = next.state
    }
  }
})

test('a change that never settles is accepted after two days, so that no crawl pauses forever', () => {
  const random = dice(7)
  const week = weekOf(random, () => USUAL)
  const wild = (seconds: number) => lied(USUAL, 0.2 + (0.7 * seconds) / (60 * HOUR))
  const { hours, judged } = pausedFor(random, week, wild)
  assert.ok(hours >= 48 && hours <= 50, String(hours))
  assert.match(judged.message!, /^change accepted/)
})

test('batches during an alarm are discarded, and those before the next trial do not count', () => {
  const random = dice(8)
  const week = weekOf(random, () => USUAL)
  const { state: watch, anomaly: why } = detectAnomaly(
    INITIAL_ANOMALY_STATE,
    [sample(random, FULL, lied(USUAL, 0.2), NOW)],
    week,
    NOW,
  )
  assert.equal(watch.alarm?.nextTrialAt, NOW + 300)
  const early = detectAnomaly(watch, [sample(random, FULL, USUAL, NOW)], week, NOW + 299)
  assert.deepEqual([early.anomaly, early.state.alarm?.trials], [why, []])
  const other = detectAnomaly(watch, [sample(random, FULL, USUAL, NOW, 'dns')], week, NOW + 300)
  assert.equal(other.anomaly, why, 'a trial without visits of the kind in doubt says nothing of it')
})
