/** Tests the properties of apply: it is pure, idempotent, works part by part, and does not depend on batches. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { differs } from '../../src/apply/apply.ts'
import { NO_CLOCKS, NO_WEBSITE } from '../../src/apply/crawl-state.ts'
import { changeOf, startDraft } from '../../src/apply/draft.ts'
import { prepareObservation } from '../../src/apply/prepare.ts'
import type { Observation } from '../../src/observe/observation.ts'
import { encodePresented } from '../../src/values/certificate/presented.ts'
import { RECORD_TYPES } from '../../src/values/records/dns-record.ts'
import { NAMES, observations } from '../store/conformance/arbitraries.ts'
import { dns, minute, NXDOMAIN, redirecting, seen, soa, web } from '../store/conformance/world.ts'
import { live, nothing, step } from './crawl-state.ts'

const NAME = NAMES[0]!
const history = observations([NAME], 25)
/** A history in any order, in which no two observations have the same time. */
const timed = history.chain((observations) =>
  fc.shuffledSubarray(
    observations.map((observation, n) => ({ ...observation, observed_at: minute(n) })),
    { minLength: observations.length },
  ),
)

function property<Values extends [unknown, ...unknown[]]>(
  sentence: string,
  arbitraries: { [I in keyof Values]: fc.Arbitrary<Values[I]> },
  holds: (...values: Values) => void,
): void {
  test(sentence, () => fc.assert(fc.property(...arbitraries, holds), { numRuns: 200 }))
}

/** Clocks and facts, without what only describes how they came about. */
function outcomeOf({ known }: { known: ReturnType<typeof nothing> }): object {
  const { clocks } = known.visit
  return { clocks: [...clocks], current: known.current }
}

property('applying observations twice changes nothing', [history], (observations) => {
  const first = live(nothing(NAME), observations)
  const again = step(first.known, observations)
  assert.equal(again.change, null)
  assert.deepEqual(
    again.outcomes,
    observations.map(() => 'stale'),
  )
})

property('a batch gives the same result as its observations one by one', [history, history], (before, batch) => {
  const { known } = live(nothing(NAME), before)
  const single = live(known, batch)
  const whole = step(known, batch)
  assert.deepEqual(outcomeOf(whole), outcomeOf(single))
  assert.deepEqual(whole.outcomes, single.outcomes)
  assert.deepEqual(whole.change?.facts?.superseded ?? [], single.superseded)
})

for (const print of [0, 7]) {
  const of = print === 0 ? 'no fingerprint to compare with' : 'fingerprints of another release'
  property(
    `${of}: the same outcomes, facts and states`,
    [history, fc.infiniteStream(fc.boolean())],
    (observations, lost) => {
      const usual = live(nothing(NAME), observations)
      const other = live(nothing(NAME), observations, ({ visit, current }) => {
        const spoilt = lost.next().value
        return { visit: spoilt ? { ...visit, dnsFingerprint: print, webFingerprint: print } : visit, current }
      })
      assert.deepEqual(outcomeOf(other), outcomeOf(usual))
      assert.deepEqual([other.outcomes, other.superseded], [usual.outcomes, usual.superseded])
    },
  )
}

property('if no fingerprint differs, the facts need not be read', [history], (observations) => {
  const { known } = live(nothing(NAME), observations)
  for (const candidate of observations.map((given) => ({ ...given, observed_at: minute(800) }))) {
    const prepared = prepareObservation(candidate)
    if (known.visit.version === 0 || differs(known.visit, prepared)) continue
    const blind = step({ visit: known.visit, current: nothing(NAME).current }, [candidate])
    assert.deepEqual(blind.outcomes, [candidate.dns || candidate.web ? 'unchanged' : 'stale'])
    assert.equal(blind.change?.facts ?? null, null)
    assert.deepEqual(outcomeOf(step(known, [candidate])), {
      clocks: [...blind.known.visit.clocks],
      current: known.current,
    })
  }
})

property('an unchanged observation writes no facts, and a stale one writes nothing', [history], (observations) => {
  let known = nothing(NAME)
  for (const observation of observations) {
    const { change, outcomes, known: next } = step(known, [observation])
    if (outcomes[0] === 'stale') assert.equal(change, null)
    if (outcomes[0] === 'unchanged') assert.equal(change?.facts, null)
    if (outcomes[0] === 'applied') assert.ok(change && (change.facts !== null || known.visit.version === 0))
    known = next
  }
})

property('the two parts of an observation are applied as if each had come alone', [history], (observations) => {
  const apart = observations.flatMap((given) => [
    { ...given, web: null },
    { ...given, dns: null },
  ])
  assert.deepEqual(outcomeOf(live(nothing(NAME), apart)), outcomeOf(live(nothing(NAME), observations)))
})

property('the types of a DNS part are applied as if each had been queried alone', [history], (observations) => {
  const apart = observations.flatMap((given): Observation[] => {
    if (given.dns?.status !== 'ok') return [given]
    const { records } = given.dns
    const asked = RECORD_TYPES.filter((type) => records[type] !== undefined)
    const each = asked.map((type) => ({ ...given, dns: { status: 'ok' as const, records: { [type]: records[type] } } }))
    return each.length > 0 ? each : [given]
  })
  assert.deepEqual(outcomeOf(live(nothing(NAME), apart)), outcomeOf(live(nothing(NAME), observations)))
})

property(
  'a partial DNS part gives its types the same result as the full one',
  [history, fc.subarray([...RECORD_TYPES])],
  (full, kept) => {
    const partial = full.map((given): Observation => {
      if (given.dns === null) return given
      const records = Object.fromEntries(
        Object.entries(given.dns.records).filter(([type]) => kept.includes(type as never)),
      )
      return { ...given, dns: { status: given.dns.status, records } }
    })
    const [whole, part] = [live(nothing(NAME), full).known.current, live(nothing(NAME), partial).known.current]
    for (const type of kept) assert.deepEqual(part.states[type], whole.states[type])
    assert.deepEqual([part.status, part.web], [whole.status, whole.web])
  },
)

property('whatever the order of observations, the newest of each part wins', [timed], (shuffled) => {
  const ordered = shuffled.toSorted((a, b) => a.observed_at - b.observed_at)
  const [late, timely] = [live(nothing(NAME), shuffled).known, live(nothing(NAME), ordered).known]
  assert.deepEqual(late.visit.clocks, timely.visit.clocks)
  assert.deepEqual([late.current.status, late.current.web], [timely.current.status, timely.current.web])
  for (const type of RECORD_TYPES) {
    const [one, other] = [late, timely].map(({ current }) => current.states[type]?.records ?? '[]')
    assert.equal(one, other)
  }
})

property(
  'arrived and left are the difference of the addresses, and every arriving address was seen',
  [history, history],
  (before, batch) => {
    const { known } = live(nothing(NAME), before)
    const { change } = step(known, batch)
    if (!change?.facts) return
    const { current, arrived, left, firstSeen: seen, redirectBefore, redirectAfter } = change.facts
    const kept = known.current.addresses.filter((address) => !left.includes(address))
    assert.deepEqual([...kept, ...arrived].sort(), [...current.addresses].sort())
    assert.deepEqual(
      [arrived.filter((address) => kept.includes(address)), kept.length + left.length],
      [[], known.current.addresses.length],
    )
    assert.deepEqual(
      [redirectBefore, redirectAfter],
      [known.current.web?.redirects_to ?? null, current.web?.redirects_to ?? null],
    )
    if (known.visit.version > 0) return
    for (const address of arrived) assert.ok(seen.some((row) => row.address === address))
  },
)

property(
  'superseded states follow one another, and the last confirmation is before the next state',
  [history],
  (observations) => {
    const { known, superseded } = live(nothing(NAME), observations)
    for (const type of RECORD_TYPES) {
      const rows = superseded.filter((row) => row.type === type)
      const newest = known.current.states[type]
      assert.equal(rows.length + (newest ? 1 : 0), newest?.count ?? 0)
      for (const [index, { first_seen, last_confirmed }] of rows.entries()) {
        const next = rows[index + 1]?.first_seen ?? newest!.first_seen
        assert.ok(first_seen <= last_confirmed && last_confirmed < next, `${first_seen} ${last_confirmed} ${next}`)
      }
    }
  },
)

property('the arguments are not changed', [history, history], (before, batch) => {
  const { known } = live(nothing(NAME), before)
  const given = structuredClone({ known, batch })
  step(known, batch)
  assert.deepEqual({ known, batch }, given)
})

property('a forgotten name never changes', [history], (observations) => {
  const { visit, current } = nothing(NAME)
  const { change, outcomes } = step({ visit: { ...visit, version: 3, forgotten: true }, current }, observations)
  assert.equal(change, null)
  assert.ok(outcomes.every((outcome) => outcome === 'stale'))
})

test('the same parts again need no facts; another part, an interruption and a certificate alone do', () => {
  const first = seen(NAME, 1, dns({ A: ['192.0.2.1'] }), web({ has_website: true }))
  const { visit } = live(nothing(NAME), [first]).known
  const needsFacts = (parts: Partial<Observation>, state = visit): boolean =>
    differs(state, prepareObservation({ ...first, observed_at: minute(2), ...parts }))
  for (const parts of [{}, { web: null }, { dns: null }, { dns: null, web: null }])
    assert.equal(needsFacts(parts), false)
  const neither = { dns: null, web: null }
  for (const parts of [
    { dns: dns({ A: ['192.0.2.2'] }) },
    { dns: NXDOMAIN, web: null },
    { web: web() },
    { dns: null, web: web() },
    { dns: { ...first.dns!, interrupted: ['A' as const] } },
    { ...neither, presented: null },
    { ...neither, ssl: 'valid' as const },
  ]) {
    assert.equal(needsFacts(parts), true, JSON.stringify(parts))
    assert.equal(needsFacts(parts, { ...visit, forgotten: true }), false, 'a forgotten name stays as it is')
  }
})

test('an SOA that differs in its serial alone from the one before is stored as its serial, with the whole one as its base', () => {
  const sets = [soa(1), soa(2), soa(3), soa(3, 60), soa(4, 60), soa(5)].map((record) => dns({ SOA: [record] }))
  const { superseded } = live(
    nothing(NAME),
    sets.map((set, n) => seen(NAME, n, set)),
  )
  assert.deepEqual(
    superseded.map(({ serial, base, records }) => [serial, base, records === null]),
    [
      [null, null, false],
      [2, minute(0), true],
      [3, minute(0), true],
      [null, null, false],
      [4, minute(3), true],
    ],
  )
})

test('the number of states is counted up to 1,001', () => {
  const { known } = step(nothing(NAME), [seen(NAME, 1, dns({ A: ['192.0.2.1'] }))])
  for (const [count, after] of [
    [1, 2],
    [999, 1_000],
    [1_000, 1_001],
    [1_001, 1_001],
  ] as const) {
    const states = { A: { ...known.current.states.A!, count } }
    const counted = { visit: known.visit, current: { ...known.current, states } }
    const { current } = step(counted, [seen(NAME, 2, dns({ A: ['192.0.2.2'] }))]).known
    assert.equal(current.states.A?.count, after)
  }
})

test('the order of record lists, repeated records, letter case and trailing dots of names make no change', () => {
  const MX = [
    ['A.example', 10],
    ['b.example', 5],
  ].map(([mail_server, priority]) => ({ mail_server, priority }))
  const first = dns({ A: ['192.0.2.1', '192.0.2.2'], NS: ['a.example', 'b.example'], MX, TXT: [['x'], ['y']] })
  const mixed = [...MX.toReversed(), { mail_server: 'a.EXAMPLE.', priority: 10 }]
  const again = dns({
    A: ['192.0.2.2', '192.0.2.1', '192.0.2.2'],
    NS: ['B.example.', 'A.Example'],
    MX: mixed,
    TXT: [['y'], ['x'], ['y']],
  })
  const { known } = step(nothing(NAME), [seen(NAME, 1, first)])
  assert.equal(differs(known.visit, prepareObservation(seen(NAME, 2, again))), false)
  assert.deepEqual(step(known, [seen(NAME, 2, again)]).outcomes, ['unchanged'])
})

test('an observation without either part only adds the name', () => {
  const { known, change, outcomes } = step(nothing(NAME), [seen(NAME, 1, null), seen(NAME, 2, null)])
  assert.deepEqual(outcomes, ['applied', 'stale'])
  assert.equal(change?.facts, null)
  assert.equal(step(known, [seen(NAME, 3, null)]).change, null)
})

test('a draft without applied observations is not a change', () => {
  assert.equal(changeOf(startDraft(nothing(NAME).visit)), null)
})

test('a redirect that stays is the same before and after, also if the name is gone', () => {
  const { known } = step(nothing(NAME), [seen(NAME, 1, dns({ A: ['192.0.2.1'] }), redirecting('t.example'))])
  const facts = step(known, [seen(NAME, 2, NXDOMAIN)]).change?.facts
  assert.deepEqual(
    [facts?.redirectBefore, facts?.redirectAfter, facts?.left],
    ['t.example', 't.example', ['192.0.2.1']],
  )
})

test('a certificate result alone changes only that, and no clock', () => {
  const at = (observed_at: number, rest: Partial<Observation>): Observation => {
    return { domain: NAME, observed_at, dns: null, web: null, ...rest }
  }
  const first = live(nothing(NAME), [at(5, { ssl: 'valid' })])
  assert.deepEqual([first.outcomes, first.known.current.web], [['applied'], { ...NO_WEBSITE, ssl: 'valid' }])
  assert.deepEqual([...first.known.visit.clocks], NO_CLOCKS)
  const site = web({ has_website: true, ssl: 'invalid', text: 'Some text.' })
  const full = live(first.known, [
    at(6, { web: site }),
    at(7, { ssl: 'valid' }),
    at(8, { ssl: 'valid' }),
    at(4, { ssl: 'nocert' }),
  ])
  assert.deepEqual(full.outcomes, ['applied', 'applied', 'stale', 'stale'])
  const { has_website, ssl, digest } = full.known.current.web!
  assert.deepEqual([has_website, ssl, digest !== null], [true, 'valid', true])
  const again = live(full.known, [at(9, { web: site })])
  assert.deepEqual([again.outcomes, again.known.current.web?.ssl], [['applied'], 'invalid'])
})

test('a web part as before has its certificate again after another one was observed without it, or was refused', () => {
  const certificate = (digit: string) => ({
    ...{ sha256: digit.repeat(64), issuer: 'CN=1', not_before: 1, not_after: 9, names: [], key: 'ec-p256' },
  })
  const [own, other] = [certificate('a'), certificate('b')]
  const at = (observed_at: number, rest: Partial<Observation>): Observation => {
    return { domain: NAME, observed_at, dns: null, web: null, ...rest }
  }
  const site = web({ has_website: true, ssl: 'valid', certificate: own })
  const newest = ({ known }: ReturnType<typeof live>) => known.current.states.certificate?.records
  for (const before of [
    [at(5, { web: site }), at(6, { presented: other })],
    [at(5, { presented: other }), at(5, { web: site })],
  ]) {
    const first = live(nothing(NAME), before)
    assert.equal(newest(first), encodePresented(other))
    const again = live(first.known, [at(7, { web: site })])
    assert.deepEqual([again.outcomes, newest(again)], [['applied'], encodePresented(own)])
    assert.deepEqual(live(again.known, [at(8, { web: site })]).outcomes, ['unchanged'])
  }
})

test('of two web parts with the same time the first wins, whichever part came with them', () => {
  const first = seen(NAME, 5, null, redirecting('t.example'))
  const { known } = step(nothing(NAME), [first])
  for (const dnsPart of [null, dns({ A: ['192.0.2.1'] })]) {
    const { known: after, outcomes } = step(known, [seen(NAME, 5, dnsPart, redirecting('u.example'))])
    assert.equal(after.current.web?.redirects_to, 't.example')
    assert.deepEqual(outcomes, [dnsPart === null ? 'stale' : 'applied'])
  }
})
