/** Derives the dns part from the answers to the DNS queries: the status of the name and its canonical records. */

import type { DnsAnswer, DnsProbeResult } from '../probe/probe-result.ts'
import { RECORD_TYPES, type RecordsByType, type RecordType, usableRecords } from '../values/records/dns-record.ts'
import type { DnsPart, DnsStatus } from './observation.ts'

/**
 * Returns null if too few queries were answered to determine the status. `missingMeans`: why a type is absent. A probe
 * queries all types, so a missing answer was lost. Another crawl may not have queried the type, which counts as no
 * record.
 */
export function toDnsPart(result: DnsProbeResult, missingMeans: 'lost' | 'not queried' = 'lost'): DnsPart | null {
  const status = dnsStatusOf(result)
  if (status === null) return null
  return { status, records: status === 'ok' ? canonicalRecordsOf(result, missingMeans === 'lost') : {} }
}

/**
 * A and AAAA determine the status. It is `nxdomain` if one of them is NXDOMAIN and the other has no record. It is
 * `servfail` if both failed. If neither was answered, another type can show NXDOMAIN.
 * If one address type was lost for a local reason, it might have had an answer. The status is then unknown, unless
 * another type shows that the name exists.
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
 * A failed type is left out. A type is absent if its answer is NXDOMAIN and other answers contradict it. Addresses are
 * those at the end of an alias. Other records of an alias target do not belong to the name.
 */
function canonicalRecordsOf(result: DnsProbeResult, isLost: boolean): Partial<RecordsByType> {
  const recordsByType: Partial<Record<RecordType, unknown>> = {}
  for (const type of RECORD_TYPES) {
    const answer = result[type]
    if (answer === undefined || answer.outcome === 'failed') continue
    if (isLost && isOtherFamilyLost(type, answer, result)) continue
    const isOwnRecord = type === 'A' || type === 'AAAA' || (answer.outcome === 'records' && answer.aliases.length === 0)
    const records = usableRecords(type, answer.outcome === 'records' && isOwnRecord ? answer.records : [])
    if (records !== null) recordsByType[type] = records
  }
  return recordsByType as Partial<RecordsByType>
}

/**
 * Returns true if this family has no address and the other one was lost for a local reason. An observation must not
 * report then that the name has none.
 */
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
