/** What a tool printed of a DNS message, judged as the crawler judges the message itself. */

import type { DnsAnswer, DnsFailure, ObservedRecord } from '../../probe/probe-result.ts'
import { followCnames, MAX_CNAME_LINKS } from '../../values/cname-chain.ts'
import { canonicalRecordSet, parseHost, type RecordType } from '../../values/dns-record.ts'

/** One record of the answer section. `owner` as printed, `record` in the form of observation files. */
export type PrintedRecord = { owner: string; type: string; record: unknown }

/**
 * `status`: the response code, or the tool's own word for what went wrong. `authorities`: the types in that section.
 * `flags` by their short names (`aa`, `ra`, `tc`); null where they were not printed.
 */
export type PrintedMessage = {
  status: string
  answers: readonly PrintedRecord[]
  authorities: readonly string[]
  flags: readonly string[] | null
}

/**
 * Words for a question that a name's servers left without an answer. Anything else, such as an input that is no name or
 * a message that was cut off, is the tool's own trouble and says nothing of the name.
 */
const FAILURE_BY_STATUS: ReadonlyMap<string, DnsFailure> = new Map([
  ['SERVFAIL', 'servfail'],
  ['REFUSED', 'refused'],
  ['NOTAUTH', 'lame'],
  ['AUTHFAIL', 'lame'],
  ['TIMEOUT', 'timeout'],
  ['ITERATIVE_TIMEOUT', 'timeout'],
  ['ITER_TIMEOUT', 'timeout'],
  ['MAXRETRIES', 'servfail'], // of massdns: every answer was one that it does not accept
])

/**
 * The answer where the status alone says it; null where it says nothing of the name; undefined where the records say
 * it.
 */
export function answerByStatus(status: string): DnsAnswer | null | undefined {
  if (status === 'NOERROR' || status === 'NXDOMAIN') return undefined
  const why = FAILURE_BY_STATUS.get(status)
  return why === undefined ? null : { outcome: 'failed', why }
}

/**
 * The answer to the question for one type at a host. Null where it was not answered for a reason that is not the
 * name's, or was cut off; a text where one of its records is refused, naming it.
 */
export function answerFromMessage(host: string, type: RecordType, message: PrintedMessage): DnsAnswer | string | null {
  const byStatus = answerByStatus(message.status)
  if (byStatus !== undefined) return byStatus
  if (message.flags?.includes('tc')) return null
  const found: { owner: string; record: unknown }[] = []
  const targets = new Map<string, string>()
  for (const each of message.answers) {
    const owner = parseHost(each.owner)
    if (owner === null) continue
    if (each.type === type) found.push({ owner, record: each.record })
    else if (each.type === 'CNAME' && !targets.has(owner)) {
      const target = typeof each.record === 'string' ? parseHost(each.record) : null
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

/** An answer with these records; a text where they are refused. */
export function answerWithRecords(
  type: RecordType,
  records: readonly unknown[],
  aliases: string[],
): DnsAnswer | string {
  const set = canonicalRecordSet(type, records)
  return typeof set === 'string' ? set : { outcome: 'records', records: records as ObservedRecord[], aliases }
}

/**
 * No record (RFC 2308, chapter 2): an alias whose target is not there has none; one at which the server just stopped
 * says nothing of its target. Name servers alone, and nothing that nobody stands for, are a referral.
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
