/** The response of GET /domain/NAME with `at`: what a store that ended at a moment would show of the DNS of a domain. */

import type { IpStatus } from '../../../apply/crawl-state.ts'
import { addressesIn, type DnsAsOf, readDnsAsOf, readFirstSeen, type StateAsOf } from '../../../export/as-of.ts'
import type { StateCutoffs } from '../../../store/port/retention.ts'
import type { DomainProfile, FactsReader, WebState } from '../../../store/port/store.ts'
import type { DomainName } from '../../../values/domain-name.ts'
import { compareAddresses, type IpAddress } from '../../../values/ip-address.ts'
import { RECORD_TYPES, type RecordType } from '../../../values/records/dns-record.ts'
import type { Instant } from '../../../values/time.ts'
import { RECORD_SCHEMAS } from '../dnshistory.ts'
import type { EndpointResult } from '../endpoint.ts'
import { KnownCharacteristicsSchema, knownCharacteristicsJson } from '../lookup.ts'
import {
  AddressSchema,
  CostSchema,
  DomainSchema,
  exactObject,
  type JsonSchema,
  nullable,
  Type,
  UtcInstantSchema,
} from '../schema.ts'
import { instantJson } from './moment.ts'
import { RequestedSchema } from './requested-name.ts'
import { lookupFieldsOf } from './web-state.ts'

/** The maximum number of addresses in a response. */
const MAX_ADDRESSES = 100

/** Facts that are kept of the present only. */
const UNKNOWN = { redirect_count: null, reverse_ip_count: null }

const CharacteristicsSchema = exactObject({
  ...(KnownCharacteristicsSchema as { properties: Record<string, JsonSchema> }).properties,
  ...Object.fromEntries(Object.keys(UNKNOWN).map((key) => [key, Type.Null({ description: 'Not kept of the past.' })])),
})

/** The records of all types, each with `times`. */
export function recordsSchema(times: Record<string, JsonSchema>, description: string): JsonSchema {
  const ofType = (type: RecordType) =>
    nullable(exactObject({ ...times, records: Type.Array(RECORD_SCHEMAS[type]) }), description)
  return exactObject(Object.fromEntries(RECORD_TYPES.map((type) => [type, ofType(type)])))
}

const RecordsSchema = recordsSchema(
  {
    since: UtcInstantSchema,
    last_seen: nullable(
      UtcInstantSchema,
      'When they were last observed, without an interruption. After `at`: they were observed before and after it.',
    ),
  },
  'The newest records that were first observed by `at`; null if there are none.',
)

export const DomainAsOfSchema = exactObject({
  name: DomainSchema,
  requested: RequestedSchema,
  at: UtcInstantSchema,
  observed: exactObject({
    dns: nullable(UtcInstantSchema, 'When DNS was last observed; null if it was also observed after `at`.'),
    web: nullable(UtcInstantSchema, 'When the website was last observed; null if that was after `at`, or never.'),
  }),
  lookup: CharacteristicsSchema,
  redirects_to: nullable(exactObject({ target: DomainSchema }), 'Where the domain redirected to.'),
  website: nullable(
    exactObject({
      since: UtcInstantSchema,
      last_seen: Type.String({
        ...UtcInstantSchema,
        description: 'When this was last observed. After `at`: it was observed before and after it.',
      }),
    }),
    'When what `lookup` and `redirects_to` say of the website was observed; null if nothing was by `at`.',
  ),
  records: RecordsSchema,
  former_records: nullable(RecordsSchema, 'The last records of a name that did not exist (`ip` is `nxdomain`).'),
  address_count: Type.Integer({ minimum: 0, description: 'The number of addresses.' }),
  addresses: Type.Array(
    exactObject({
      ip: AddressSchema,
      since: nullable(UtcInstantSchema, 'Null if more than 1,000 states would have to be read.'),
      neighbours: Type.Null({ description: 'Not counted for the past: `/ip/ADDRESS?at=` lists them.' }),
    }),
    { maxItems: MAX_ADDRESSES, description: 'The first 100 addresses in `records`, in the order of `/reverseip`.' },
  ),
  cost: CostSchema,
})

/** Null if nothing that the store keeps shows that the name was known by the moment. */
export async function readDomainAsOf(
  facts: FactsReader,
  name: DomainName,
  requested: DomainName | null,
  moment: Instant,
): Promise<EndpointResult | null> {
  const profile = await facts.domainProfile(name, 0)
  if (profile === null) return null
  const { lookup } = profile
  const dns = await readDnsAsOf(facts, name, moment, lookup.ip === 'nxdomain')
  const isDnsKnown = lookup.dns !== null && lookup.dns <= moment
  const isWebKnown = lookup.web !== null && lookup.web <= moment
  const [web = null] = (await facts.webHistory(name, moment + 1, 1)).states
  if (!isDnsKnown && web === null && Object.keys(dns.states).length === 0) return null
  const ip = isDnsKnown ? lookup.ip : ipOf(dns, await facts.prunedUntil(), moment)
  const isAbsent = ip === 'nxdomain'
  const addresses = isAbsent || ip === 'servfail' ? [] : addressesOf(dns)
  const shown = addresses.slice(0, MAX_ADDRESSES)
  const firstSeen = await readFirstSeen(facts, name, shown, moment)
  const rows = shown.map((address) => {
    const since = firstSeen.get(address) ?? null
    return `{"ip":"${address}","since":${instantJson(since)},"neighbours":null}`
  })
  const records = recordsJson(dns.states)
  const observed = { dns: isDnsKnown ? lookup.dns : null, web: isWebKnown ? lookup.web : null }
  const target = web?.verdict.redirects_to ?? null
  const website = web && `{"since":${instantJson(web.first_seen)},"last_seen":${instantJson(web.last_seen)}}`
  const body =
    `{"name":"${name}","requested":${JSON.stringify(requested)},"at":${instantJson(moment)},` +
    `"observed":{"dns":${instantJson(observed.dns)},"web":${instantJson(observed.web)}},` +
    `"lookup":${characteristicsJson(profile, { ...observed, ip, state: web }, dns)},"redirects_to":${JSON.stringify(target && { target })},"website":${website},` +
    `"records":${isAbsent ? recordsJson({}) : records},"former_records":${isAbsent ? records : 'null'},` +
    `"address_count":${addresses.length},"addresses":[${rows.join()}],"cost":1}`
  return { body: [body], lastObserved: null }
}

/**
 * `ip` of a moment after which DNS was observed again. A failed look-up of the past is not kept, and not shown. If the
 * states of A or AAAA that would say it may have been removed, it is unknown.
 */
function ipOf({ states, exists }: DnsAsOf, prunedUntil: StateCutoffs, moment: Instant): IpStatus | null {
  if (exists !== true) return exists === false ? 'nxdomain' : null
  const isRemoved = (type: 'A' | 'AAAA'): boolean => states[type] === undefined && moment < (prunedUntil[type] ?? 0)
  if (isRemoved('A') || isRemoved('AAAA')) return null
  const [v4, v6] = [hasRecords(states.A), hasRecords(states.AAAA)]
  if (v4 && v6) return 'both'
  if (v4 || v6) return v4 ? 'v4only' : 'v6only'
  return states.A === undefined && states.AAAA === undefined ? null : 'noip'
}

function hasRecords(state: StateAsOf | undefined): boolean {
  return state !== undefined && state.records !== '[]'
}

function addressesOf({ states: { A, AAAA } }: DnsAsOf): IpAddress[] {
  return [...addressesIn(A?.records ?? '[]'), ...addressesIn(AAAA?.records ?? '[]')].sort(compareAddresses)
}

type Known = { dns: Instant | null; web: Instant | null; ip: IpStatus | null; state: WebState | null }

/** The characteristics of /lookup with null for what is unknown. Of a past website, its accounts are. */
function characteristicsJson({ lookup }: DomainProfile, { dns, web, ip, state }: Known, { states }: DnsAsOf): string {
  const isObserved = lookup.web !== null && state !== null
  const verdict = state === null ? { ssl: 'nocert' as const } : lookupFieldsOf(state.verdict)
  const seen = { ...lookup, ...verdict, dns, web: isObserved ? state.first_seen : null, ip }
  const found = JSON.parse(knownCharacteristicsJson(seen)) as Record<string, unknown>
  if (web === null) for (const key of ['social_networks', 'social_accounts']) found[key] = null
  const isOnlyDns = ip === 'noip' && RECORD_TYPES.some((type) => hasRecords(states[type]))
  return JSON.stringify({ ...found, only_dns_no_web: ip === null ? null : isOnlyDns ? 'yes' : 'no', ...UNKNOWN })
}

function recordsJson(states: Partial<Record<RecordType, StateAsOf>>): string {
  const members = RECORD_TYPES.map((type) => {
    const state = states[type]
    if (state === undefined) return `"${type}":null`
    const { first_seen, last_seen, records } = state
    return `"${type}":{"since":${instantJson(first_seen)},"last_seen":${instantJson(last_seen)},"records":${records}}`
  })
  return `{${members.join()}}`
}
