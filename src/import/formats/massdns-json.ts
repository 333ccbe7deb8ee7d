/** Reads a JSON line of massdns (-o J): one answer or, with -o Je, why there was none. */

import { domainProblem, objectsIn, parseJsonObject, stringOrEmpty } from '../../observe/json.ts'
import { parseName } from '../../values/domain-name.ts'
import { isObject } from '../../values/json-object.ts'
import { RECORD_TYPES } from '../../values/records/dns-record.ts'
import type { Instant } from '../../values/time.ts'
import { printedRecord, splitJoinedTxt } from './presentation.ts'
import { answerFromMessage, type PrintedRecord } from './printed-message.ts'
import { NO_TIME_PROBLEM, type ParsedLine } from './sighting.ts'

const NANOSECONDS_PER_SECOND = 1_000_000_000

/**
 * A query that massdns gave up carries no time. Without --observed-at it is skipped, because the line is not at fault.
 */
export function parseMassdnsJson(line: string, observedAt: Instant | null): ParsedLine {
  const value = parseJsonObject(line)
  if (typeof value === 'string') return value
  const name = typeof value.name === 'string' ? parseName(value.name) : null
  if (name === null) return `name: ${domainProblem(value.name)}`
  const hasFailed = typeof value.error === 'string'
  const status = hasFailed ? value.error : value.status
  if (typeof status !== 'string') return 'status: must be a text'
  const type = RECORD_TYPES.find((each) => each === value.type)
  if (type === undefined) return typeof value.type === 'string' ? [] : 'type: must be a text'
  const at = value.rx_ts === undefined ? observedAt : parseNanoseconds(value.rx_ts)
  if (at === null && hasFailed) return []
  if (at === null) return value.rx_ts === undefined ? NO_TIME_PROBLEM : 'rx_ts: must be a Unix time in nanoseconds'
  const data = isObject(value.data) ? value.data : {}
  const answer = answerFromMessage(name, type, {
    status,
    answers: objectsIn(data.answers).map(printedFromJson),
    authorities: objectsIn(data.authorities).map((each) => stringOrEmpty(each.type)),
    flags: Array.isArray(value.flags) ? value.flags.map(stringOrEmpty) : null,
  })
  if (typeof answer === 'string') return `data.answers: ${answer}`
  return answer === null ? [] : [{ name, at, kind: 'queried', type, answer }]
}

function parseNanoseconds(value: unknown): Instant | null {
  const seconds = typeof value === 'number' ? Math.floor(value / NANOSECONDS_PER_SECOND) : -1
  return seconds >= 0 && seconds < NANOSECONDS_PER_SECOND * 10 ? seconds : null
}

function printedFromJson(value: Record<string, unknown>): PrintedRecord {
  const type = value.class === 'IN' ? stringOrEmpty(value.type) : ''
  const record = printedRecord(stringOrEmpty(value.name), type, stringOrEmpty(value.data))
  return type === 'TXT' ? { ...record, record: splitJoinedTxt(stringOrEmpty(value.data)) } : record
}
