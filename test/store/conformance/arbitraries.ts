/** Arbitrary histories over few names, addresses and targets, so that they collide. */

import fc from 'fast-check'
import type { DnsPart, Observation, WebPart } from '../../../src/observe/observation.ts'
import type { Certificate } from '../../../src/values/certificate/certificate.ts'
import type { DomainName } from '../../../src/values/domain-name.ts'
import type { IpAddress } from '../../../src/values/ip-address.ts'
import { RECORD_TYPES, type RecordType } from '../../../src/values/records/dns-record.ts'
import { address, dns, type Lists, minute, NXDOMAIN, name, SERVFAIL, soa, web } from './world.ts'

/** An event of a store: an observation arrives, or a name is forgotten. */
export type Event = Observation | { forget: DomainName }

export const NAMES: readonly DomainName[] = ['a.example', 'b.example', 'c-d.example', 'c.example'].map(name)
/** Names that are redirect targets and never observed. */
export const TARGETS: readonly DomainName[] = ['t.example', 'u.example'].map(name)
const V4 = ['192.0.2.2', '192.0.2.10', '203.0.113.1']
const V6 = ['2001:db8::2', '2001:db8::10', '::ffff:192.0.2.2']
export const ADDRESSES: readonly IpAddress[] = [...V4, ...V6].map(address)

const HOSTS = ['one.example', 'two.example']
export const TEXTS: readonly (readonly string[])[] = [['ab'], ['a', 'b'], ['é\\255"'], ['']]
const POOLS: Record<RecordType, readonly unknown[]> = {
  A: V4,
  AAAA: V6,
  NS: HOSTS,
  CNAME: HOSTS,
  MX: HOSTS.flatMap((mail_server) => [10, 9].map((priority) => ({ priority, mail_server }))),
  TXT: TEXTS,
  SOA: [1, 2, 3].flatMap((serial) => [soa(serial), soa(serial, 60), soa(serial, 60, HOSTS[0])]),
}

/** A list of one type: mostly one or two records, sometimes none. An SOA list has one, rarely two. */
function list(type: RecordType): fc.Arbitrary<readonly unknown[]> {
  const one = fc.constantFrom(...POOLS[type]).map((record) => [record])
  const some = fc.subarray([...POOLS[type]])
  return fc.oneof({ weight: type === 'SOA' ? 8 : 1, arbitrary: one }, { weight: 1, arbitrary: some })
}

const lists = fc.record(Object.fromEntries(RECORD_TYPES.map((type) => [type, list(type)])), { requiredKeys: [] })

/** The part with some of its types interrupted, as files with separate time ranges say. */
function interrupted(part: DnsPart): fc.Arbitrary<DnsPart> {
  const queried = RECORD_TYPES.filter((type) => part.records[type] !== undefined)
  return fc.subarray(queried).map((interrupted) => ({ ...part, ...(interrupted.length > 0 && { interrupted }) }))
}

const dnsPart: fc.Arbitrary<DnsPart> = fc.oneof(
  { weight: 5, arbitrary: lists.map((given) => dns(given as Lists)) },
  { weight: 1, arbitrary: lists.chain((given) => interrupted(dns(given as Lists))) },
  { weight: 1, arbitrary: fc.constantFrom(NXDOMAIN, SERVFAIL) },
)

const accounts = fc.subarray([
  { network: 'x', type: 'x', username: 'a', url: 'https://x.com/a' },
  { network: 'facebook', type: 'facebook_page', username: 'b', url: 'https://facebook.com/b' },
  { network: 'x', type: 'x', username: 'c', url: 'https://x.com/c' },
])

/** Certificates with names of their own and of others. */
export const CERTIFICATES: readonly Certificate[] = [
  ['a.example'],
  ['*.b.example', 'b.example'],
  ['a.example', 'x.b.example'],
  [],
].map((names, index) => ({
  sha256: `${index}f`.repeat(32),
  issuer: `CN=${index}`,
  not_before: index,
  not_after: 9,
  names,
  key: 'ec-p256',
}))

function webPart(domain: DomainName): fc.Arbitrary<WebPart> {
  const verdict = { ssl: fc.constantFrom('valid', 'nocert', 'invalid'), redirect_to_https: fc.boolean() }
  const targets = [...NAMES, ...TARGETS].filter((target) => target !== domain)
  const redirecting = fc
    .record({ ...verdict, redirects_to: fc.constantFrom(...targets), host: fc.constantFrom('', 'www.', 'a.b.') })
    .map(({ host, ...part }) => ({ ...part, redirect_host: name(`${host}${part.redirects_to}`) }))
  const text = fc.constantFrom(null, 'One text.', 'Another text.')
  const shown = { redirect_to_www: fc.boolean(), only_with_www: fc.boolean(), social_accounts: accounts, text }
  const standing = fc.record({ ...verdict, ...shown, has_website: fc.constant(true) })
  const certificate = fc.constantFrom(undefined, null, ...CERTIFICATES)
  return fc.tuple(fc.oneof(fc.constant({}), redirecting, standing), certificate).map(([part, certificate]) => {
    return { ...web(part as Parameters<typeof web>[0]), ...(certificate !== undefined && { certificate }) }
  })
}

/** The value in `weight` of `weight + 1` draws, and otherwise null. (`fc.option` with `freq: 1` draws null only.) */
function sometimes<Value>(arbitrary: fc.Arbitrary<Value>, weight: number): fc.Arbitrary<Value | null> {
  return fc.oneof(
    { weight, arbitrary: arbitrary as fc.Arbitrary<Value | null> },
    { weight: 1, arbitrary: fc.constant(null) },
  )
}

/** Minutes 0 to 39, so that many are late or repeated. Rarely one is ahead of the store's clock. */
const observedAt = fc.oneof(
  { weight: 60, arbitrary: fc.integer({ min: 0, max: 39 }).map(minute) },
  { weight: 1, arbitrary: fc.constantFrom(minute(725), minute(726)) },
)

function observation(names: readonly DomainName[]): fc.Arbitrary<Observation> {
  return fc.constantFrom(...names).chain((domain) =>
    fc.record(
      {
        domain: fc.constant(domain),
        observed_at: observedAt,
        dns: sometimes(dnsPart, 4),
        web: sometimes(webPart(domain), 1),
      },
      { noNullPrototype: true },
    ),
  )
}

/**
 * Observations of which some without a web part have a certificate alone, or the verdict on one, which applies as often
 * as it comes.
 */
function certified(names: readonly DomainName[]): fc.Arbitrary<Observation> {
  const ssl = sometimes(fc.constantFrom('valid' as const, 'nocert' as const, 'invalid' as const), 1)
  const presented = fc.constantFrom(undefined, null, ...CERTIFICATES)
  return fc.tuple(observation(names), ssl, presented).map(([each, ssl, presented]) => {
    if (each.web !== null) return each
    return { ...each, ...(ssl !== null ? { ssl } : presented !== undefined && { presented }) }
  })
}

/** Observations of which every second one repeats the content of one of the few before it. */
export function observations(names: readonly DomainName[], longest: number): fc.Arbitrary<Observation[]> {
  return repeating(observation(names), longest)
}

/** Observations with some forgotten names. Half of the histories are in the order of their times. */
export function history(
  names: readonly DomainName[],
  longest: number,
  observed: typeof observation = observation,
): fc.Arbitrary<Event[]> {
  const event = fc.oneof(
    { weight: 24, arbitrary: observed(names) as fc.Arbitrary<Event> },
    { weight: 1, arbitrary: fc.constantFrom(...names).map((forget) => ({ forget })) },
  )
  return fc
    .tuple(repeating(event, longest), fc.boolean())
    .map(([events, ordered]) => (ordered ? inOrder(events) : events))
}

function repeating<E extends Event>(event: fc.Arbitrary<E>, longest: number): fc.Arbitrary<E[]> {
  const back = sometimes(fc.integer({ min: 1, max: 6 }), 1)
  return fc.array(fc.tuple(event, back), { maxLength: longest, size: 'max' }).map((drawn) => {
    const events: E[] = []
    for (const [event, back] of drawn) events.push(back === null ? event : shownAgain(event, events.at(-back)))
    return events
  })
}

/** The event with the parts of an earlier one, or only with its dns part if that is of another domain. */
function shownAgain<E extends Event>(event: E, earlier: Event | undefined): E {
  if (!('domain' in event) || earlier === undefined || !('domain' in earlier)) return event
  if (event.domain !== earlier.domain) return { ...event, dns: earlier.dns }
  const { presented, ...rest } = event
  return { ...rest, dns: earlier.dns, web: earlier.web, ...(earlier.web === null && { presented }) } as E
}

/** The events with their observations in the order of their times. Forgotten names keep their positions. */
function inOrder(events: readonly Event[]): Event[] {
  const times = events.filter((event) => 'domain' in event).sort((a, b) => a.observed_at - b.observed_at)
  return events.map((event) => ('domain' in event ? times.shift()! : event))
}

/** As `history`, also with certificates alone. */
export function certifiedHistory(names: readonly DomainName[], longest: number): fc.Arbitrary<Event[]> {
  return history(names, longest, certified)
}
