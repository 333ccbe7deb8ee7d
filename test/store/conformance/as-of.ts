/**
 * Random histories cut at a random moment: what a store with all observations says as of the moment is what the model
 * with only the observations up to it says, as far as docs/decisions/0058-as-of-a-date.md claims it.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readDomainAsOf } from '../../../src/api/endpoints/profiles/domain-as-of.ts'
import { type AddressQuestion, readAddressPage } from '../../../src/export/as-of.ts'
import { readRedirectPage } from '../../../src/export/redirects-over-time.ts'
import type { Observation } from '../../../src/observe/observation.ts'
import type { RedirectSpan, RedirectSpanPage } from '../../../src/store/port/inverse.ts'
import type { HistoryState, Store } from '../../../src/store/port/store.ts'
import type { DomainName } from '../../../src/values/domain-name.ts'
import type { IpAddress } from '../../../src/values/ip-address.ts'
import { RECORD_TYPES } from '../../../src/values/records/dns-record.ts'
import { formatInstant, type Instant } from '../../../src/values/time.ts'
import { finalHostOf } from '../../../src/values/web-verdict.ts'
import { inForm } from '../../long.ts'
import { Model } from '../model.ts'
import { ADDRESSES, NAMES, observations } from './arbitraries.ts'
import type { Engine } from './engine.ts'
import { batchSizes, happen, property } from './histories.ts'
import { minute, NOW } from './world.ts'

/**
 * `all`: the observations in the order of their times, one of a name at each. `isComplete`: each asks for all types, as a crawl does.
 * `moment`: at or between observations, before the first or after the last.
 */
type Cut = { all: readonly Observation[]; isComplete: boolean; moment: Instant }

const cuts: fc.Arbitrary<Cut> = fc
  .record({
    drawn: observations(NAMES.slice(0, 3), 40),
    isComplete: fc.boolean(),
    moment: fc.tuple(fc.integer({ min: -1, max: 41 }), fc.constantFrom(0, 30)).map(([at, more]) => minute(at) + more),
  })
  .map(({ drawn, isComplete, moment }) => {
    const past = drawn.filter(({ observed_at }) => observed_at <= NOW)
    const distinct = new Map(past.map((each) => [`${each.domain} ${each.observed_at}`, each]))
    const ordered = [...distinct.values()].toSorted((a, b) => a.observed_at - b.observed_at)
    return { all: isComplete ? ordered.map(asking) : ordered, isComplete, moment }
  })

/** The observation with all types that it lacks as empty. */
function asking(observation: Observation): Observation {
  const { dns } = observation
  if (dns?.status !== 'ok') return observation
  const none = Object.fromEntries(RECORD_TYPES.map((type) => [type, []]))
  return { ...observation, dns: { ...dns, records: { ...none, ...dns.records } } }
}

function modelOf(some: readonly Observation[]): Model {
  const model = new Model(NOW)
  for (const each of some) model.observe(each)
  return model
}

/** `heard`: the model of the cut without the look-ups that failed. */
type Expected = Cut & { full: Model; cut: Model; heard: Model }

function expectedOf(given: Cut): Expected {
  const until = given.all.filter(({ observed_at }) => observed_at <= given.moment)
  const heard = modelOf(until.filter(({ dns }) => dns?.status !== 'servfail'))
  return { ...given, full: modelOf(given.all), cut: modelOf(until), heard }
}

type State = { since: string; last_seen: string | null; records: unknown }
type Body = {
  observed: { dns: string | null; web: string | null }
  lookup: Record<string, unknown>
  redirects_to: { target: string } | null
  website: { since: string; last_seen: string } | null
  records: Record<string, State | null>
  former_records: Record<string, State | null> | null
  addresses: { ip: string; since: string }[]
}

async function agreeOnName({ facts }: Pick<Store, 'facts'>, expected: Expected, name: DomainName): Promise<void> {
  const { cut, heard, moment, isComplete } = expected
  const profile = cut.domainProfile(name, 100)
  const found = await readDomainAsOf(facts, name, null, moment)
  if (found === null) return assert.deepEqual(profile?.records ?? {}, {})
  assert.ok(profile !== null, 'nothing of later observations is shown')
  const body = JSON.parse(found.body.map(String).join('')) as Body
  const states = body.former_records ?? body.records
  for (const type of RECORD_TYPES) {
    const known: HistoryState | undefined = profile.records[type]
    const { since, last_seen, records } = states[type] ?? {}
    assert.deepEqual(
      [since, JSON.stringify(records)],
      [known && `${formatInstant(known.first_seen)}Z`, known?.records],
      type,
    )
    const clock = `${formatInstant(cut.clock(name, type))}Z`
    if (last_seen && last_seen <= `${formatInstant(moment)}Z`) assert.equal(last_seen, clock, `${type}: last seen`)
  }
  const { ip } = body.lookup
  assert.equal(body.former_records !== null, ip === 'nxdomain')
  if (ip !== null && (ip !== 'nxdomain' || isComplete))
    assert.ok([profile.lookup.ip, heard.lookup(name)?.ip].includes(ip as never), `ip: ${ip}`)
  if (ip === 'nxdomain') assert.deepEqual(body.addresses, [])
  if (ip !== null && ip === profile.lookup.ip)
    assert.deepEqual(
      body.addresses.map(({ ip, since }) => [ip, since]),
      profile.addresses.map(({ address, since }) => [address, `${since}Z`]),
    )
  const [web = null] = cut.webHistory(name)
  assert.equal(body.website?.since ?? null, web && `${formatInstant(web.first_seen)}Z`)
  if (web === null) return assert.equal(body.lookup.has_website, null)
  const { has_website, ssl } = profile.lookup
  assert.deepEqual([body.lookup.has_website, body.lookup.ssl], [has_website ? 'yes' : 'no', ssl])
  assert.equal(body.redirects_to?.target ?? null, profile.redirects_to)
  if (body.observed.web !== null)
    assert.deepEqual(body.lookup.social_networks, JSON.parse(profile.lookup.social_networks))
}

/** The redirects to a domain at the moment are those of the cut, and in a time those of the whole history. */
async function agreeOnRedirects(store: Store, { cut, full, moment }: Expected, limit: number): Promise<void> {
  const target = 'example' as DomainName
  const textsOf = (spans: readonly RedirectSpan[]): string[] =>
    spans.map(({ host, name, first }) => `${host} ${name} ${first}`).sort()
  const shown = cut.redirectSpans().filter(({ host, name, first }) => {
    const [web] = cut.webHistory(name)
    const later = cut.redirectSpans().some((span) => span.name === name && span.first > first)
    return !later && web !== undefined && finalHostOf(web.verdict) === host
  })
  const time = { from: moment - 300, to: moment + 300 }
  const within = full.redirectSpans().filter(({ first, last }) => first <= time.to && last >= time.from)
  for (const [question, expected] of [
    [{ at: moment }, shown],
    [time, within],
  ] as const) {
    const found: RedirectSpan[] = []
    let position: Uint8Array | null = null
    do {
      const page: RedirectSpanPage = await readRedirectPage(store, target, question, position, limit)
      found.push(...page.spans)
      position = page.position
    } while (position !== null)
    assert.deepEqual(textsOf(found), textsOf(expected), JSON.stringify(question))
  }
}

/** A moment after all observations of a name shows what the store shows. */
async function agreeOnEnd({ facts }: Pick<Store, 'facts'>, { full }: Expected, name: DomainName): Promise<void> {
  const found = await readDomainAsOf(facts, name, null, NOW)
  const ip = full.lookup(name)?.ip ?? null
  if (found !== null) assert.equal((JSON.parse(found.body.map(String).join('')) as Body).lookup.ip, ip)
}

async function rowsOf(store: Store, question: AddressQuestion, limit: number): Promise<string[]> {
  const rows: string[] = []
  let position: Uint8Array | null = null
  do {
    const page: Awaited<ReturnType<typeof readAddressPage>> = await readAddressPage(store, question, position, limit)
    assert.ok(page.spans.length <= limit)
    rows.push(...page.spans.map(({ name, first }) => `${name} ${first}`))
    position = page.position
  } while (position !== null)
  return rows
}

/**
 * The rows are those of the newest observations of the type. Only names that did not exist, or not since the type was
 * observed, may be missing. Those of which it is known are. A look-up that failed changes nothing.
 */
async function agreeOnAddress(store: Store, expected: Expected, address: IpAddress, limit: number): Promise<void> {
  const { cut, heard, full, moment, isComplete } = expected
  const type = address.includes(':') ? 'AAAA' : 'A'
  const spans = cut.spans().filter(({ value }) => value === `${type} ${address}`)
  const newest = new Map(spans.map((span) => [span.name, span]))
  const holding = [...newest.values()].filter(({ name }) =>
    cut.history(name, type)[0]!.records.includes(`"${address}"`),
  )
  const rows = await rowsOf(store, { first: address, last: address, at: moment }, limit)
  const possible = holding.map(({ name, first }) => `${name} ${first}`)
  assert.deepEqual([...new Set(rows)], rows, 'no row is repeated')
  assert.deepEqual(
    rows.filter((row) => !possible.includes(row)),
    [],
    'a row is not of the newest observation',
  )
  for (const { name, first } of holding) {
    const isAbsent = heard.lookup(name)?.ip === 'nxdomain'
    const isKnown = isAbsent && (full.clocks(name).dns ?? 0) <= moment
    const isGone = !isComplete && cut.absentSince(name, type) !== null
    if (!isAbsent && !isGone) assert.ok(rows.includes(`${name} ${first}`), `${name} is missing`)
    if (isKnown) assert.ok(!rows.includes(`${name} ${first}`), `${name} did not exist`)
  }
}

async function agreeOnTime(store: Store, { full, moment }: Expected, address: IpAddress, limit: number): Promise<void> {
  const time = { from: moment - 300, to: moment + 300 }
  const all = full.spans().filter(({ value }) => value.endsWith(` ${address}`) && value.startsWith('A'))
  const within = all.filter(({ first, last }) => first <= time.to && last >= time.from)
  const rows = await rowsOf(store, { first: address, last: address, ...time }, limit)
  assert.deepEqual(rows.toSorted(), within.map(({ name, first }) => `${name} ${first}`).toSorted())
}

const PROPERTY = property(
  'a random history cut at a random moment: the store with all observations says as of the moment what the model with ' +
    'the observations up to it says',
  [cuts, batchSizes, fc.integer({ min: 1, max: 4 })],
  async ({ store }, given, sizes, limit) => {
    await happen(store, given.all, sizes)
    const expected = expectedOf(given)
    for (const name of NAMES) {
      await agreeOnName(store, expected, name)
      await agreeOnEnd(store, expected, name)
    }
    await agreeOnRedirects(store, expected, limit)
    for (const address of ADDRESSES) {
      await agreeOnAddress(store, expected, address, limit)
      await agreeOnTime(store, expected, address, limit)
    }
  },
)

export function asOf(engine: Engine): void {
  const numRuns = Number(process.env.DOMAINDEX_TEST_RUNS ?? engine.runs ?? inForm(8, 15))
  test(PROPERTY.sentence, () => fc.assert(PROPERTY.on(engine), { numRuns }))
}
