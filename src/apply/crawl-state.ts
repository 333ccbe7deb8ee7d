/**
 * What is known of one name before an observation is applied: its narrow row, and its current facts where they are
 * needed.
 */

import type { DnsStatus, SocialAccount, Ssl } from '../observe/observation.ts'
import { RECORD_TYPES, type RecordType } from '../values/dns-record.ts'
import type { DomainName } from '../values/domain-name.ts'
import type { IpAddress } from '../values/ip-address.ts'
import type { Instant } from '../values/time.ts'

/** Everything that has a clock of its own: the status, each record type, and the web part. */
export const OBSERVED_PARTS = ['status', ...RECORD_TYPES, 'web'] as const
export type ObservedPart = (typeof OBSERVED_PARTS)[number]

/**
 * When each part was last observed, in the order of `PARTS` (in memory; PART_NUMBERS has the stored numbers); 0 is
 * never.
 */
export type Clocks = readonly Instant[]

/** The clocks of a name that nobody has looked at. */
export const NO_CLOCKS: Clocks = OBSERVED_PARTS.map(() => 0)

/**
 * The narrow row: all that an unchanged observation reads and writes.
 * `version` is 0 for a name that the store does not have, and is raised by every write.
 * A fingerprint is that of the last part that was applied whole, 0 where there is none to compare with.
 */
export type CrawlState = {
  name: DomainName
  version: number
  clocks: Clocks
  dnsFingerprint: number
  webFingerprint: number
  /** When it is to be visited again; 0 for as soon as may be. */
  due: Instant
  /** How often in a row it was nxdomain or servfail, 31 at most. */
  failures: number
  /** The name was forgotten and must not come back. */
  forgotten: boolean
}

/**
 * The newest state of one record type. `records` is the kept text (words/record-text.ts), `count` the number of states,
 * 1,001 at most.
 */
export type DnsState = {
  first_seen: Instant
  count: number
  records: string
  /** SOA only: the `first_seen` of the kept state that this one equals but for its serial; null where there is none. */
  base: Instant | null
}

/** `ip` of /lookup. */
export type IpStatus = 'v4only' | 'v6only' | 'both' | 'servfail' | 'noip' | 'nxdomain'

/**
 * The web part as it is answered. `redirect_host` is left out if it is not known, as in older rows. `digest` is that of
 * the start page's text, null where there is none.
 */
export type WebFacts = {
  has_website: boolean
  redirect_to_https: boolean
  redirect_to_www: boolean
  only_with_www: boolean
  redirects_to: DomainName | null
  redirect_host?: DomainName
  ssl: Ssl
  social_networks: readonly string[]
  social_accounts: readonly SocialAccount[]
  digest: string | null
}

/** What is answered of a web part that was never observed. */
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
  /** Null until a dns part was applied. */
  status: DnsStatus | null
  /** Null until A or AAAA was asked, or the name said to be missing or failing. */
  ip: IpStatus | null
  only_dns_no_web: boolean
  states: Partial<Record<RecordType, DnsState>>
  /** Where the name is present now, IPv4 before IPv6, numeric within each. */
  addresses: readonly IpAddress[]
  /** Null until a web part was applied. */
  web: WebFacts | null
}

/** The facts of a name of which nothing was observed. */
export const NO_FACTS: CurrentFacts = {
  status: null,
  ip: null,
  only_dns_no_web: false,
  states: {},
  addresses: [],
  web: null,
}
