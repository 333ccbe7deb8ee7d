/** A line of massdns in JSON (-o J): one answer, or with -o Je why there was none. */

import { parseName } from '../../words/name.ts'
import { RECORD_TYPES } from '../../words/record.ts'
import type { Instant } from '../../words/time.ts'
import { isObject, objectsOf, parseObject, textOf, whyNotDomain } from '../json.ts'
import { answerOf, type Printed } from './message.ts'
import { joinedParts, printedRecord } from './presentation.ts'
import { NO_TIME, type Taken } from './sighting.ts'

const NANOSECONDS = 1_000_000_000

/** A question that was given up carries no time: without one for all it is passed over, since it is no fault of the line. */
export function readJson(line: string, observedAt: Instant | null): Taken {
  const given = parseObject(line)
  if (typeof given === 'string') return given
  const name = typeof given.name === 'string' ? parseName(given.name) : null
  if (name === null) return `name: ${whyNotDomain(given.name)}`
  const isGivenUp = typeof given.error === 'string'
  const status = isGivenUp ? given.error : given.status
  if (typeof status !== 'string') return 'status: must be a text'
  const type = RECORD_TYPES.find((each) => each === given.type)
  if (type === undefined) return typeof given.type === 'string' ? [] : 'type: must be a text'
  const at = given.rx_ts === undefined ? observedAt : readTime(given.rx_ts)
  if (at === null && isGivenUp) return []
  if (at === null) return given.rx_ts === undefined ? NO_TIME : 'rx_ts: must be a Unix time in nanoseconds'
  const data = isObject(given.data) ? given.data : {}
  const answer = answerOf(name, type, {
    status,
    answers: objectsOf(data.answers).map(printed),
    authorities: objectsOf(data.authorities).map((each) => textOf(each.type)),
    flags: Array.isArray(given.flags) ? given.flags.map(textOf) : null,
  })
  if (typeof answer === 'string') return `data.answers: ${answer}`
  return answer === null ? [] : [{ name, at, kind: 'asked', type, answer }]
}

function readTime(given: unknown): Instant | null {
  const seconds = typeof given === 'number' ? Math.floor(given / NANOSECONDS) : -1
  return seconds >= 0 && seconds < NANOSECONDS * 10 ? seconds : null
}

function printed(given: Record<string, unknown>): Printed {
  const type = given.class === 'IN' ? textOf(given.type) : ''
  const record = printedRecord(textOf(given.name), type, textOf(given.data))
  return type === 'TXT' ? { ...record, record: joinedParts(textOf(given.data)) } : record
}
