/**
 * The port of the store, split by who asks: Frontier (crawler and imports), Schedule (crawlers), Facts (API), Ledger
 * (accounts), Wishes (API and nightly jobs of crawlers), Listing (snapshots), Archive (upkeep), Jobs (the night), Similar (API),
 * Indexing (who keeps the index that Similar asks).
 *
 * Every method is asynchronous and hands over batches or pages, never an iterator over an open transaction.
 * Names and addresses are canonical words already; "nothing" is null or an empty page, never an exception.
 * A method throws only when the store itself fails, and then nothing of the call was written.
 */

import type { Change } from '../../apply/change.ts'
import type { CrawlState, CurrentFacts, IpStatus } from '../../apply/crawl-state.ts'
import type { Ssl } from '../../observe/observation.ts'
import type { RecordType } from '../../values/dns-record.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { IpAddress } from '../../values/ip-address.ts'
import type { Instant } from '../../values/time.ts'
import type { CrawlRequests } from './crawl-requests.ts'
import type { Jobs } from './jobs.ts'
import type { Ledger } from './ledger.ts'
import type { Listing } from './listing.ts'
import type { Lease, Schedule } from './schedule.ts'
import type { SimilarIndexStore, SimilarReader } from './similar.ts'

export interface Store {
  readonly observations: ObservationStore
  readonly schedule: Schedule
  readonly facts: FactsReader
  readonly ledger: Ledger
  readonly crawlRequests: CrawlRequests
  readonly listing: Listing
  readonly maintenance: StoreMaintenance
  readonly jobs: Jobs
  readonly similar: SimilarReader
  readonly similarIndex: SimilarIndexStore
  /** The store's clock: the only one whose times two machines may compare. */
  now(): Promise<Instant>
  /** Asks what a call of the API asks, and writes nothing. Throws what hinders calls: no connection, tables or rights that lack, a store that may only be read. */
  probe(): Promise<void>
  /** Ends every connection; what was acknowledged is on disk. */
  close(): Promise<void>
}

/** For who brings observations. */
export interface ObservationStore {
  /** The narrow rows in the order asked; version 0 and no clocks for a name that is not there. */
  crawlStates(names: readonly DomainName[]): Promise<CrawlState[]>
  /** The current facts in the order asked; `NOTHING_KNOWN` for a name without any. */
  currentFacts(names: readonly DomainName[]): Promise<CurrentFacts[]>
  /**
   * Writes the changes in one transaction, at most one a name. A change whose `visit.version` is not the store's is turned
   * away whole, and its name returned in `again`: read it again, apply again, save again. With `leases`, changes of ranges
   * for which none of them stands are dropped, and their names returned in `lost`: they are another crawler's now.
   */
  save(changes: readonly Change[], leases?: readonly Lease[]): Promise<SaveResult>
  /** Removes all that is stored of a name and leaves a tombstone. True where something besides a tombstone was there. */
  forget(name: DomainName): Promise<boolean>
}

/** The names of changes that were not written. */
export type SaveResult = { rejected: DomainName[]; lost: DomainName[] }

/** How the rows of a page are handed over: as objects, or as the ready JSON array in pieces of UTF-8. */
export type RowFormat = 'rows' | 'json'
export type PageRows<Row, Format extends RowFormat> = Format extends 'json' ? readonly Uint8Array[] : Row[]

/** One page of `count` rows. `last` is the position of its last row where more rows follow, and null at the end. */
export type RowPage<Row, Format extends RowFormat, Position> = {
  rows: PageRows<Row, Format>
  count: number
  last: Position | null
}

/** When DNS and web of a name were last looked at; null for never. */
export type LastObserved = { dns: Instant | null; web: Instant | null }

export type Lookup = LastObserved & {
  ip: IpStatus | null
  only_dns_no_web: boolean
  has_website: boolean
  redirect_to_https: boolean
  redirect_to_www: boolean
  redirect_to_domain: boolean
  only_with_www: boolean
  ssl: Ssl
  /** JSON array, ready to be sent. */
  social_networks: string
  /** JSON array, ready to be sent. */
  social_accounts: string
  redirect_count: number
  reverse_ip_count: number
}

export type RedirectRow = { target: DomainName }

export type NeighbourRow = { target: DomainName; ip: IpAddress; since: string }
/** The place of a row in a walk over addresses. */
export type NeighbourPosition = { address: IpAddress; name: DomainName }

/** One state as a page hands it over: `records` is the JSON array. */
export type HistoryState = { first_seen: Instant; records: string }
/** One type's page of states, newest first; `total` stops at 1,001; `more` says that older ones follow. */
export type History = { states: HistoryState[]; total: number; more: boolean }

/** For who answers questions. Every page is a range by key: page 1,000 costs what page 1 costs. */
export interface FactsReader {
  /** All of /lookup, counts included, as of one moment; null for a name that is not known or was forgotten. */
  lookup(name: DomainName): Promise<Lookup | null>
  /** When a name was last looked at; both null for an unknown one. */
  clocks(name: DomainName): Promise<LastObserved>
  /** The domains that redirect to `target`, bytewise by name, after `after` (exclusive). */
  redirects<F extends RowFormat>(
    target: DomainName,
    after: DomainName | null,
    limit: number,
    as: F,
  ): Promise<RowPage<RedirectRow, F, DomainName>>
  /** The addresses a name is present on, in the contract's order; empty for none and for an unknown name. */
  addresses(name: DomainName): Promise<IpAddress[]>
  /**
   * The domains present on `addresses`, walked in that order and bytewise by name on each, after the position `after`
   * (exclusive; addresses before its address are passed over). `except` is left out of the rows.
   */
  neighbours<F extends RowFormat>(
    addresses: readonly IpAddress[],
    except: DomainName | null,
    after: NeighbourPosition | null,
    limit: number,
    as: F,
  ): Promise<RowPage<NeighbourRow, F, NeighbourPosition>>
  /** Each type's states strictly older than `before` (null: from the newest), at most `limit` a type. */
  history<T extends RecordType>(
    name: DomainName,
    types: readonly T[],
    before: Instant | null,
    limit: number,
  ): Promise<Record<T, History>>
}

/** One thing that `check` found wrong. */
export type CheckFault = { table: string; key: string; problem: string }

/** For upkeep: long scans in slices by key, each in a short read transaction of its own. */
export interface StoreMaintenance {
  /**
   * Recounts and compares every table with its neighbours, the schema with this release's, and looks at the ledger. `resume` is the place an earlier call ended at, null at first;
   * `next` is null when all was looked at. Safe beside writers, without false alarms.
   */
  check(resume: string | null): Promise<{ faults: CheckFault[]; checked: number; next: string | null }>
  /** How far a job of upkeep came, in its own words; null if none is under way. */
  progress(job: string): Promise<string | null>
  /** Keeps how far it came, or with null forgets it. */
  saveProgress(job: string, progress: string | null): Promise<void>
  /** Bytes on disk, for metrics: of the facts, and of the log that is not yet written back. */
  sizes(): Promise<{ facts: number; log: number }>
}
