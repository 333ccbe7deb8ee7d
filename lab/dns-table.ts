/** The answers of the lab's DNS server: a table of hosts, like the zone files of a small internet. */

import type { RecordType } from '../src/values/records/dns-record.ts'

/** Canonical host -> its answers. Every other host does not exist. */
export type DnsTable = Readonly<Record<string, DnsHost>>

/**
 * An answer other than records: a code (`nxdomain`, `servfail`, `refused`), a referral to another server (`lame`), no
 * answer (`silent`), or one that ends within a record (`malformed`).
 */
export type DnsOutcome = 'nxdomain' | 'servfail' | 'refused' | 'lame' | 'silent' | 'malformed'

/** One outcome for every query, or one answer per type. */
export type DnsHost = DnsOutcome | DnsRow

/**
 * The records of a host. A type without a key is absent. For a host with a CNAME, every other type without a key is
 * answered with the records of its target, as a resolver does.
 */
export type DnsRow = { readonly [T in RecordType]?: DnsTypeAnswer<DnsRecord[T]> } & {
  /** Milliseconds before each answer. */
  readonly delay?: number
  /** Every UDP answer is truncated. Answers that do not fit are truncated in any case. */
  readonly truncated?: true
  /** The alias is sent without its target, as by a server that does not know it. */
  readonly omitsTarget?: true
}

/** Records, or an outcome for this type only, or lists that rotate with each query. */
export type DnsTypeAnswer<R> = readonly R[] | DnsOutcome | { readonly rotation: readonly (readonly R[])[] }

/** Hosts in presentation form, including escapes (`a\.b.example`, `\000.example`). */
export type DnsRecord = {
  A: string
  AAAA: string
  MX: { readonly priority: number; readonly mail_server: string }
  /** Its strings: text as UTF-8, bytes as they are. */
  TXT: readonly (string | Uint8Array)[]
  NS: string
  /** `mailbox`: RNAME, such as `hostmaster.example.test` or `john\.doe.example.test`. */
  SOA: {
    readonly primary_nameserver: string
    readonly mailbox: string
    readonly serial: number
    readonly refresh_seconds: number
    readonly retry_seconds: number
    readonly expire_seconds: number
    readonly minimum_ttl_seconds: number
  }
  CNAME: string
}
