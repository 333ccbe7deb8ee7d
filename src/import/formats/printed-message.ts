/** Interprets a printed DNS message in the way the crawler interprets the message itself. */

import type { DnsAnswer, DnsFailure, ObservedRecord } from '../../probe/probe-result.ts'
import { followCnames, MAX_CNAME_LINKS } from '../../values/records/cname-chain.ts'
import { canonicalRecordSet, type RecordType } from '../../values/records/dns-record.ts'
import { parseHostName } from '../../values/records/host-name.ts'

/** A message with more records is rejected. */
export const MAX_ENTRY_RECORDS = 2000

/** One record of the answer section. `owner` as printed, `record` in the form of observation files. */
export type PrintedRecord = { owner: string; type: string; record: unknown }

/**
 * `status`: the response code, or the tool's own error. `authorities`: the types in the authority section. `flags` by
 * their short names (`aa`, `ra`, `tc`), null if they were not printed.
 */
export type PrintedMessage = {
  status: string
  answers: readonly PrintedRecord[]
  authorities: readonly string[]
  flags: readonly string[] | null
}

/**
 * Statuses that mean the name servers left a query unanswered. Other errors, such as an invalid input or a truncated
 * message, come from the tool and say nothing about the name.
 */
const FAILURE_BY_STATUS: ReadonlyMap<string, DnsFailure> = new Map([
  ['SERVFAIL', 'servfail'],
  ['REFUSED', 'refused'],
  ['NOTAUTH', 'lame'],
  ['AUTHFAIL', 'lame'],
  ['TIMEOUT', 'timeout'],
  ['ITERATIVE_TIMEOUT', 'timeout'],
  ['ITER_TIMEOUT', 'timeout'],
  ['MAXRETRIES', 'servfail'], // of massdns: it accepted none of the answers
])

/**
 * Returns the answer if the status alone decides, null if it says nothing about the name, and undefined if the records
 * decide.
 */
export function answerByStatus(status: string): DnsAnswer | null | undefined {
  if (status === 'NOERROR' || status === 'NXDOMAIN') return undefined
  const why = FAILURE_BY_STATUS.get(status)
  return why === undefined ? null : { outcome: 'failed', why }
}

/**
 * Returns the answer to the query for one type at a host. Returns null if a missing or truncated answer is not the
 * name's fault, and a text that names the record if one is rejected.
 */
export function answerFromMessage(host: string, type: RecordType, message: PrintedMessage): DnsAnswer | string | null {
  const byStatus = answerByStatus(message.status)
  if (byStatus !== undefined) return byStatus
  if (message.flags?.includes('tc')) return null
  const found: { owner: string; record: unknown }[] = []
  const targets = new Map<string, string>()
  for (const each of message.answers) {
    const owner = parseHostName(each.owner)
    if (owner === null) continue
    if (each.type === type) found.push({ owner, record: each.record })
    else if (each.type === 'CNAME' && !targets.has(owner)) {
      const target = typeof each.record === 'string' ? parseHostName(each.record) : null
      if (target !== null) targets.set(owner, target)
    }
  }
  const end = followCnames(host, new Set(found.map(({ owner }) => owner)), targets)
  if (end === null) return { outcome: 'failed', why: 'malformed' }
  if (end.aliases.length > MAX_CNAME_LINKS) return null
  const records = found.filter(({ owner }) => owner === end.owner).map(({ record }) => record)
  if (records.length === 0) return emptyAnswerOf(message, end.aliases)
  return answerWithRecords(type, records, end.aliases)
}

/** Returns an answer with these records, or a problem as text. */
export function answerWithRecords(
  type: RecordType,
  records: readonly unknown[],
  aliases: string[],
): DnsAnswer | string {
  const set = canonicalRecordSet(type, records)
  return typeof set === 'string' ? set : { outcome: 'records', records: records as ObservedRecord[], aliases }
}

/**
 * Interprets an answer without records (RFC 2308, section 2). An alias whose target does not exist has none. An alias
 * at which the server stopped says nothing about its target. Name servers alone, or an empty answer without authority,
 * are a referral.
 */
function emptyAnswerOf({ status, authorities, flags }: PrintedMessage, aliases: string[]): DnsAnswer | null {
  const hasSoa = authorities.includes('SOA')
  if (status === 'NXDOMAIN' && aliases.length === 0) return { outcome: 'nxdomain' }
  if (aliases.length > 0) return status === 'NXDOMAIN' || hasSoa ? { outcome: 'records', records: [], aliases } : null
  const isAuthoritativeOrRecursive =
    flags === null ? !authorities.includes('NS') : flags.includes('aa') || flags.includes('ra')
  const isReferral = authorities.includes('NS') && !flags?.includes('aa')
  if (!hasSoa && (!isAuthoritativeOrRecursive || isReferral)) return { outcome: 'failed', why: 'lame' }
  return { outcome: 'records', records: [], aliases }
}
