/** Tests when a name is due again, depending on the results of its probes. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DEFAULT_PROBE_INTERVALS } from '../../src/apply/next-probe.ts'
import type { DnsPart, Observation } from '../../src/observe/observation.ts'
import { parseObservation } from '../../src/observe/observation-parser.ts'
import type { Instant } from '../../src/values/time.ts'
import { NAMES } from '../store/conformance/arbitraries.ts'
import { name } from '../store/conformance/world.ts'
import { type Known, live, nothing } from './crawl-state.ts'

const NAME = NAMES[0]!
const BEGIN = 1_800_000_000
const { min: soonest, first, max: latest } = DEFAULT_PROBE_INTERVALS

/** `A`: null if it was not queried. */
type Seen = {
  status?: DnsPart['status']
  A?: string[] | null
  AAAA?: string[]
  NS?: string[]
  serial?: number
  text?: string
  ssl?: 'valid' | 'invalid' | 'nocert'
}

function visitAt(
  at: Instant,
  { status = 'ok', A = ['192.0.2.1'], AAAA = [], NS = [], serial = 1, text = 'words', ssl = 'nocert' }: Seen = {},
): Observation {
  const SOA = [
    { primary_nameserver: 'ns.example', admin_email: 'a@example', serial, refresh_seconds: 1, retry_seconds: 1 },
  ]
  const web = { has_website: true, redirect_to_https: false, redirect_to_www: false, only_with_www: false }
  const observation = parseObservation(
    JSON.stringify({
      domain: NAME,
      observed_at: new Date(at * 1000).toISOString(),
      dns: { status, ...(A !== null && { A }), AAAA, NS, SOA: SOA.map((soa) => ({ ...soa, expire_seconds: 1 })) },
      ...(status === 'ok' && { web: { ...web, redirects_to: null, ssl, social_accounts: [], text } }),
    }),
  )
  if (typeof observation === 'string') throw new Error(observation)
  return observation
}

/** Runs each probe when the previous one made it due. Returns the intervals between them in seconds. */
function spans(visits: readonly Seen[], begin = nothing(NAME)): { spans: number[]; known: Known } {
  let known = begin
  let at = BEGIN
  const spans = visits.map((seen) => {
    known = live(known, [visitAt(at, seen)]).known
    const span = known.visit.due - at
    at = known.visit.due
    return span
  })
  return { spans, known }
}

const SAME: Seen = {}
const isAbout = (span: number | undefined, whole: number): boolean =>
  span !== undefined && span >= 0.9 * whole - 1 && span <= 0.95 * whole

test('a name that is only known is due as soon as possible', () => {
  const { known } = live(nothing(NAME), [{ domain: NAME, observed_at: BEGIN, dns: null, web: null }])
  assert.equal(known.visit.due, 0)
})

test('names that are observed together are due between 90 and 95 percent of the interval later, each at its own time', () => {
  const due = Array.from({ length: 200 }, (_, n) => {
    const domain = name(`n${n}.example`)
    return live(nothing(domain), [{ ...visitAt(BEGIN), domain }]).known.visit.due - BEGIN
  })
  assert.ok(due.every((span) => isAbout(span, first)))
  assert.ok(Math.max(...due) - Math.min(...due) > 0.045 * first)
})

test('a name that does not change is probed less and less often, up to the maximum interval minus a little', () => {
  const [one, ...rest] = spans(Array.from({ length: 12 }, () => SAME)).spans
  assert.ok(isAbout(one, first), `${one}`)
  assert.deepEqual(
    rest.toSorted((a, b) => a - b),
    rest,
  )
  assert.ok(isAbout(rest.at(-1), latest), `${rest.at(-1)}`)
})

test('a name that changes is probed sooner', () => {
  const [, before, after] = spans([SAME, SAME, { A: ['192.0.2.2'] }]).spans
  assert.ok(after! < before! && isAbout(after, before! / 2), `${before} ${after}`)
})

test('a changed SOA, a changed page text, and addresses that also changed at the previous probe do not count as a change', () => {
  const quiet = spans(Array.from({ length: 6 }, () => SAME)).spans
  assert.deepEqual(spans(Array.from({ length: 6 }, (_, serial) => ({ serial }))).spans, quiet)
  assert.deepEqual(spans(Array.from({ length: 6 }, (_, n) => ({ text: `news ${n}` }))).spans, quiet)
  const turning = spans(Array.from({ length: 12 }, (_, n) => ({ A: [`192.0.2.${n}`] }))).spans
  assert.deepEqual(
    turning.slice(1, 2).map((span) => isAbout(span, turning[0]! / 2)),
    [true],
    'the first change counts',
  )
  assert.ok(turning.at(-1)! > first, 'those at every visit do not')
})

test('any other record and the website count as a change, however often they change', () => {
  for (const changes of [
    (n: number): Seen => ({ NS: [`ns${n}.example`] }),
    (n: number): Seen => ({ ssl: n % 2 === 0 ? 'valid' : 'invalid' }),
  ]) {
    const all = spans(Array.from({ length: 4 }, (_, n) => changes(n))).spans
    for (const [n, span] of all.slice(1).entries()) assert.ok(isAbout(span, Math.max(all[n]! / 2, soonest)), `${all}`)
  }
})

test('addresses count as a change unless they also changed at the previous probe', () => {
  const family = (n: number): Seen[] => [{ A: [`192.0.2.${n}`] }, { AAAA: [`2001:db8::${n}`] }]
  for (const which of [0, 1]) {
    const at = (n: number): Seen => family(n)[which]!
    const [first, second, third, fourth, fifth] = spans([at(1), at(2), at(3), at(3), at(4)]).spans
    assert.ok(second! < first!, 'the first change')
    assert.ok(third! > second!, 'the next one at once')
    assert.ok(fourth! > third!, 'no change')
    assert.ok(fifth! < fourth!, 'a change after a probe without one')
  }
  const [before, after] = spans([{ A: null }, { A: ['192.0.2.1'] }]).spans
  assert.ok(after! < before!, 'the first addresses of a known name')
})

test('a name that answers again has changed', () => {
  const [, failing, back] = spans([SAME, { status: 'nxdomain' }, SAME]).spans
  assert.ok(isAbout(failing, soonest) && isAbout(back, soonest), `${failing} ${back}`)
})

test('a name that was due when it was last observed, or before, has no interval yet: it starts from the first one', () => {
  for (const due of [BEGIN, BEGIN - 1, 0]) {
    const { known } = live(nothing(NAME), [visitAt(BEGIN)])
    const postponed = { ...known, visit: { ...known.visit, due } }
    const next = live(postponed, [visitAt(BEGIN + 60)]).known.visit.due
    assert.ok(isAbout(next - BEGIN - 60, 1.5 * first), `${due}: ${next - BEGIN}`)
  }
})

test('a second part of the same time leaves the plan as it is', () => {
  const { dns, web, ...rest } = visitAt(BEGIN)
  const { known } = live(nothing(NAME), [{ ...rest, dns, web: null }])
  const both = live(known, [{ ...rest, dns: null, web }]).known
  assert.deepEqual([both.visit.due, both.visit.failures], [known.visit.due, 0])
})

test('the website alone does not say whether a name fails: it fails as before', () => {
  for (const [status, failures] of [
    ['ok', 0],
    ['nxdomain', 2],
  ] as const) {
    const { known } = spans([{ status }])
    const { web, ...rest } = visitAt(known.visit.due)
    assert.equal(live(known, [{ ...rest, dns: null, web }]).known.visit.failures, failures, status)
  }
})

test('names that fail are probed after a day, then after twice as long each time, and as before once they answer', () => {
  for (const status of ['nxdomain', 'servfail'] as const) {
    const { spans: failing, known } = spans([SAME, ...Array.from({ length: 8 }, (): Seen => ({ status }))])
    for (const [n, span] of failing.slice(1).entries()) {
      assert.ok(isAbout(span, Math.min(soonest * 2 ** n, latest)), `${status} ${n}: ${span}`)
    }
    assert.equal(known.visit.failures, 8)
    const back = live(known, [visitAt(known.visit.due)]).known
    assert.equal(back.visit.failures, 0)
  }
})

test('a late observation does not change the plan', () => {
  const { known } = spans([SAME, SAME])
  const dns = visitAt(BEGIN - 10, { A: ['192.0.2.9'] })
  assert.equal(live(known, [dns]).known.visit.due, known.visit.due)
})

test('whatever the results, no interval is longer than the maximum, or more than a tenth shorter than the minimum', () => {
  const some = fc.record({
    status: fc.constantFrom<DnsPart['status']>('ok', 'nxdomain', 'servfail'),
    A: fc.subarray(['192.0.2.1', '192.0.2.2', '192.0.2.3']),
    serial: fc.nat(3),
  })
  const check = (visits: Seen[]): void => {
    for (const span of spans(visits).spans) assert.ok(span >= 0.9 * soonest - 1 && span <= 0.95 * latest, `${span}`)
  }
  fc.assert(fc.property(fc.array(some, { minLength: 1, maxLength: 20 }), check), { numRuns: 200 })
})
