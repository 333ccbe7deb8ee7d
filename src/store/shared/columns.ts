/** How both engines store clocks, facts and terms in columns. */

import {
  type Clocks,
  type CrawlState,
  type CurrentFacts,
  type DnsState,
  type NewestStates,
  OBSERVED_PARTS,
  type ObservedPart,
  unknownCrawlState,
  type WebFacts,
} from '../../apply/crawl-state.ts'
import { FIRST_ADDED_PART_NUMBER, PART_NUMBERS } from '../../apply/stored-numbers.ts'
import type { DnsStatus } from '../../observe/observation.ts'
import { emptyTermVector, type TermVector, termVectorOf, unpackTermVector } from '../../similar/text/term-vector.ts'
import type { DomainName } from '../../values/domain-name.ts'
import { packToHex, unpackHex } from '../../values/ip-address.ts'
import { RECORD_TYPES, type RecordType } from '../../values/records/dns-record.ts'
import type { Instant } from '../../values/time.ts'
import type { Ssl, WebVerdict } from '../../values/web-verdict.ts'
import type { PageOfName } from '../port/similar.ts'
import { columnNames } from './tables.ts'

/** `crawl_state.id` of a forgotten name. */
export const TOMBSTONE_ID = 0

/** The columns of `crawl_state` except its key. */
export type CrawlStateRow = {
  id: number | null
  version: number
  clock: Instant
  other_clocks: Uint8Array | null
  dns_fingerprint: number
  web_fingerprint: number
  due: Instant
  failures: number
  registered: number | null
}

const [, , ...stateColumns] = columnNames('crawl_state')
/** The columns of `crawl_state` from which a CrawlState is read, without its key. */
export const CRAWL_STATE_COLUMNS = stateColumns

/** The crawl state of a name. `row` is undefined if the name has none. */
export function unpackCrawlState(name: DomainName, row: CrawlStateRow | undefined): CrawlState {
  if (row === undefined) return unknownCrawlState(name)
  return {
    name,
    version: row.version,
    clocks: unpackClocks(row.clock, row.other_clocks),
    dnsFingerprint: row.dns_fingerprint,
    webFingerprint: row.web_fingerprint,
    due: row.due,
    failures: row.failures,
    registered: row.registered,
    forgotten: row.id === TOMBSTONE_ID,
  }
}

/** Bytes of an entry of `other_clocks`: the part's number, then seconds, big-endian. */
export const CLOCK_ENTRY_BYTES = 5

/** Clocks as stored: the newest one, and the clocks that differ from their default. */
type PackedClocks = { clock: Instant; otherClocks: Uint8Array | null }

/** `numbers`: the stored number of each index of `Clocks`. */
export function clockCodec(numbers: readonly number[]) {
  const isAdded = numbers.map((number) => number >= FIRST_ADDED_PART_NUMBER)
  const indexOf = new Map(numbers.map((number, index) => [number, index]))
  return {
    pack(clocks: Clocks): PackedClocks {
      let clock = 0
      for (const each of clocks) if (each > clock) clock = each
      const listed: number[] = []
      for (let index = 0; index < clocks.length; index++)
        if (clocks[index] !== (isAdded[index] ? 0 : clock)) listed.push(index)
      if (listed.length === 0) return { clock, otherClocks: null }
      const otherClocks = Buffer.alloc(listed.length * CLOCK_ENTRY_BYTES)
      for (const [entry, index] of listed.entries()) {
        otherClocks.writeUInt8(numbers[index]!, entry * CLOCK_ENTRY_BYTES)
        otherClocks.writeUInt32BE(clocks[index]!, entry * CLOCK_ENTRY_BYTES + 1)
      }
      return { clock, otherClocks }
    },
    /** Ignores unknown numbers: a newer release has written them. */
    unpack(clock: Instant, otherClocks: Uint8Array | null): Instant[] {
      const clocks = isAdded.map((isZero) => (isZero ? 0 : clock))
      if (otherClocks === null) return clocks
      const bytes = Buffer.from(otherClocks.buffer, otherClocks.byteOffset, otherClocks.byteLength)
      for (let offset = 0; offset < bytes.length; offset += CLOCK_ENTRY_BYTES) {
        const index = indexOf.get(bytes.readUInt8(offset))
        const seconds = bytes.readUInt32BE(offset + 1)
        if (index !== undefined) clocks[index] = seconds
      }
      return clocks
    },
  }
}

export const { pack: packClocks, unpack: unpackClocks } = clockCodec(OBSERVED_PARTS.map((part) => PART_NUMBERS[part]))

/** The columns `clock` and `other_clocks` of a name. */
export type StoredClocks = readonly [clock: Instant, otherClocks: Uint8Array | null]
/** Those of a name without a crawl state. */
export const NO_STORED_CLOCKS: StoredClocks = [0, null]

/** The clock of one part. `unpackClocks` reads all of them. */
export function clockOfPart(part: ObservedPart, [clock, otherClocks]: StoredClocks): Instant {
  const number = PART_NUMBERS[part]
  for (let at = 0; otherClocks !== null && at < otherClocks.length; at += CLOCK_ENTRY_BYTES)
    if (otherClocks[at] === number) return new DataView(otherClocks.buffer, otherClocks.byteOffset).getUint32(at + 1)
  return number < FIRST_ADDED_PART_NUMBER ? clock : 0
}

/** The bits of `facts.flags`. */
export const FACTS_FLAG = {
  web: 1,
  has_website: 2,
  redirect_to_https: 4,
  redirect_to_www: 8,
  only_with_www: 16,
  only_dns_no_web: 32,
} as const

/** The columns of `facts` except id and name. `redirect_host` is null in rows of older releases. */
export type FactsRow = {
  status: string | null
  ip: string | null
  flags: number
  ssl: string | null
  redirects_to: string | null
  social_networks: string | null
  social_accounts: string | null
  text_digest: string | null
  addresses: string | null
  states: string
  redirect_host: string | null
}

export function packFacts({ status, ip, only_dns_no_web, states, addresses, web }: CurrentFacts): FactsRow {
  return {
    status,
    ip,
    flags: (only_dns_no_web ? FACTS_FLAG.only_dns_no_web : 0) | (web ? flagsOf(web) : 0),
    ssl: web?.ssl ?? null,
    redirects_to: web?.redirects_to ?? null,
    social_networks: web ? JSON.stringify(web.social_networks) : null,
    social_accounts: web ? JSON.stringify(web.social_accounts) : null,
    text_digest: web?.digest ?? null,
    addresses: addresses.length > 0 ? JSON.stringify(addresses.map(packToHex)) : null,
    states: packStates(states),
    redirect_host: web?.redirect_host ?? null,
  }
}

/** The facts of a name. */
export function unpackFacts(name: DomainName, row: FactsRow): CurrentFacts {
  return {
    status: row.status as DnsStatus | null,
    ip: row.ip as CurrentFacts['ip'],
    only_dns_no_web: (row.flags & FACTS_FLAG.only_dns_no_web) !== 0,
    states: unpackStates(row.states),
    addresses: row.addresses === null ? [] : (JSON.parse(row.addresses) as string[]).map(unpackHex),
    web: (row.flags & FACTS_FLAG.web) === 0 ? null : unpackWeb(name, row),
  }
}

function flagsOf(web: WebFacts): number {
  let flags: number = FACTS_FLAG.web
  if (web.has_website) flags |= FACTS_FLAG.has_website
  if (web.redirect_to_https) flags |= FACTS_FLAG.redirect_to_https
  if (web.redirect_to_www) flags |= FACTS_FLAG.redirect_to_www
  if (web.only_with_www) flags |= FACTS_FLAG.only_with_www
  return flags
}

/**
 * An older release on the same store writes a new target and leaves the former host. Therefore a host that does not
 * match the name and its target counts as unknown. Without a target, the host was below the name's own registrable
 * domain, which has at least two labels under any public suffix list.
 */
function redirectHostOf(name: DomainName, { redirects_to, redirect_host }: VerdictRow): DomainName | null {
  if (redirect_host === null) return null
  const domain = redirects_to ?? name.split('.').slice(-2).join('.')
  return `.${redirect_host}`.endsWith(`.${domain}`) ? (redirect_host as DomainName) : null
}

function unpackWeb(name: DomainName, row: FactsRow): WebFacts {
  const { social_networks, social_accounts, text_digest } = row
  return {
    ...verdictOfColumns(name, row),
    social_networks: JSON.parse(social_networks!),
    social_accounts: JSON.parse(social_accounts!),
    digest: text_digest,
  }
}

/** The columns of `facts` with the verdict of the website. */
export const VERDICT_COLUMNS = ['flags', 'ssl', 'redirects_to', 'redirect_host'] as const
export type VerdictRow = Pick<FactsRow, (typeof VERDICT_COLUMNS)[number]>

function verdictOfColumns(name: DomainName, row: VerdictRow): WebVerdict {
  const { flags, redirects_to, ssl } = row
  const redirect_host = redirectHostOf(name, row)
  return {
    has_website: (flags & FACTS_FLAG.has_website) !== 0,
    redirect_to_https: (flags & FACTS_FLAG.redirect_to_https) !== 0,
    redirect_to_www: (flags & FACTS_FLAG.redirect_to_www) !== 0,
    only_with_www: (flags & FACTS_FLAG.only_with_www) !== 0,
    redirects_to: redirects_to as DomainName | null,
    ...(redirect_host !== null && { redirect_host }),
    ssl: ssl as Ssl,
  }
}

/** The newest verdict; null if the web was never observed. */
export function unpackVerdict(name: DomainName, row: VerdictRow): WebVerdict | null {
  return (row.flags & FACTS_FLAG.web) === 0 ? null : verdictOfColumns(name, row)
}

/**
 * JSON object: record type -> [first_seen, count, base, records], then the first and last time of an absence, if there
 * was one. The records are inserted as stored. Before them, web -> [first_seen, count], and
 * certificate -> [first_seen, count, records].
 */
export function packStates(states: CurrentFacts['states']): string {
  const members: string[] = []
  const { web, certificate } = states
  if (web) members.push(`"web":[${web.first_seen},${web.count}]`)
  if (certificate) members.push(`"certificate":[${certificate.first_seen},${certificate.count},${certificate.records}]`)
  for (const type of RECORD_TYPES) {
    const state = states[type]
    if (!state) continue
    const { first_seen, count, base, records, absence } = state
    const absent = absence ? `,${absence.first},${absence.last}` : ''
    members.push(`"${type}":[${first_seen},${count},${base},${records}${absent}]`)
  }
  return `{${members.join(',')}}`
}

/** A state of a record type as packStates stores it. `records`: the stored values. */
export type StoredState = [
  first_seen: Instant,
  count: number,
  base: Instant | null,
  records: unknown[],
  firstAbsent?: Instant,
  lastAbsent?: Instant,
]

export type StoredStates = Partial<
  Record<RecordType, StoredState> & { web: [Instant, number]; certificate: [Instant, number, unknown[]] }
>

/** The states as they are stored, by type. */
export function parseStates(text: string): StoredStates {
  return JSON.parse(text) as StoredStates
}

export function unpackStates(text: string): NewestStates {
  const stored = parseStates(text)
  const states: NewestStates = {}
  const { web, certificate } = stored
  if (web) states.web = { first_seen: web[0], count: web[1] }
  if (certificate) {
    const [first_seen, count, records] = certificate
    states.certificate = { first_seen, count, records: JSON.stringify(records) }
  }
  for (const type of RECORD_TYPES) {
    const state = stored[type]
    if (!state) continue
    const [first_seen, count, base, records, first, last] = state
    const absence = first !== undefined && last !== undefined && { absence: { first, last } }
    states[type] = { first_seen, count, base, records: JSON.stringify(records), ...absence } satisfies DnsState
  }
  return states
}

/** The words of the start page of a name; null if it has no text. */
export function wordsOfPage(page: PageOfName | null): TermVector | null {
  if (page === null) return null
  if ('terms' in page) return termVectorOf(page.terms)
  if (page.vector === null) return null
  const words = emptyTermVector(0)
  unpackTermVector(page.vector, words)
  return words
}

/** Pairs (hash, count) as little-endian bytes. */
export function packTerms(counts: Uint32Array): Uint8Array {
  return new Uint8Array(counts.buffer, counts.byteOffset, counts.byteLength)
}

export function unpackTerms(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(Uint8Array.from(bytes).buffer)
}
