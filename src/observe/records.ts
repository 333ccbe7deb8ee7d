/** What the answers to the DNS questions say: the status of the name, and its records in canonical form. */

import type { Answer, DnsSeen } from '../crawl/visit.ts'
import { keptRecords, RECORD_TYPES, type Records, type RecordType } from '../words/record.ts'
import type { DnsPart, DnsStatus } from './observation.ts'

/**
 * Null where too little was answered to say what the name's state is. `unseen`: why a type is not there. A visit asks for all
 * types, so the answer was `lost`; another crawl may never have `asked`, which counts as no record.
 */
export function dnsPart(seen: DnsSeen, unseen: 'lost' | 'not asked' = 'lost'): DnsPart | null {
  const status = statusOf(seen)
  if (status === null) return null
  return { status, records: status === 'ok' ? recordsOf(seen, unseen === 'lost') : {} }
}

/**
 * The addresses decide: `nxdomain` where A or AAAA says so and the other has no record, `servfail` where both failed. Where
 * neither was answered, any other type may say that the name is not there. An address type that was lost for a reason of
 * ours may have been the one that answers: then nothing is said, unless another type shows that the name is there.
 */
function statusOf(seen: DnsSeen): DnsStatus | null {
  const addresses = [seen.A, seen.AAAA]
  const all = RECORD_TYPES.map((type) => seen[type])
  if (addresses.some(hasRecords)) return 'ok'
  if (addresses.some(isMissing)) return 'nxdomain'
  if (addresses.some(isAnswered)) return 'ok'
  if (all.some(isMissing)) return 'nxdomain'
  if (addresses.every(isFailed)) return 'servfail'
  return addresses.every((answer) => answer === undefined) && all.some(isAnswered) ? 'ok' : null
}

/**
 * A type that failed is left out; one whose server says that the name is not there, which others contradict, is absent.
 * Addresses are those that an alias leads to; what else its target has is not the name's own.
 */
function recordsOf(seen: DnsSeen, isLost: boolean): Partial<Records> {
  const records: Partial<Record<RecordType, unknown>> = {}
  for (const type of RECORD_TYPES) {
    const answer = seen[type]
    if (answer === undefined || answer.outcome === 'failed') continue
    if (isLost && isHalf(type, answer, seen)) continue
    const isOwn = type === 'A' || type === 'AAAA' || (answer.outcome === 'records' && answer.aliases.length === 0)
    const kept = keptRecords(type, answer.outcome === 'records' && isOwn ? answer.records : [])
    if (kept !== null) records[type] = kept
  }
  return records as Partial<Records>
}

/** No address of one family, where the other was lost for a reason of ours: that the name has none may not be said. */
function isHalf(type: RecordType, answer: Answer, seen: DnsSeen): boolean {
  const other = type === 'A' ? 'AAAA' : type === 'AAAA' ? 'A' : null
  return other !== null && seen[other] === undefined && !hasRecords(answer)
}

function hasRecords(answer: Answer | undefined): boolean {
  return answer?.outcome === 'records' && answer.records.length > 0
}

function isAnswered(answer: Answer | undefined): boolean {
  return answer?.outcome === 'records'
}

function isMissing(answer: Answer | undefined): boolean {
  return answer?.outcome === 'nxdomain'
}

function isFailed(answer: Answer | undefined): boolean {
  return answer?.outcome === 'failed'
}
