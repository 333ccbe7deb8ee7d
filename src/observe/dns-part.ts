/** What the answers to the DNS questions say: the status of the name, and its records in canonical form. */

import type { DnsAnswer, DnsProbeResult } from '../probe/probe-result.ts'
import { RECORD_TYPES, type RecordsByType, type RecordType, usableRecords } from '../values/dns-record.ts'
import type { DnsPart, DnsStatus } from './observation.ts'

/**
 * Null where too little was answered to say what the name's state is. `unseen`: why a type is not there. A visit asks
 * for all types, so the answer was `lost`; another crawl may never have `asked`, which counts as no record.
 */
export function toDnsPart(result: DnsProbeResult, missingMeans: 'lost' | 'not asked' = 'lost'): DnsPart | null {
  const status = dnsStatusOf(result)
  if (status === null) return null
  return { status, records: status === 'ok' ? canonicalRecordsOf(result, missingMeans === 'lost') : {} }
}

/**
 * The addresses decide: `nxdomain` where A or AAAA says so and the other has no record, `servfail` where both failed.
 * Where neither was answered, any other type may say that the name is not there. An address type that was lost for a
 * reason of ours may have been the one that answers: then nothing is said, unless another type shows that the name is
 * there.
 */
function dnsStatusOf(result: DnsProbeResult): DnsStatus | null {
  const addresses = [result.A, result.AAAA]
  const all = RECORD_TYPES.map((type) => result[type])
  if (addresses.some(hasRecords)) return 'ok'
  if (addresses.some(isNxdomainAnswer)) return 'nxdomain'
  if (addresses.some(hasAnswer)) return 'ok'
  if (all.some(isNxdomainAnswer)) return 'nxdomain'
  if (addresses.every(isFailedAnswer)) return 'servfail'
  return addresses.every((answer) => answer === undefined) && all.some(hasAnswer) ? 'ok' : null
}

/**
 * A type that failed is left out; one whose server says that the name is not there, which others contradict, is absent.
 * Addresses are those that an alias leads to; what else its target has is not the name's own.
 */
function canonicalRecordsOf(result: DnsProbeResult, isLost: boolean): Partial<RecordsByType> {
  const records: Partial<Record<RecordType, unknown>> = {}
  for (const type of RECORD_TYPES) {
    const answer = result[type]
    if (answer === undefined || answer.outcome === 'failed') continue
    if (isLost && isOtherFamilyLost(type, answer, result)) continue
    const isOwn = type === 'A' || type === 'AAAA' || (answer.outcome === 'records' && answer.aliases.length === 0)
    const kept = usableRecords(type, answer.outcome === 'records' && isOwn ? answer.records : [])
    if (kept !== null) records[type] = kept
  }
  return records as Partial<RecordsByType>
}

/** No address of one family, where the other was lost for a reason of ours: that the name has none may not be said. */
function isOtherFamilyLost(type: RecordType, answer: DnsAnswer, result: DnsProbeResult): boolean {
  const other = type === 'A' ? 'AAAA' : type === 'AAAA' ? 'A' : null
  return other !== null && result[other] === undefined && !hasRecords(answer)
}

function hasRecords(answer: DnsAnswer | undefined): boolean {
  return answer?.outcome === 'records' && answer.records.length > 0
}

function hasAnswer(answer: DnsAnswer | undefined): boolean {
  return answer?.outcome === 'records'
}

function isNxdomainAnswer(answer: DnsAnswer | undefined): boolean {
  return answer?.outcome === 'nxdomain'
}

function isFailedAnswer(answer: DnsAnswer | undefined): boolean {
  return answer?.outcome === 'failed'
}
