/**
 * A row of the lab: one domain, what its name servers and web servers do, and the observation that a visit must give.
 */

import { isIPv4 } from 'node:net'
import type { ObservedRecord } from '../src/probe/probe-result.ts'
import { adminEmail, RECORD_TYPES, type RecordType, textPart } from '../src/values/dns-record.ts'
import type { DnsRecord, DnsRow, DnsTable } from './dns-table.ts'
import type { Site } from './site.ts'

/**
 * `name` is what the row is called; with a count it holds `#`, which becomes 001, 002, …. `shows`: what is learnt from
 * it, one sentence. One state, or two where the domain changes.
 */
export type LabRow = {
  name: string
  description: string
  count?: number
  states: (name: string) => readonly LabState[]
}

/** What the world says of the domain in one state of the lab, hosts whole, and what a visit must give. */
export type LabState = { zone: DnsTable; sites: Readonly<Record<string, Site>>; expected: ExpectedObservation }

/** An observation as files write it (docs/data-sources.md), without its domain and time. */
export type ExpectedObservation = { dns: ExpectedDns; web?: ExpectedWeb; ssl?: ExpectedWeb['ssl'] }
export type ExpectedDns = { status: 'ok' | 'nxdomain' | 'servfail' } & Partial<
  Record<RecordType, readonly ObservedRecord[]>
>
export type ExpectedWeb = {
  has_website: boolean
  redirect_to_https: boolean
  redirect_to_www: boolean
  only_with_www: boolean
  redirects_to: string | null
  ssl: 'valid' | 'nocert' | 'invalid'
  social_accounts: readonly { network: string; type: string; username: string; url: string }[]
  text: string | null
}

/** How a state is written down. What is left out is as with most domains. */
export type StateDescription = {
  /** Addresses of the name, of both families. */
  at?: readonly string[]
  /** Further records of the name, or others than the usual NS and SOA. */
  records?: DnsRow
  /** Instead of records: nothing else is then said of the name. */
  fails?: 'nxdomain' | 'servfail' | 'refused' | 'lame' | 'silent' | 'malformed'
  /** What stands at the name, and if nothing else is said also at its `www.`. */
  site?: Site
  /** `www.`: an alias of the name if nothing is said, its own addresses, or null for none. */
  www?: readonly string[] | null
  wwwSite?: Site
  /** Other hosts that belong to the scenario. */
  zone?: DnsTable
  sites?: Readonly<Record<string, Site>>
  /** What the visit gives other than the records of the name. */
  dns?: Partial<ExpectedDns>
  /** How it differs from a plain website with a valid certificate and no text; null: left out of the observation. */
  web: Partial<ExpectedWeb> | null
  /** The certificate where nothing else of the web is judged. */
  ssl?: ExpectedWeb['ssl']
}

const PLAIN: ExpectedWeb = {
  has_website: true,
  redirect_to_https: false,
  redirect_to_www: false,
  only_with_www: false,
  redirects_to: null,
  ssl: 'valid',
  social_accounts: [],
  text: null,
}

/** What is given of a domain where no web server answers. */
export const NO_WEB = { has_website: false, ssl: 'nocert' } as const

const PROVIDER = 'harbour-dns.example'

/** The usual SOA. */
export const SOA: DnsRecord['SOA'] = {
  primary_nameserver: `ns1.${PROVIDER}`,
  mailbox: `hostmaster.${PROVIDER}`,
  serial: 2026110101,
  refresh_seconds: 7200,
  retry_seconds: 3600,
  expire_seconds: 1_209_600,
  minimum_ttl_seconds: 300,
}

export function row(
  name: string,
  description: string,
  ...descriptions: [StateDescription] | [StateDescription, StateDescription]
): LabRow {
  return { name, description, states: (each) => descriptions.map((state) => stateFrom(each, state)) }
}

/** A row of many domains alike; `told` is asked for each. */
export function rows(
  name: string,
  count: number,
  description: string,
  describe: (name: string) => StateDescription,
): LabRow {
  return { name, description, count, states: (each) => [stateFrom(each, describe(each))] }
}

function stateFrom(name: string, description: StateDescription): LabState {
  const { at = [], site, www, wwwSite = site, zone = {}, sites = {}, fails } = description
  const apex: DnsRow = {
    ...addressesOf(at),
    NS: [`ns1.${PROVIDER}`, `ns2.${PROVIDER}`],
    SOA: [SOA],
    ...description.records,
  }
  const hasWww = www !== null && fails === undefined && (www !== undefined || at.length > 0)
  return {
    zone: {
      [name]: fails ?? apex,
      ...(hasWww && { [`www.${name}`]: www === undefined ? { CNAME: [name] } : addressesOf(www) }),
      ...zone,
    },
    sites: {
      ...(site !== undefined && { [name]: site }),
      ...(hasWww && wwwSite !== undefined && { [`www.${name}`]: wwwSite }),
      ...sites,
    },
    expected: {
      dns: fails === undefined ? { status: 'ok', ...recordsOf(apex), ...description.dns } : { status: statusOf(fails) },
      ...(description.web !== null && { web: { ...PLAIN, ...description.web } }),
      ...(description.ssl !== undefined && { ssl: description.ssl }),
    },
  }
}

/** A name whose servers do not answer is no different from one whose servers fail. */
function statusOf(fails: NonNullable<StateDescription['fails']>): ExpectedDns['status'] {
  return fails === 'nxdomain' ? 'nxdomain' : 'servfail'
}

function addressesOf(addresses: readonly string[]): DnsRow {
  const A = addresses.filter(isIPv4)
  const AAAA = addresses.filter((address) => !isIPv4(address))
  return { ...(A.length > 0 && { A }), ...(AAAA.length > 0 && { AAAA }) }
}

/** Every type that is answered with records or with none, as an observation file writes it. */
function recordsOf(apex: DnsRow): Partial<Record<RecordType, readonly ObservedRecord[]>> {
  const listed = RECORD_TYPES.flatMap((type) => {
    const answer = apex[type] ?? []
    return Array.isArray(answer) ? [[type, answer.map((record) => observedRecord(type, record))]] : []
  })
  return Object.fromEntries(listed)
}

function observedRecord(type: RecordType, record: DnsRecord[RecordType]): ObservedRecord {
  if (type === 'TXT') return (record as DnsRecord['TXT']).map((part) => textPart(Buffer.from(part as string)))
  if (type !== 'SOA') return record as ObservedRecord
  const { mailbox, ...rest } = record as DnsRecord['SOA']
  return { ...rest, admin_email: adminEmail(mailbox) }
}
