/** The change: what must be written for one name after observations were applied to its known state. */

import type { SetChange } from '../inverse/entries/record-events.ts'
import type { DnsStatus } from '../observe/observation.ts'
import type { PageTerms } from '../similar/text/terms.ts'
import type { Certificate } from '../values/certificate/certificate.ts'
import type { DomainName } from '../values/domain-name.ts'
import type { IpAddress } from '../values/ip-address.ts'
import type { RecordType } from '../values/records/dns-record.ts'
import type { StateType } from '../values/state-type.ts'
import type { Instant } from '../values/time.ts'
import type { WebVerdict } from '../values/web-verdict.ts'
import type { CrawlState, CurrentFacts } from './crawl-state.ts'

/** A state that is no longer the newest. */
export type SupersededState = {
  type: StateType
  first_seen: Instant
  /** The last time an observation confirmed it. */
  last_confirmed: Instant
  /** The stored text. Null if the state is stored as `serial` and refers to the state at `base`. */
  records: string | null
  serial: number | null
  base: Instant | null
}

/**
 * A time in which records were not observed continuously: seen at `last_seen`, not there or not observed after that,
 * seen again at `seen_again`. A record in the states of both times has two spans.
 */
export type Interruption = { last_seen: Instant; seen_again: Instant }

/**
 * What an observation changed in one part of a name: a set of records or the certificate, the status, the verdict on the
 * website, or the text of the start page. `new`: the name was unknown. `at`: the time of the observation; null if a list added
 * the name.
 */
export type Transition =
  | SetChange
  | { type: 'new'; at: Instant | null }
  | { type: 'status'; before: DnsStatus | null; after: DnsStatus; at: Instant }
  | { type: 'verdict'; before: WebVerdict | null; after: WebVerdict; at: Instant }
  | { type: 'text'; after: PageTerms | null; at: Instant }

/** Changed facts, and the changed rows that this name shares with others. */
export type FactChanges = {
  current: CurrentFacts
  superseded: readonly SupersededState[]
  interruptions: ReadonlyArray<Interruption & { type: RecordType }>
  /** Addresses that no earlier state of this batch contained, with the first_seen of the state that does. */
  firstSeen: ReadonlyArray<{ address: IpAddress; since: Instant }>
  arrived: readonly IpAddress[]
  left: readonly IpAddress[]
  /** The redirect target before and after. Both are equal if it did not change. */
  redirectBefore: DomainName | null
  redirectAfter: DomainName | null
  /** The terms of the start page. Undefined: unchanged. Null: remove them. */
  terms: PageTerms | null | undefined
  /** The certificates of new states, one for each state. */
  certificates: readonly Certificate[]
  /** The changes of sets of records, for the inverse index. */
  setChanges: readonly SetChange[]
  /** What the observations changed, in their order, for the watches. */
  transitions: readonly Transition[]
}

/** The write of one name. The store rejects it if `state.version` is not the version in the store. */
export type Change = { state: CrawlState; facts: FactChanges | null }
