/** A line of massdns in JSON (-o J): one answer, or with -o Je why there was none. */

import { domainProblem, isObject, objectsIn, parseJsonObject, stringOrEmpty } from '../../observe/json.ts'
import { RECORD_TYPES } from '../../values/dns-record.ts'
import { parseName } from '../../values/domain-name.ts'
import type { Instant } from '../../values/time.ts'
import { printedRecord, splitJoinedTxt } from './presentation.ts'
import { answerFromMessage, type PrintedRecord } from './printed-message.ts'
import { NO_TIME_PROBLEM, type ParsedLine } from './sighting.ts'

const NANOSECONDS_PER_SECOND = 1_000_000_000

/**
 * A question that was given up carries no time: without one for all it is passed over, since it is no fault of the
 * line.
 */
export function parseMassdnsJson(line: string, observedAt: Instant | null): ParsedLine {
  const given = parseJsonObject(line)
  if (typeof given === 'string') return given
  const name = typeof given.name === 'string' ? parseName(given.name) : null
  if (name === null) return `name: ${domainProblem(given.name)}`
  const isGivenUp = typeof given.error === 'string'
  const status = isGivenUp ? given.error : given.status
  if (typeof status !== 'string') return 'status: must be a text'
  const type = RECORD_TYPES.find((each) => each === given.type)
  if (type === undefined) return typeof given.type === 'string' ? [] : 'type: must be a text'
  const at = given.rx_ts === undefined ? observedAt : parseNanoseconds(given.rx_ts)
  if (at === null && isGivenUp) return []
  if (at === null) return given.rx_ts === undefined ? NO_TIME_PROBLEM : 'rx_ts: must be a Unix time in nanoseconds'
  const data = isObject(given.data) ? given.data : {}
  const answer = answerFromMessage(name, type, {
    status,
    answers: objectsIn(data.answers).map(printedFromJson),
    authorities: objectsIn(data.authorities).map((each) => stringOrEmpty(each.type)),
    flags: Array.isArray(given.flags) ? given.flags.map(stringOrEmpty) : null,
  })
  if (typeof answer === 'string') return `data.answers: ${answer}`
  return answer === null ? [] : [{ name, at, kind: 'queried', type, answer }]
}

function parseNanoseconds(given: unknown): Instant | null {
  const seconds = typeof given === 'number' ? Math.floor(given / NANOSECONDS_PER_SECOND) : -1
  return seconds >= 0 && seconds < NANOSECONDS_PER_SECOND * 10 ? seconds : null
}

function printedFromJson(given: Record<string, unknown>): PrintedRecord {
  const type = given.class === 'IN' ? stringOrEmpty(given.type) : ''
  const record = printedRecord(stringOrEmpty(given.name), type, stringOrEmpty(given.data))
  return type === 'TXT' ? { ...record, record: splitJoinedTxt(stringOrEmpty(given.data)) } : record
}
