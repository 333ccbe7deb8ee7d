/** The change: what must be written of one name after observations were applied to what was known. */

import type { PageTerms } from '../similar/text/terms.ts'
import type { RecordType } from '../values/dns-record.ts'
import type { DomainName } from '../values/domain-name.ts'
import type { IpAddress } from '../values/ip-address.ts'
import type { Instant } from '../values/time.ts'
import type { CrawlState, CurrentFacts } from './crawl-state.ts'

/** A state that is no longer the newest. */
export type SupersededState = {
  type: RecordType
  first_seen: Instant
  /** The last time it was observed unchanged. */
  last_confirmed: Instant
  /** The kept text; null where the state is kept as `serial` beside the one at `base`. */
  records: string | null
  serial: number | null
  base: Instant | null
}

/** What differs in the facts, and with them in the rows that other names share. */
export type FactChanges = {
  current: CurrentFacts
  superseded: readonly SupersededState[]
  /** Addresses in a state for which none of this batch's earlier states stood, with the first_seen of that state. */
  firstSeen: ReadonlyArray<{ address: IpAddress; since: Instant }>
  arrived: readonly IpAddress[]
  left: readonly IpAddress[]
  /** The redirect target before and after; equal where it stayed. */
  redirectBefore: DomainName | null
  redirectAfter: DomainName | null
  /** The start page's terms: undefined where they stay, null where they go. */
  terms: PageTerms | null | undefined
}

/**
 * One name's write. `visit.version` is the version that was read: a store that holds another one turns the change away.
 */
export type Change = { state: CrawlState; facts: FactChanges | null }
