/** The known state of one name before an observation is applied: its crawl state and, if needed, its current facts. */

import type { DnsStatus, SocialAccount } from '../observe/observation.ts'
import type { DomainName } from '../values/domain-name.ts'
import type { IpAddress } from '../values/ip-address.ts'
import { RECORD_TYPES, type RecordType } from '../values/records/dns-record.ts'
import type { Instant } from '../values/time.ts'
import type { WebVerdict } from '../values/web-verdict.ts'

/** Everything that has its own clock: the status, each record type, the web part, and its certificate. */
export const OBSERVED_PARTS = ['status', ...RECORD_TYPES, 'web', 'certificate'] as const
export type ObservedPart = (typeof OBSERVED_PARTS)[number]

/**
 * When each part was last observed, in the order of OBSERVED_PARTS. 0 means never. PART_NUMBERS has the stored numbers.
 */
export type Clocks = readonly Instant[]

/** The clocks of a name that was never probed. */
export const NO_CLOCKS: Clocks = OBSERVED_PARTS.map(() => 0)

/**
 * The crawl state: everything that an unchanged observation reads and writes.
 * `version` is 0 for a name that the store does not have. Every write increments it.
 * A fingerprint is that of the last complete part that was applied, or 0 if there is none.
 */
export type CrawlState = {
  name: DomainName
  version: number
  clocks: Clocks
  dnsFingerprint: number
  webFingerprint: number
  /**
   * When the next probe is due. 0 means as soon as possible; before 2000, it is a place in a list (`fresh-name.ts`).
   */
  due: Instant
  /** The number of consecutive nxdomain or servfail results, 31 at most. */
  failures: number
  /** The newest day, in days since 1970, on which a zone or a list reported that it was registered; null: none did. */
  registered: number | null
  /** The name was forgotten. Nothing may store it again. */
  forgotten: boolean
}

/** The crawl state of a name that the store does not have. */
export function unknownCrawlState(name: DomainName): CrawlState {
  return {
    name,
    version: 0,
    clocks: NO_CLOCKS,
    dnsFingerprint: 0,
    webFingerprint: 0,
    due: 0,
    failures: 0,
    registered: null,
    forgotten: false,
  }
}

/**
 * The newest state of one record type. `records` is the stored text (`values/records/stored-records.ts`). `count` is the number of
 * states, 1,001 at most.
 */
export type DnsState = {
  first_seen: Instant
  count: number
  records: string
  /** Only for SOA: the `first_seen` of the stored state that differs only in its serial, or null if there is none. */
  base: Instant | null
  /** The name did not exist after the type was last observed. Absent if it did, and for a state without records. */
  absence?: Absence
}

/**
 * The first and the last time at which a name did not exist, since a type was last observed. While the status is
 * nxdomain, the clock of the status is the last time, and `last` may be older.
 */
export type Absence = { first: Instant; last: Instant }

/** The newest state of the web verdict. Its value is in the facts. `count` as of a DnsState. */
export type FurtherState = { first_seen: Instant; count: number }
/** The newest state of the certificate. `records`: the stored text (`values/certificate/certificate.ts`). */
export type CertificateState = FurtherState & { records: string }

/** The newest state of each type that has one. */
export type NewestStates = Partial<Record<RecordType, DnsState> & { web: FurtherState; certificate: CertificateState }>

/** The field `ip` of /lookup. */
export type IpStatus = 'v4only' | 'v6only' | 'both' | 'servfail' | 'noip' | 'nxdomain'

/**
 * The web part of the response. `redirect_host` is absent if it is unknown, as in older rows. `digest` is the digest of
 * the start page's text, or null without text.
 */
export type WebFacts = WebVerdict & {
  social_networks: readonly string[]
  social_accounts: readonly SocialAccount[]
  digest: string | null
}

/** The web part of a name whose web was never observed. */
export const NO_WEBSITE: WebFacts = {
  has_website: false,
  redirect_to_https: false,
  redirect_to_www: false,
  only_with_www: false,
  redirects_to: null,
  ssl: 'nocert',
  social_networks: [],
  social_accounts: [],
  digest: null,
}

/** The current facts of a name. */
export type CurrentFacts = {
  /** Null before the first dns part. */
  status: DnsStatus | null
  /** Null before A or AAAA was queried and before the name was nxdomain or servfail. */
  ip: IpStatus | null
  only_dns_no_web: boolean
  /** Rows of older releases have no state of the web, see `web-state.ts`. */
  states: NewestStates
  /** The current addresses of the name: IPv4 before IPv6, in numeric order. */
  addresses: readonly IpAddress[]
  /** Null before the first web part. */
  web: WebFacts | null
}

/** The facts of a name that was never observed. */
export const NO_FACTS: CurrentFacts = {
  status: null,
  ip: null,
  only_dns_no_web: false,
  states: {},
  addresses: [],
  web: null,
}
