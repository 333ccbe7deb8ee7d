/** The generators of the property tests: a sample of each contains every kind of event that it should produce. */

import { test } from 'node:test'
import { STATE_TYPES } from '../../src/apply/stored-numbers.ts'
import type { Observation } from '../../src/observe/observation.ts'
import { RECORD_TYPES, type RecordType } from '../../src/values/records/dns-record.ts'
import { assertMakes } from '../sample.ts'
import { type Event, history, NAMES, observations } from './conformance/arbitraries.ts'
import { round as duties } from './conformance/schedule/jobs.ts'
import { round as leases } from './conformance/schedule/leases.ts'
import { operation as visiting } from './conformance/schedule/schedule.ts'
import { operation as filing } from './conformance/similar/filings.ts'
import { NOW } from './conformance/world.ts'
import { type Prune, prunes } from './conformance/writing/pruning.ts'
import { operation as calling } from './ledger/interleavings.ts'

type Seen = (observation: Observation, before: readonly Observation[]) => boolean

const records = (type: RecordType, fits: (count: number) => boolean): Seen => {
  return ({ dns }) => dns?.records[type] !== undefined && fits(dns.records[type].length)
}

/** Kinds of observations, relative to the earlier ones in the history. */
const OBSERVATIONS: Readonly<Record<string, Seen>> = {
  'without a dns part': ({ dns }) => dns === null,
  'without a web part': ({ web }) => web === null,
  'without either': ({ dns, web }) => dns === null && web === null,
  'with both': ({ dns, web }) => dns !== null && web !== null,
  ...Object.fromEntries(['ok', 'nxdomain', 'servfail'].map((status) => [status, ({ dns }) => dns?.status === status])),
  ...Object.fromEntries(
    RECORD_TYPES.flatMap((type): [string, Seen][] => [
      [`${type} not asked`, ({ dns }) => dns?.status === 'ok' && dns.records[type] === undefined],
      [`${type} empty`, records(type, (count) => count === 0)],
      [`${type} with one record`, records(type, (count) => count === 1)],
      [`${type} with several records`, records(type, (count) => count > 1)],
    ]),
  ),
  'records that were interrupted': ({ dns }) => (dns?.interrupted ?? []).length > 0,
  'no website': ({ web }) => web?.has_website === false && web.redirects_to === null,
  'a redirect': ({ web }) => (web?.redirects_to ?? null) !== null,
  'a website with text': ({ web }) => web?.has_website === true && web.text !== null,
  'a website without text': ({ web }) => web?.has_website === true && web.text === null,
  'accounts of several networks': ({ web }) => new Set(web?.social_accounts.map(({ network }) => network)).size > 1,
  'ahead of the clock': ({ observed_at }) => observed_at > NOW + 300,
  'as far ahead as may be': ({ observed_at }) => observed_at === NOW + 300,
  'late for its name': (seen, before) => ofSameName(seen, before).some((other) => other.observed_at > seen.observed_at),
  'at the same time as another one of its name': (seen, before) =>
    ofSameName(seen, before).some((other) => other.observed_at === seen.observed_at),
  'a repeat of the dns part of the same name': (seen, before) =>
    seen.dns !== null && ofSameName(seen, before).some(({ dns }) => dns === seen.dns),
  'a repeat of the dns part of another name': (seen, before) =>
    seen.dns !== null && before.some(({ domain, dns }) => domain !== seen.domain && dns === seen.dns),
  'a repeat of the web part': (seen, before) =>
    seen.web !== null && ofSameName(seen, before).some(({ web }) => web === seen.web),
}

function ofSameName({ domain }: Observation, before: readonly Observation[]): readonly Observation[] {
  return before.filter((other) => other.domain === domain)
}

/** Whether a history contains a kind of observation. */
const anywhere = (fits: Seen) => (events: readonly Event[]) => {
  const seen = events.filter((event) => 'domain' in event)
  return seen.some((observation, place) => fits(observation, seen.slice(0, place)))
}
const inHistories = Object.fromEntries(Object.entries(OBSERVATIONS).map(([kind, fits]) => [kind, anywhere(fits)]))
const isOrdered = (events: readonly Event[]) => {
  const times = events.filter((event) => 'domain' in event).map(({ observed_at }) => observed_at)
  return times.length > 5 && times.every((time, place) => place === 0 || times[place - 1]! <= time)
}

test('a sample of histories has every kind of observation, forgotten names, and both orders', () => {
  assertMakes(history(NAMES, 50), {
    ...inHistories,
    'a forgotten name': (events) => events.some((event) => 'forget' in event),
    'a name that is observed once it was forgotten': (events) =>
      events.some(
        (event, place) =>
          'forget' in event && events.slice(place).some((other) => 'domain' in other && other.domain === event.forget),
      ),
    'in the order of time': isOrdered,
    'in another order': (events) => events.length > 5 && !isOrdered(events),
    'an empty history': (events) => events.length === 0,
    'a long history': (events) => events.length > 40,
  })
})

test('a sample of observations has every kind', () => {
  assertMakes(observations(NAMES, 50), inHistories)
})

test('a sample of prunes has every kind of age and of end, and histories of several states', () => {
  const anyRound = (fits: (round: Prune) => boolean) => (rounds: readonly Prune[]) => rounds.some(fits)
  assertMakes(prunes, {
    ...Object.fromEntries(
      STATE_TYPES.flatMap((type) => [
        [`${type} with an age`, anyRound(({ cutoffs }) => cutoffs[type] !== undefined)],
        [`${type} without an age`, anyRound(({ cutoffs }) => cutoffs[type] === undefined)],
      ]),
    ),
    'a prune that is killed': anyRound(({ stopped }) => stopped !== null && stopped > 0),
    'a prune that is not killed': anyRound(({ stopped }) => stopped === null),
    'a prune between histories': (rounds) => rounds.length > 1,
    'a history of which some states go and some stay': anyRound(({ events, cutoffs }) => {
      const times = events.flatMap((event) => ('domain' in event ? [event.observed_at] : []))
      const cutoff = cutoffs.SOA ?? 0
      return times.filter((time) => time < cutoff).length > 5 && times.filter((time) => time > cutoff).length > 5
    }),
  })
})

test('a sample of filings has every operation', () => {
  assertMakes(filing, {
    'a text': (operation) => typeof operation === 'object' && 'text' in operation && operation.text !== null,
    'no text': (operation) => typeof operation === 'object' && 'text' in operation && operation.text === null,
    'a forgotten name': (operation) => typeof operation === 'object' && 'forget' in operation,
    'a filing': (operation) => typeof operation === 'object' && 'file' in operation && operation.late === null,
    'a filing that a change comes before': (operation) =>
      typeof operation === 'object' && 'file' in operation && operation.late !== null,
    'a covering': (operation) => operation === 'cover',
  })
})

test('a sample of leases and named locks has every operation, and short and long rounds', () => {
  const operationIs = (kind: string) => (round: { operations: { kind: string }[] }) =>
    round.operations.some((operation) => operation.kind === kind)
  const kinds = ['lease', 'renew', 'release', 'nothing'].map((kind) => [kind, operationIs(kind)])
  assertMakes(leases, {
    ...Object.fromEntries(kinds),
    'of some ranges': ({ operations }) => operations.some((operation) => 'ranges' in operation),
    'of any range': ({ operations }) =>
      operations.some((operation) => operation.kind === 'lease' && !('ranges' in operation)),
    'at once': ({ seconds }) => seconds <= 2,
    'after a lease has ended': ({ seconds }) => seconds > 60,
  })
  for (const operation of ['take', 'renew', 'release', 'nothing'] as const)
    assertMakes(duties, { [operation]: ({ operations }) => operations.includes(operation) })
})

test('a sample of crawl states has every kind of row', () => {
  assertMakes(visiting, {
    'never seen': ({ ago }) => ago === null,
    seen: ({ ago }) => ago !== null,
    'due at once': ({ ahead }) => ahead === null,
    overdue: ({ ahead }) => ahead !== null && ahead < 0,
    'due later': ({ ahead }) => ahead !== null && ahead > 0,
    forgotten: ({ forget }) => forget,
  })
})

test('a sample of calls to the ledger has every operation', () => {
  assertMakes(calling, {
    'calls that cost': (operation) => operation.kind === 'calls' && operation.costs,
    'calls that cost nothing': (operation) => operation.kind === 'calls' && !operation.costs,
    'a settlement': ({ kind }) => kind === 'settle',
    'a beat': ({ kind }) => kind === 'beat',
    'a crash': ({ kind }) => kind === 'crash',
    'a silence that is too short to matter': (operation) => operation.kind === 'silence' && operation.rounds === 1,
    'a silence after which leases expire': (operation) => operation.kind === 'silence' && operation.rounds === 3,
    'a day change': ({ kind }) => kind === 'midnight',
    'a clock that is set back': (operation) => operation.kind === 'clock' && operation.seconds < 0,
    'a clock that goes on': (operation) => operation.kind === 'clock' && operation.seconds > 0,
  })
})
