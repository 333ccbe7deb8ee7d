/** The DNS history that is loaded: states as spans, the time scale and its ticks. */

import { formatCount } from '../../../parts/text/numbers.ts'
import { formatMonthDay, parseInstant } from '../../../parts/text/times.ts'
import {
  type DnsRecord,
  type HistoryBody,
  type HistoryState,
  RECORD_TYPES,
  type RecordType,
} from '../data/responses.ts'

/** A state with what came and what went since the state before it. `until` null: it is the current one. */
export type Span = {
  type: RecordType
  since: string
  until: string | null
  records: string[]
  came: string[]
  went: string[]
  /** Whether the state before it is known, so that `came` and `went` are complete. */
  hasPrevious: boolean
}

/** The type in an address; null if there is none. */
export function historyTypeOf(query: URLSearchParams): RecordType | null {
  const text = query.get('type')?.toUpperCase()
  return RECORD_TYPES.find((type) => type === text) ?? null
}

/** Whether states of a type are older than the loaded ones. */
export function hasOlder({ meta }: HistoryBody, type: RecordType): boolean {
  return meta.truncated?.includes(type) ?? false
}

/** The number of states of a type, with a plus if there may be more. */
export function totalText({ meta }: Pick<HistoryBody, 'meta'>, type: RecordType): string {
  return formatCount(meta.totals[type] ?? 0) + (meta.totals_capped?.includes(type) ? '+' : '')
}

/** The spans of a type. `older`: further states that were loaded. `isComplete`: there are no others. */
export function typeSpans(
  body: HistoryBody,
  type: RecordType,
  older: readonly HistoryState[] = [],
  isComplete = !hasOlder(body, type),
): Span[] {
  return spansOf(type, [...(body.result[type] ?? []), ...older], isComplete)
}

/** From the oldest state to now, in milliseconds. */
export type TimeScale = { start: number; end: number }

export function scaleOf(spans: readonly Span[], now: number): TimeScale {
  const starts = spans.map(({ since }) => parseInstant(since).getTime())
  return { start: Math.min(now - 1_000, ...starts), end: now }
}

/** The place of an instant between 0 and 100. */
export function placeOf({ start, end }: TimeScale, instant: number): number {
  return (100 * (instant - start)) / (end - start)
}

/** The most ticks of a scale. */
const MAX_TICKS = 6
const DAY_MS = 86_400_000
const MONTH_MS = 30.44 * DAY_MS
/** The distances of ticks in months, then in milliseconds, from near to far. */
const MONTH_STEPS = [1, 3, 6, 12, 24, 60, 120]
const SHORT_STEPS = [1_000, 10_000, 60_000, 600_000, 3_600_000, 6 * 3_600_000, DAY_MS, 7 * DAY_MS]

/** At most six ticks at round instants, with labels in UTC. */
export function ticksOf(scale: TimeScale): { place: number; label: string }[] {
  const length = scale.end - scale.start
  const short = SHORT_STEPS.find((each) => length / each <= MAX_TICKS)
  const instants = short === undefined ? monthStarts(scale) : multiples(scale, short)
  return instants.map((instant) => ({
    place: placeOf(scale, instant),
    label: tickLabel(new Date(instant), length),
  }))
}

function multiples({ start, end }: TimeScale, step: number): number[] {
  const first = Math.ceil(start / step)
  return Array.from({ length: Math.floor(end / step) - first + 1 }, (_, index) => (first + index) * step)
}

/** The first days of months, at the smallest distance that gives few enough. */
function monthStarts({ start, end }: TimeScale): number[] {
  const step = MONTH_STEPS.find((each) => (end - start) / (each * MONTH_MS) <= MAX_TICKS) ?? 120
  const from = new Date(start)
  const first = Math.ceil((from.getUTCFullYear() * 12 + from.getUTCMonth() + 1) / step) * step
  const count = Math.ceil((end - start) / (step * MONTH_MS))
  const starts = Array.from({ length: count }, (_, index) => monthStart(first + index * step))
  return starts.filter((instant) => instant >= start && instant <= end)
}

/** The start of a month that is counted from January of the year 0. */
function monthStart(month: number): number {
  return Date.UTC(Math.floor(month / 12), month % 12)
}

/**
 * The part of an instant that tells ticks apart, at most 8 characters: `2026`, `2026-11`, `Nov 19`, `12:00`,
 * `12:00:05`.
 */
function tickLabel(instant: Date, length: number): string {
  const text = instant.toISOString()
  if (length > 2 * 365 * DAY_MS) return text.slice(0, text.slice(5, 7) === '01' ? 4 : 7)
  if (length > 60 * DAY_MS) return text.slice(0, 7)
  const isMidnight = text.slice(11, 19) === '00:00:00'
  if (length > 5 * DAY_MS || isMidnight) return formatMonthDay(instant)
  return text.slice(11, length > 600_000 ? 16 : 19)
}

/** A record on one line. */
export function recordText(type: RecordType, record: DnsRecord): string {
  switch (type) {
    case 'A':
      return String(record.ipv4_address)
    case 'AAAA':
      return String(record.ipv6_address)
    case 'NS':
      return String(record.nameserver)
    case 'CNAME':
      return String(record.target)
    case 'MX':
      return `${record.priority} ${record.mail_server}`
    case 'TXT':
      return String(record.text)
    case 'SOA':
      return `${record.primary_nameserver} ${record.admin_email} serial ${record.serial}`
  }
}

/** The spans of a type, newest first, as its states are. `isComplete`: the last state is the first one ever seen. */
export function spansOf(type: RecordType, states: readonly HistoryState[], isComplete: boolean): Span[] {
  return states.map((state, index) => {
    const records = state.records.map((record) => recordText(type, record))
    const previous = states[index + 1]
    const before = (previous?.records ?? []).map((record) => recordText(type, record))
    return {
      type,
      since: state.first_seen,
      until: states[index - 1]?.first_seen ?? null,
      records,
      came: records.filter((each) => !before.includes(each)),
      went: before.filter((each) => !records.includes(each)),
      hasPrevious: previous !== undefined || isComplete,
    }
  })
}
