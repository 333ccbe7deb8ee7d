/** A row of the lab: one domain, the answers of its name servers and web servers, and the expected observation. */

import { isIPv4 } from 'node:net'
import type { ObservedRecord } from '../src/probe/probe-result.ts'
import { RECORD_TYPES, type RecordType } from '../src/values/records/dns-record.ts'
import { adminEmail } from '../src/values/records/host-name.ts'
import { encodeTxtPart } from '../src/values/records/txt-part.ts'
import type { DnsRecord, DnsRow, DnsTable } from './dns-table.ts'
import type { Site } from './site.ts'

/**
 * `name`: the row's domain. With `count`, it contains `#`, which becomes 001, 002, …. `description`: what the row
 * shows, in one sentence. It has one state, or two if the domain changes.
 */
export type LabRow = {
  name: string
  description: string
  count?: number
  states: (name: string) => readonly LabState[]
}

/** One state of the domain: its hosts in DNS, its sites, and the expected observation. */
export type LabState = { zone: DnsTable; sites: Readonly<Record<string, Site>>; expected: ExpectedObservation }

/** An observation in the format of observation files (docs/data-sources.md), without domain and time. */
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

/** How a state is described. Omitted fields have the values of a typical domain. */
export type StateDescription = {
  /** Addresses of the name, of both families. */
  at?: readonly string[]
  /** Further records of the name, which replace the default NS and SOA. */
  records?: DnsRow
  /** The outcome instead of records. The other DNS fields are then ignored. */
  fails?: 'nxdomain' | 'servfail' | 'refused' | 'lame' | 'silent' | 'malformed'
  /** The site at the name and, unless given otherwise, at its `www.` host. */
  site?: Site
  /** `www.`: by default an alias of the name. Otherwise its own addresses, or null for none. */
  www?: readonly string[] | null
  wwwSite?: Site
  /** Other hosts of the scenario. */
  zone?: DnsTable
  sites?: Readonly<Record<string, Site>>
  /** Expected DNS values that differ from the name's records. */
  dns?: Partial<ExpectedDns>
  /**
   * How the web part differs from a plain website with a valid certificate and no text. Null: absent from the
   * observation.
   */
  web: Partial<ExpectedWeb> | null
  /** The certificate verdict if nothing else of the web is judged. */
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

/** The web part of a domain without a web server. */
export const NO_WEB = { has_website: false, ssl: 'nocert' } as const

const PROVIDER = 'harbour-dns.example'

/** The default SOA. */
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

/** A row of many similar domains. It calls the function for the description of each. */
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

/** No answer and a failure look the same. */
function statusOf(fails: NonNullable<StateDescription['fails']>): ExpectedDns['status'] {
  return fails === 'nxdomain' ? 'nxdomain' : 'servfail'
}

function addressesOf(addresses: readonly string[]): DnsRow {
  const A = addresses.filter(isIPv4)
  const AAAA = addresses.filter((address) => !isIPv4(address))
  return { ...(A.length > 0 && { A }), ...(AAAA.length > 0 && { AAAA }) }
}

/** Returns every type that is answered, with or without records, as an observation file writes it. */
function recordsOf(apex: DnsRow): Partial<Record<RecordType, readonly ObservedRecord[]>> {
  const listed = RECORD_TYPES.flatMap((type) => {
    const answer = apex[type] ?? []
    return Array.isArray(answer) ? [[type, answer.map((record) => observedRecord(type, record))]] : []
  })
  return Object.fromEntries(listed)
}

function observedRecord(type: RecordType, record: DnsRecord[RecordType]): ObservedRecord {
  if (type === 'TXT') return (record as DnsRecord['TXT']).map((part) => encodeTxtPart(Buffer.from(part as string)))
  if (type !== 'SOA') return record as ObservedRecord
  const { mailbox, ...rest } = record as DnsRecord['SOA']
  return { ...rest, admin_email: adminEmail(mailbox) }
}
