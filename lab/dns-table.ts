/** What the lab's DNS server says: a table of hosts, as the zone files of a whole small internet would. */

import type { RecordType } from '../src/values/dns-record.ts'

/** Host in the form of parseHost -> what is said of it. Every other host does not exist. */
export type DnsTable = Readonly<Record<string, DnsHost>>

/**
 * What is said instead of records: a code (`nxdomain`, `servfail`, `refused`), a referral to somebody else (`lame`),
 * nothing at all (`silent`), or an answer that ends in the middle of a record (`malformed`).
 */
export type DnsOutcome = 'nxdomain' | 'servfail' | 'refused' | 'lame' | 'silent' | 'malformed'

/** One outcome for every question, or each type for itself. */
export type DnsHost = DnsOutcome | DnsRow

/**
 * What a host has. A type that is not a key is absent. A host with a CNAME is answered with what its target has, as a
 * resolver does, for every type that is not a key beside it.
 */
export type DnsRow = { readonly [T in RecordType]?: DnsTypeAnswer<DnsRecord[T]> } & {
  /** Milliseconds before each answer. */
  readonly delay?: number
  /** Over UDP only the word that the answer was cut off. Answers that do not fit are cut off in any case. */
  readonly truncated?: true
  /** The alias is handed out alone, as by a server that does not know its target. */
  readonly omitsTarget?: true
}

/** Records; or an outcome of this type alone; or in turn, one list a question, over and over. */
export type DnsTypeAnswer<R> = readonly R[] | DnsOutcome | { readonly rotation: readonly (readonly R[])[] }

/** Hosts in presentation form, escapes included (`a\.b.example`, `\000.example`). */
export type DnsRecord = {
  A: string
  AAAA: string
  MX: { readonly priority: number; readonly mail_server: string }
  /** Its parts; a string as UTF-8, bytes as they are. */
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
