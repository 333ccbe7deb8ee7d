/** Compares what the changes of a name write, taken together, with its history in the model of the store. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { FactChanges, SupersededState } from '../../src/apply/change.ts'
import { withSerial } from '../../src/apply/dns-state.ts'
import { CLOCK_INDEX } from '../../src/apply/stored-numbers.ts'
import type { SetChange } from '../../src/inverse/entries/record-events.ts'
import type { Observation } from '../../src/observe/observation.ts'
import { termsOf } from '../../src/similar/text/terms.ts'
import { encodePresented } from '../../src/values/certificate/presented.ts'
import { RECORD_TYPES } from '../../src/values/records/dns-record.ts'
import { decodeRecords } from '../../src/values/records/stored-records.ts'
import type { StateType } from '../../src/values/state-type.ts'
import { formatInstant } from '../../src/values/time.ts'
import { decodeVerdict, finalHostOf } from '../../src/values/web-verdict.ts'
import { inForm } from '../long.ts'
import { certifiedHistory, NAMES } from '../store/conformance/arbitraries.ts'
import { Model } from '../store/model.ts'
import { type Known, nothing, step } from './crawl-state.ts'

const NAME = NAMES[0]!
const history = certifiedHistory([NAME], 25).map((events) => events.filter((event) => 'domain' in event))

/** The name after all observations, in the model and as apply left it, and what each observation changed. */
type Applied = { model: Model; known: Known; changes: FactChanges[] }

function applyAll(observations: readonly Observation[]): Applied {
  const applied: Applied = { model: new Model(Number.MAX_SAFE_INTEGER), known: nothing(NAME), changes: [] }
  for (const observation of observations) {
    applied.model.observe(observation)
    const { known, change } = step(applied.known, [observation])
    applied.known = known
    if (change?.facts) applied.changes.push(change.facts)
  }
  return applied
}

function holds(sentence: string, check: (applied: Applied, observations: readonly Observation[]) => void): void {
  test(sentence, () =>
    fc.assert(
      fc.property(history, (observations) => check(applyAll(observations), observations)),
      { numRuns: inForm(60, 500) },
    ),
  )
}

const supersededOf = ({ changes }: Applied, type: StateType): SupersededState[] =>
  changes.flatMap(({ superseded }) => superseded.filter((state) => state.type === type))

const setChangesOf = ({ changes }: Applied, type: StateType): SetChange[] =>
  changes.flatMap(({ setChanges }) => setChanges.filter((change) => change.type === type))

/** The change with the last observation 0 if there is no set that was observed. */
const withoutUnusedTime = (change: SetChange): SetChange => ({ ...change, last: change.before ? change.last : 0 })

holds(
  'the superseded states have the records of the model, those of an SOA with another serial by their base',
  (applied) => {
    for (const type of RECORD_TYPES) {
      const whole = new Map<number, string>()
      const newest = applied.known.current.states[type]
      const states = [...supersededOf(applied, type), ...(newest ? [{ ...newest, serial: null, base: null }] : [])]
      const written = states.map(({ first_seen, records, serial, base }) => {
        const text = records ?? withSerial(whole.get(base!)!, serial!)
        if (records !== null) whole.set(first_seen, records)
        assert.equal(base !== null, records === null)
        return JSON.stringify(decodeRecords(type, text))
      })
      const expected = applied.model.history(NAME, type).reverse()
      assert.deepEqual(
        written,
        expected.map(({ records }) => records),
      )
      assert.equal(newest?.count ?? 0, expected.length)
    }
  },
)

holds('each state and each interruption of records is one change of a set', (applied) => {
  for (const type of RECORD_TYPES) {
    const states = applied.model.history(NAME, type).reverse()
    const cuts = applied.model.interruptions(NAME, type)
    const begun = states.map(({ first_seen, records }, index) => ({
      ...{ type, before: states[index - 1]?.records, last: states[index - 1]?.last_confirmed ?? 0 },
      ...{ after: records, at: first_seen, isInterrupted: cuts.some(({ seen_again }) => seen_again === first_seen) },
    }))
    const resumed = cuts
      .filter(({ seen_again }) => states.every(({ first_seen }) => first_seen !== seen_again))
      .map(({ last_seen, seen_again }) => {
        const { records } = states.findLast(({ first_seen }) => first_seen < seen_again)!
        return { type, before: records, last: last_seen, after: records, at: seen_again, isInterrupted: true }
      })
    const decoded = (text: string | undefined) => text && JSON.stringify(decodeRecords(type, text))
    const written = setChangesOf(applied, type)
      .filter(({ before, after, isInterrupted }) => isInterrupted || (before ?? '[]') !== after)
      .map((change) => ({ ...withoutUnusedTime(change), before: decoded(change.before), after: decoded(change.after) }))
    assert.deepEqual(
      written,
      [...begun, ...resumed].sort((a, b) => a.at - b.at),
    )
  }
})

holds('each certificate of the model is one state, one change of a set and one certificate to keep', (applied) => {
  const states = applied.model.certificateHistory(NAME).reverse()
  const texts = states.map(({ certificate }) => encodePresented(certificate))
  const type = 'certificate'
  assert.deepEqual(
    supersededOf(applied, type),
    states.slice(0, -1).map(({ first_seen, last_seen }, index) => ({
      ...{ type, first_seen, last_confirmed: last_seen, records: texts[index], serial: null, base: null },
    })),
  )
  const expected = states.map(({ first_seen }, index) => ({
    ...{ type, before: texts[index - 1], last: states[index - 1]?.last_seen ?? 0 },
    ...{ after: texts[index], at: first_seen, isInterrupted: false },
  }))
  const written = setChangesOf(applied, type)
  assert.deepEqual(written.map(withoutUnusedTime), expected)
  const kept = applied.changes.flatMap(({ certificates }) => certificates)
  assert.deepEqual(
    kept,
    states.flatMap(({ certificate }) => certificate ?? []),
  )
  const newest = applied.known.current.states.certificate
  assert.deepEqual(
    [newest?.first_seen, newest?.count ?? 0, newest?.records],
    [states.at(-1)?.first_seen, states.length, texts.at(-1)],
  )
})

holds('the verdicts are those of the model, and the changes of their sets give its redirects', (applied) => {
  const states = applied.model.webHistory(NAME).reverse()
  const written = supersededOf(applied, 'web').map(({ first_seen, last_confirmed, records }) => ({
    ...{ first_seen, last_seen: last_confirmed, verdict: decodeVerdict(records!) },
  }))
  assert.deepEqual(written, states.slice(0, -1))
  const newest = applied.known.current.states.web
  assert.deepEqual([newest?.first_seen, newest?.count ?? 0], [states.at(-1)?.first_seen, states.length])
  const spans: { host: string | null; name: string; first: number; last: number }[] = []
  const hostOf = (text: string | undefined) => (text === undefined ? null : finalHostOf(decodeVerdict(text)))
  for (const { before, last, after, at } of setChangesOf(applied, 'web')) {
    if (hostOf(before) !== null) spans.at(-1)!.last = last
    if (hostOf(after) !== null) spans.push({ host: hostOf(after), name: NAME, first: at, last: -1 })
  }
  const open = spans.find(({ last }) => last === -1)
  if (open) open.last = Math.max(open.first, applied.known.visit.clocks[CLOCK_INDEX.web]!)
  assert.deepEqual(spans, applied.model.redirectSpans())
})

holds('an address was first seen when the oldest state with it began', ({ model, known, changes }) => {
  for (const address of known.current.addresses) {
    const [row] = model.addressProfile(address, 1).domains
    const since = changes.flatMap(({ firstSeen }) => firstSeen.filter((each) => each.address === address))
    assert.equal(formatInstant(Math.min(...since.map((each) => each.since))), row?.since)
  }
})

holds('the terms are those of the newest text, and a watch learns of each text', ({ changes }, observations) => {
  const webs = observations.filter(({ web }) => web !== null)
  const last = Math.max(...webs.map(({ observed_at }) => observed_at))
  const text = webs.find(({ observed_at }) => observed_at === last)?.web?.text
  const written = changes.flatMap(({ terms }) => (terms === undefined ? [] : [terms]))
  assert.deepEqual(written.at(-1) ?? null, text ? termsOf(text) : null)
  assert.deepEqual(
    changes.flatMap(({ transitions }) => transitions.flatMap((each) => (each.type === 'text' ? [each.after] : []))),
    written,
  )
})

holds('a watch learns of the changes of sets, of each status and of each verdict, one after another', (applied) => {
  const transitions = applied.changes.flatMap((change) => change.transitions)
  assert.deepEqual(
    transitions.filter((each) => 'isInterrupted' in each),
    applied.changes.flatMap(({ setChanges }) => setChanges.filter(({ type }) => type !== 'web')),
  )
  const statuses = transitions.filter((each) => each.type === 'status')
  for (const [index, { before, after }] of statuses.entries()) {
    assert.equal(before, statuses[index - 1]?.after ?? null)
    assert.notEqual(before, after)
  }
  assert.equal(statuses.at(-1)?.after ?? null, applied.known.current.status)
  const verdicts = transitions.filter((each) => each.type === 'verdict')
  for (const [index, { before }] of verdicts.entries()) assert.equal(before === null, index === 0)
  assert.equal(verdicts.length, applied.model.webHistory(NAME).length)
})
