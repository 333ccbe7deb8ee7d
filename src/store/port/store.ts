/**
 * The port of the store, split by client: observations (crawler and imports), schedule (crawlers), facts (API), ledger
 * (accounts), events (API), event remover (commands), crawl requests (API and crawl scheduler), listing (snapshots),
 * maintenance, pruning (jobs), jobs, certificate logs (followers), similar (API) and similar index (indexer), inverse
 * (API) and inverse index (indexer).
 *
 * Every method is asynchronous and returns batches or pages, never an iterator over an open transaction. Names and
 * addresses are canonical values already. A missing value is null or an empty page, never an exception. A method throws
 * only if the store itself fails. Then nothing of the call was written.
 */

import type { Change, Interruption } from '../../apply/change.ts'
import type { Clocks, CrawlState, CurrentFacts, IpStatus } from '../../apply/crawl-state.ts'
import type { Certificate } from '../../values/certificate/certificate.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { IpAddress } from '../../values/ip-address.ts'
import type { RecordType } from '../../values/records/dns-record.ts'
import type { Day, Instant } from '../../values/time.ts'
import type { Ssl, WebVerdict } from '../../values/web-verdict.ts'
import type { CertificateLogs } from './certificate-logs.ts'
import type { CrawlRequests } from './crawl-requests.ts'
import type { InverseIndexStore, InverseReader } from './inverse.ts'
import type { Jobs } from './jobs.ts'
import type { Ledger } from './ledger.ts'
import type { Listing } from './listing.ts'
import type { FactsPruning, StateCutoffs } from './retention.ts'
import type { Lease, Schedule } from './schedule.ts'
import type { SimilarIndexStore, SimilarReader } from './similar.ts'
import type { EventReader, EventRemover } from './watch/events.ts'

export interface Store {
  readonly observations: ObservationStore
  readonly schedule: Schedule
  readonly facts: FactsReader
  readonly events: EventReader
  readonly eventRemover: EventRemover
  readonly inverse: InverseReader
  readonly inverseIndex: InverseIndexStore
  readonly ledger: Ledger
  readonly crawlRequests: CrawlRequests
  readonly listing: Listing
  readonly maintenance: StoreMaintenance
  readonly pruning: FactsPruning
  readonly jobs: Jobs
  readonly certificateLogs: CertificateLogs
  readonly similar: SimilarReader
  readonly similarIndex: SimilarIndexStore
  /** The store's clock: the only clock whose times are comparable between machines. */
  now(): Promise<Instant>
  /**
   * Reads what an API call reads, and writes nothing. Throws if calls would fail: no connection, missing tables or
   * permissions, or a read-only store.
   */
  probe(): Promise<void>
  /** Closes all connections. Acknowledged writes are on disk. */
  close(): Promise<void>
}

/** For writers of observations. */
export interface ObservationStore {
  /** How many saves a writer of many names has in progress: more than one if another process writes them. */
  readonly concurrentSaves: number
  /** The crawl states in the order of `names`; version 0 and no clocks for an unknown name. */
  crawlStates(names: readonly DomainName[]): Promise<CrawlState[]>
  /** The current facts in the order of `names`; `NO_FACTS` for a name without facts. */
  currentFacts(names: readonly DomainName[]): Promise<CurrentFacts[]>
  /**
   * Writes the changes in one transaction, at most one per name. If the version of a change is not the stored one, the
   * store rejects it and returns its name in `rejected`: read, apply and save again. With `leases`, changes outside of
   * the ranges of valid leases are dropped, and their names returned in `lost`. A change that only adds an unknown name
   * needs no lease. The store reads all changes before it resolves, and may read them more than once and within the
   * transaction: each read yields equal changes and calls no method of the store. So a generator object is not enough.
   */
  save(changes: Iterable<Change>, leases?: readonly Lease[]): Promise<SaveResult>
  /**
   * Adds certificates that logs have published, each once, with the names by which they are found. Returns how many
   * were unknown.
   */
  addLogged(certificates: readonly LoggedCertificate[]): Promise<number>
  /**
   * Deletes all data of a name and leaves a tombstone. A certificate that it presented stays if others presented it, or
   * if a log has it. A certificate of a log that names it, or a host below it, stays if others presented it. Returns true
   * if there was more than a tombstone. src/store/forget.ts removes what is not in the facts of names.
   */
  forget(name: DomainName): Promise<boolean>
  /** Resolves when everything that was written before survives a loss of power. On Citus, the workers decide that. */
  sync(): Promise<void>
}

/** `logged_at`: the time of the entry of a log; null in answers if none was read. */
export type LoggedCertificate = { certificate: Certificate; logged_at: Instant }
export type KnownCertificate = { certificate: Certificate; logged_at: Instant | null }

/** The names of changes that were not written. */
export type SaveResult = { rejected: DomainName[]; lost: DomainName[] }

/**
 * One page of `count` rows. `rows` is the JSON array in pieces, texts or UTF-8. `last` is the position of the last row
 * if more rows follow; null at the end. `release` returns the memory of the pieces for further pages: call it once when
 * they are sent. If it is never called, the memory is garbage.
 */
export type RowPage<Position> = {
  rows: readonly (string | Uint8Array)[]
  count: number
  last: Position | null
  release?: () => void
}

/** When DNS and web of a name were last observed; null for never. */
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

/** A row of a page of redirects. */
export type RedirectRow = { target: DomainName }
/** A row of a page of neighbours. */
export type NeighbourRow = { target: DomainName; ip: IpAddress; since: string }
/** The position of a row in a page of neighbours. */
export type NeighbourPosition = { address: IpAddress; name: DomainName }

/**
 * A name's addresses in the contract's order, a page of the other domains on them, and when the name was last observed.
 * `addresses` is empty if the name has none, is unknown or was forgotten. A page of many rows may be of a later moment
 * than the addresses.
 */
export type Neighbours = { addresses: IpAddress[]; page: RowPage<NeighbourPosition>; lastObserved: LastObserved }

/** One state. `records` is the JSON array. */
export type HistoryState = { first_seen: Instant; records: string }
/**
 * One state of a page. `last_confirmed`: when it was last observed; null for the newest, of which the clock says it.
 */
export type PastState = HistoryState & { last_confirmed: Instant | null }
/**
 * One type's page of states, newest first. `total` stops at 1,001. `more`: older states follow. `absent_since`: when the
 * name was first observed not to exist since the type was last observed; null if it was not, or has no records.
 */
export type History = { states: PastState[]; total: number; more: boolean; absent_since: Instant | null }

/** A page of states of each type, and when the name was last observed, from one snapshot. */
export type Histories<T extends RecordType> = { byType: Record<T, History>; lastObserved: LastObserved }

/**
 * A page of states, newest first. `total` stops at 1,001. `more`: older states follow. `lastObserved`: of the same
 * snapshot; both null for a name without facts.
 */
export type StatePage<State> = { states: State[]; total: number; more: boolean; lastObserved: LastObserved }

/** One state of a website. `last_seen`: its last observation. */
export type WebState = { first_seen: Instant; last_seen: Instant; verdict: WebVerdict }
export type WebHistory = StatePage<WebState>

/** One state of the certificate of a name; null for a time in which none was presented. */
export type PastCertificate = { first_seen: Instant; last_seen: Instant; certificate: Certificate | null }
export type CertificateHistory = StatePage<PastCertificate>

/**
 * An address of a name: since when the name is on it, as the API answers it, and how many names are, this one included.
 */
export type AddressOfName = { address: IpAddress; since: string; names: number }
/** `records`: the newest state of each type that has one. `addresses`: the first of `addressCount` ones. */
export type DomainProfile = {
  lookup: Lookup
  redirects_to: DomainName | null
  records: Partial<Record<RecordType, HistoryState>>
  addresses: AddressOfName[]
  addressCount: number
}
/** The first names on an address in byte order, and the number of all of them. */
export type AddressProfile = { domains: { target: DomainName; since: string }[]; count: number }

/**
 * What is known of a name in a list of names. `first_seen`: when its oldest state began, null without a state.
 * `registered`: the newest day on which a zone or a list reported its registration. `facts`: NO_FACTS if it was never
 * observed.
 */
export type NameSummary = LastObserved & { first_seen: Instant | null; registered: Day | null; facts: CurrentFacts }

/** For the API. Every page is a range by key, so page 1,000 costs as much as page 1. */
export interface FactsReader {
  /** All fields of /lookup, with counts, from one snapshot; null if the name is unknown or forgotten. */
  lookup(name: DomainName): Promise<Lookup | null>
  /**
   * The fields of /lookup with the redirect target, the newest DNS states and at most `maxAddresses` addresses, from one
   * snapshot; null if the name is unknown or forgotten.
   */
  domainProfile(name: DomainName, maxAddresses: number): Promise<DomainProfile | null>
  /** At most `limit` names on an address and their number, from one snapshot. */
  addressProfile(address: IpAddress, limit: number): Promise<AddressProfile>
  /** When a name was last observed; both null if it is unknown. */
  clocks(name: DomainName): Promise<LastObserved>
  /** When each part of these names was last observed, in their order; 0 for never. At most 1,000 names. */
  partClocks(names: readonly DomainName[]): Promise<Clocks[]>
  /** The summaries of these names, in their order; null for one that is unknown or forgotten. At most 1,000 names. */
  summaries(names: readonly DomainName[]): Promise<(NameSummary | null)[]>
  /** The domains that redirect to `target`, in byte order, after `after` (exclusive). */
  redirects(target: DomainName, after: DomainName | null, limit: number): Promise<RowPage<DomainName>>
  /**
   * The domains on `addresses`, in that order and then byte order, after the position `after` (exclusive). Addresses
   * before its address are skipped. `except` is omitted.
   */
  neighbours(
    addresses: readonly IpAddress[],
    except: DomainName | null,
    after: NeighbourPosition | null,
    limit: number,
  ): Promise<RowPage<NeighbourPosition>>
  /** The same for the current addresses of `name`; `name` itself is omitted. */
  neighboursOf(name: DomainName, after: NeighbourPosition | null, limit: number): Promise<Neighbours>
  /** The states of each type strictly older than `before` (null: from the newest), at most `limit` per type. */
  history<T extends RecordType>(
    name: DomainName,
    types: readonly T[],
    before: Instant | null,
    limit: number,
  ): Promise<Histories<T>>
  /** The states of the website that began strictly before `before` (null: from the newest), from one snapshot. */
  webHistory(name: DomainName, before: Instant | null, limit: number): Promise<WebHistory>
  /** The certificates that a name presented, as `webHistory`; null for one that was removed meanwhile. */
  certificateHistory(name: DomainName, before: Instant | null, limit: number): Promise<CertificateHistory>
  /** The certificates with these fingerprints, in their order; null for an unknown one. At most 1,000. */
  certificates(sha256s: readonly string[]): Promise<(KnownCertificate | null)[]>
  /**
   * The times in which the records of a type were not observed continuously, newest first: those that ended strictly
   * before `before` (null: all), at most `limit`.
   */
  interruptions(name: DomainName, type: RecordType, before: Instant | null, limit: number): Promise<Interruption[]>
  /**
   * The newest cutoff by which states of each type were removed. Of a moment before it, a name without states of the type
   * may have had some.
   */
  prunedUntil(): Promise<StateCutoffs>
}

/** One problem that `check` found. */
export type CheckFault = { table: string; key: string; problem: string }

/** For maintenance: long scans in slices by key, each in a short read transaction of its own. */
export interface StoreMaintenance {
  /**
   * Checks every table against the tables that it depends on, the schema against this release's, and the ledger.
   * `resume` is the `next` of the previous call, null at first. `next` is null when the check is complete. Safe beside
   * writers, without false alarms.
   */
  check(resume: string | null): Promise<{ faults: CheckFault[]; checked: number; next: string | null }>
  /**
   * Damage of the pages of a store's file. While there is some, writing could damage more. Reads the whole file. Empty for
   * engines that check a page whenever they read it.
   */
  pageFaults(): Promise<CheckFault[]>
  /**
   * Mends faults of `check` whose rows follow from others: writes these rows again from the facts, in the transactions
   * of a writer. Leaves the faults that it cannot mend, and those of the indexes, which `restart` begins
   * again.
   */
  repair(faults: readonly CheckFault[]): Promise<void>
  /** The progress of a maintenance job, in its own format; null if none is stored. */
  progress(job: string): Promise<string | null>
  /** Stores the progress of a job; null deletes it. */
  saveProgress(job: string, progress: string | null): Promise<void>
  /**
   * Bytes on disk, for metrics: of the facts, of the write-ahead log, and of the ledger if it is a file of its own (0 if
   * it is part of the facts). `unused`: bytes of these files that no row uses; null if the engine does not know.
   */
  sizes(): Promise<{ facts: number; writeAheadLog: number; ledger: number; unused: number | null }>
  /** The size of each table with its indexes. On SQLite this reads every page. */
  tableSizes(): Promise<TableSize[]>
}

/** `indexes`: the bytes that are those of indexes. `rows`: an estimate on PostgreSQL; null if there is none. */
export type TableSize = { name: string; bytes: number; indexes: number; rows: number | null }
