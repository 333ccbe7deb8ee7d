/**
 * The inverse part of the port: which names had a record, and when. For each record, name and uninterrupted time of
 * being observed there is one span.
 */

import type { Block } from '../../inverse/entries/block.ts'
import type { NameFilter, NameParts, NameQuery } from '../../search/name-query.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { IpAddress } from '../../values/ip-address.ts'
import type { RecordType } from '../../values/records/dns-record.ts'
import type { Instant } from '../../values/time.ts'
import type { LockHold } from './jobs.ts'

/** The record types whose data names a host. An SOA names two: its server, and the mailbox as a host name. */
export const HOST_TYPES = ['NS', 'MX', 'CNAME', 'SOA'] as const satisfies readonly RecordType[]
export type HostType = (typeof HOST_TYPES)[number]

/**
 * What is asked for.
 * - `addresses`: A or AAAA records from `first` to `last`, both included and of one family.
 * - `hosts`: records of `types` that name the host (canonical presentation form, RFC 1035). `below`: any host with more
 *   labels before these (`*.example.com`). `starting`: any host that has more labels after these (`example.*`).
 * - `text`: TXT records with exactly these character strings, in canonical form.
 */
export type InverseQuery =
  | { by: 'addresses'; first: IpAddress; last: IpAddress }
  | { by: 'hosts'; host: string; match: 'exact' | 'below' | 'starting'; types: readonly HostType[] }
  | { by: 'text'; parts: readonly string[] }

/**
 * The data by which a span was found. `priority` only for MX. `role` only for SOA: which of its names the host is.
 */
export type SpanData =
  | { type: 'A' | 'AAAA'; address: IpAddress }
  | { type: 'NS' | 'CNAME'; host: string }
  | { type: 'MX'; host: string; priority: number }
  | { type: 'SOA'; host: string; role: 'primary_nameserver' | 'admin_email' }
  | { type: 'TXT'; parts: readonly string[] }

/** The first and the last observation of an uninterrupted time in which `name` showed the data. Unix seconds. */
export type InverseSpan = { data: SpanData; name: DomainName; first: Instant; last: Instant }

/**
 * The first and the last observation of an uninterrupted time in which the website of `name` redirected to `host`, which
 * belongs to another domain. The domain itself if the host is not known, as in rows of older releases.
 */
export type RedirectSpan = { host: DomainName; name: DomainName; first: Instant; last: Instant }

/** The first and the last observation of an uninterrupted time in which `name` presented a certificate. */
export type CertificateSpan = { name: DomainName; first: Instant; last: Instant }
/** A name in a certificate: a domain name, after `*.` for a wildcard. */
export type NamedHost = { host: string; sha256: string }

/** Bounds of the times of a span, all exclusive. `isEnded`: only spans of what is no longer there. */
export type TimeFence = {
  isEnded?: true
  firstBefore?: Instant
  firstAfter?: Instant
  lastBefore?: Instant
  lastAfter?: Instant
}

/**
 * One page of spans, in the order of data, name and time. `position`: where the next page starts; null at the end. A
 * page may be shorter than `limit`, and even empty, although more follow: each call reads a bounded number of spans, and
 * a fence may exclude many.
 */
export type SpanPage = { spans: InverseSpan[]; position: Uint8Array | null }
export type CertificateSpanPage = { spans: CertificateSpan[]; position: Uint8Array | null }
export type NamedHostPage = { hosts: NamedHost[]; position: Uint8Array | null }
export type RedirectSpanPage = { spans: RedirectSpan[]; position: Uint8Array | null }

/** One page of names, each once. `position` as in SpanPage. */
export type NamePage = { names: DomainName[]; position: Uint8Array | null }

/** `isComplete`: false if a part has more names than one call reads, or if all together have. */
export type NamesOfParts = { names: DomainName[]; isComplete: boolean }

/** How far the index of a store that is older than it is filled, from 0 to 1; 1 if it is complete. */
export type InverseProgress = { share: number }

export interface InverseReader {
  /** The spans of a query after `position` (null: from the first), from one snapshot. `last` is exact at that moment. */
  spans(query: InverseQuery, fence: TimeFence, position: Uint8Array | null, limit: number): Promise<SpanPage>
  /** The spans of redirects to `target` and to hosts below it, as `spans`. */
  redirects(target: DomainName, fence: TimeFence, position: Uint8Array | null, limit: number): Promise<RedirectSpanPage>
  /** The spans of a certificate, in the order of name and time, as `spans`. */
  presented(sha256: string, position: Uint8Array | null, limit: number): Promise<CertificateSpanPage>
  /**
   * The names in certificates that are `name`, its wildcard or below it, in the order of their reversed labels and then
   * of fingerprints. `position` as in SpanPage.
   */
  namedHosts(name: DomainName, position: Uint8Array | null, limit: number): Promise<NamedHostPage>
  /** The known names of a query that pass the filter, at most `limit` after `position`. */
  names(query: NameQuery, filter: NameFilter | null, position: Uint8Array | null, limit: number): Promise<NamePage>
  /** The known names that have any of many parts, each once in any order, from one snapshot. */
  namesOfParts(parts: NameParts): Promise<NamesOfParts>
  /** While it is below 1, pages lack names that were stored before the index existed. */
  progress(): Promise<InverseProgress>
}

/** A published run: a sorted part of the index. `bytes`: of its blocks. */
export type InverseRun = { number: number; bytes: number }
/**
 * Consecutive blocks of one run, from the first one that ends at or after a position. `last`: the position at which the
 * last of them ends. `more`: others may follow.
 */
export type RunSlice = { blocks: Uint8Array[]; last: Uint8Array; more: boolean }
/** A portion of several runs that was read for a merge. `erasures`: how often entries had been erased before. */
export type MergePortion = { slices: RunSlice[]; erasures: number }

/**
 * For the process that maintains the index, the holder of the lock `inverse`. Every write passes its lock. If the lock
 * is lost, it writes nothing and returns null. Every write is one transaction of about 50 milliseconds.
 */
export interface InverseIndexStore {
  /** The published runs, oldest first. */
  runs(): Promise<InverseRun[]>
  /** At most `blocks` blocks of each of the runs, from the first one that ends at or after `from`. */
  portion(runs: readonly number[], from: Uint8Array, blocks: number): Promise<MergePortion>
  /** Begins an unpublished run and returns its number. Unpublished runs of other holders are discarded. */
  beginRun(hold: LockHold): Promise<number | null>
  /**
   * Adds blocks to an unpublished run. Returns false and writes nothing if entries were erased after the portion was
   * read, because it may contain them: read it again.
   */
  writeBlocks(hold: LockHold, run: number, blocks: readonly Block[], erasures: number): Promise<boolean | null>
  /** Publishes a run in the place of others. */
  publishRun(hold: LockHold, run: number, replaced: readonly number[]): Promise<boolean | null>
  /** Deletes at most `limit` blocks of replaced runs. Returns true if more are left. */
  removeReplaced(hold: LockHold, limit: number): Promise<boolean | null>
  /** Replaces all runs: every name and certificate is to be filled in again. */
  restart(hold: LockHold): Promise<boolean | null>
  /** Adds the next `limit` names of a store that is older than the index. `share`: 1 if all are added. */
  fill(hold: LockHold, limit: number): Promise<InverseProgress | null>
}
