/** Compares apply with the model of the store, without a store, and tests the transitions that watches match. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Transition } from '../../src/apply/change.ts'
import { CLOCK_INDEX } from '../../src/apply/stored-numbers.ts'
import type { Observation } from '../../src/observe/observation.ts'
import { RECORD_TYPES } from '../../src/values/records/dns-record.ts'
import { decodeRecords } from '../../src/values/records/stored-records.ts'
import { NAMES, observations } from '../store/conformance/arbitraries.ts'
import { dns, minute, NXDOMAIN, redirecting, seen, soa, web } from '../store/conformance/world.ts'
import { Model } from '../store/model.ts'
import { type Known, nothing, step } from './crawl-state.ts'

const NAME = NAMES[0]!

const NEVER_OBSERVED = { ip: null, only_dns_no_web: false, ssl: 'nocert', has_website: false }

/** What apply has gathered of a name after all observations. */
type Gathered = { known: Known; outcomes: string[]; superseded: string[]; interruptions: string[] }

function gather(history: readonly Observation[]): Gathered {
  const gathered: Gathered = { known: nothing(NAME), outcomes: [], superseded: [], interruptions: [] }
  for (const observation of history) {
    const { known, change, outcomes } = step(gathered.known, [observation])
    gathered.known = known
    gathered.outcomes.push(...outcomes)
    for (const { type, first_seen, last_confirmed } of change?.facts?.superseded ?? [])
      gathered.superseded.push(`${type} ${first_seen} ${last_confirmed}`)
    for (const { type, last_seen, seen_again } of change?.facts?.interruptions ?? [])
      gathered.interruptions.push(`${type} ${last_seen} ${seen_again}`)
  }
  return gathered
}

/** Names that exist and do not, and a type that is observed or not, so that many are late. */
const absences = fc.array(
  fc.tuple(
    fc.integer({ min: 0, max: 12 }),
    fc.constantFrom(NXDOMAIN, dns({}), dns({ A: ['192.0.2.1'] }), dns({ A: [] })),
  ),
  { maxLength: 12, size: 'max' },
)

test('whatever is observed, in any order, the facts, states, clocks and interruptions are those of the model', () => {
  fc.assert(fc.property(observations([NAME], 25), agreesWithModel), { numRuns: 300 })
  const history = absences.map((drawn) => drawn.map(([at, part]) => seen(NAME, at, part)))
  fc.assert(fc.property(history, agreesWithModel), { numRuns: 1000 })
  const here = dns({ A: ['192.0.2.1'] })
  agreesWithModel([seen(NAME, 1, here), seen(NAME, 3, NXDOMAIN), seen(NAME, 5, NXDOMAIN), seen(NAME, 3, here)])
})

function agreesWithModel(history: readonly Observation[]): void {
  const model = new Model(Number.MAX_SAFE_INTEGER)
  const expected = history.map((observation) => model.observe(observation))
  const { known, outcomes, superseded, interruptions } = gather(history)
  assert.deepEqual(outcomes, expected)
  const { current, visit } = known
  const { ip, only_dns_no_web, ssl, has_website } = model.lookup(NAME) ?? NEVER_OBSERVED
  assert.deepEqual([current.ip, current.only_dns_no_web], [ip, only_dns_no_web])
  assert.deepEqual([current.web?.has_website ?? false, current.web?.ssl ?? 'nocert'], [has_website, ssl])
  assert.deepEqual(current.addresses, model.addresses(NAME))
  const former = RECORD_TYPES.flatMap((type) =>
    model
      .history(NAME, type)
      .slice(1)
      .map(({ first_seen, last_confirmed }) => `${type} ${first_seen} ${last_confirmed}`),
  )
  const ofRecords = superseded.filter((text) => !/^(?:web|certificate) /.test(text))
  assert.deepEqual(ofRecords.sort(), former.sort())
  for (const type of RECORD_TYPES) {
    const [newest] = model.history(NAME, type)
    const state = current.states[type]
    const records = state && JSON.stringify(decodeRecords(type, state.records))
    assert.deepEqual([state?.first_seen, records], [newest?.first_seen, newest?.records])
    assert.equal(visit.clocks[CLOCK_INDEX[type]], model.clock(NAME, type))
    assert.equal(absentSince(known, type), model.absentSince(NAME, type))
  }
  const paused = RECORD_TYPES.flatMap((type) =>
    model.interruptions(NAME, type).map(({ last_seen, seen_again }) => `${type} ${last_seen} ${seen_again}`),
  )
  assert.deepEqual(interruptions.sort(), paused.sort())
  const webs = model.webHistory(NAME)
  assert.deepEqual(
    superseded.filter((text) => text.startsWith('web ')).sort(),
    webs
      .slice(1)
      .map(({ first_seen, last_seen }) => `web ${first_seen} ${last_seen}`)
      .sort(),
  )
}

/** When the name was first observed not to exist since the type was last observed. */
function absentSince({ current }: Known, type: (typeof RECORD_TYPES)[number]): number | null {
  return current.states[type]?.absence?.first ?? null
}

/** The transitions of a name that is known by `before`, when it is observed again. */
function transitionsOf(before: readonly Observation[], next: Observation): readonly Transition[] {
  const { known } = gather(before)
  return step(known, [next]).change?.facts?.transitions ?? []
}

const kindsOf = (transitions: readonly Transition[]): string[] => transitions.map(({ type }) => type)

test('a watch hears that a name is new, of its status, of its records, of its website and of its text', () => {
  const first = seen(NAME, 1, dns({ A: ['192.0.2.1'] }), web({ has_website: true, text: 'a shop of books' }))
  assert.deepEqual(kindsOf(transitionsOf([], first)).sort(), ['A', 'new', 'status', 'text', 'verdict'])
  assert.deepEqual(transitionsOf([], first)[0], { type: 'new', at: minute(1) })
  const again = (part: Partial<Observation>) => transitionsOf([first], { ...first, observed_at: minute(2), ...part })
  assert.deepEqual(again({}), [])
  assert.deepEqual(kindsOf(again({ dns: dns({ A: ['192.0.2.2'] }) })), ['A'])
  assert.deepEqual(kindsOf(again({ dns: dns({ A: ['192.0.2.1'], SOA: [soa(1)] }) })), ['SOA'])
  assert.deepEqual(kindsOf(again({ dns: NXDOMAIN })), ['status'])
  assert.deepEqual(kindsOf(again({ web: web({ has_website: true, text: 'a shop of maps' }) })), ['text'])
  const [verdict] = again({ web: { ...first.web!, ssl: 'valid' } })
  assert.ok(verdict?.type === 'verdict')
  assert.deepEqual([verdict.before?.ssl, verdict.after.ssl, verdict.at], ['nocert', 'valid', minute(2)])
  assert.deepEqual(kindsOf(again({ web: redirecting('other.example') })).sort(), ['text', 'verdict'])
})

test('a probe that only names a known name again, or comes late, is no transition', () => {
  const first = seen(NAME, 5, dns({ A: ['192.0.2.1'] }))
  assert.deepEqual(transitionsOf([first], seen(NAME, 6, null)), [])
  assert.deepEqual(transitionsOf([first], seen(NAME, 4, dns({ A: ['192.0.2.9'] }))), [])
})
