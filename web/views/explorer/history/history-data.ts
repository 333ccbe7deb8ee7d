/** The DNS history that is loaded: states as spans, the time scale and its ticks. */

import { parseInstant } from '../../../parts/time.tsx'
import { endpointPath, type HistoryBody, type HistoryState, RECORD_TYPES, type RecordType } from '../data/responses.ts'
import { type Span, spansOf } from './records.ts'

/** The largest page of any plan. The server reduces it to that of the account. */
const HISTORY_LIMIT = '100'

/** The path of the history of all types, or of the states of one type that are older than `before`. */
export function historyPath(name: string, older: { type: RecordType; before: string } | null): string {
  const rest = older === null ? {} : { type: older.type, next: older.before }
  return endpointPath('dnshistory', { query: name, limit: HISTORY_LIMIT, ...rest })
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

const DAY_MS = 86_400_000
/** The steps of ticks, in milliseconds, and how much of an ISO instant a label has. */
const STEPS = [
  [5 * 365.25 * DAY_MS, [0, 4]],
  [2 * 365.25 * DAY_MS, [0, 4]],
  [365.25 * DAY_MS, [0, 7]],
  [182 * DAY_MS, [0, 7]],
  [61 * DAY_MS, [0, 7]],
  [30 * DAY_MS, [0, 10]],
  [7 * DAY_MS, [0, 10]],
  [DAY_MS, [5, 10]],
  [DAY_MS / 4, [5, 16]],
  [DAY_MS / 24, [11, 16]],
  [60_000 * 10, [11, 16]],
  [60_000, [11, 16]],
  [10_000, [11, 19]],
  [1_000, [11, 19]],
] as const

/** Three to six ticks with labels in UTC. */
export function ticksOf(scale: TimeScale): { place: number; label: string }[] {
  const length = scale.end - scale.start
  const [step, [from, to]] = STEPS.find(([each]) => length / each >= 3) ?? STEPS[STEPS.length - 1]!
  const size = Math.max(step, length / 5)
  return Array.from({ length: Math.floor(length / size) }, (_, index) => scale.start + index * size).map((instant) => ({
    place: placeOf(scale, instant),
    label: new Date(instant).toISOString().slice(from, to).replace('T', ' '),
  }))
}
