/** Checks the segments of the index of /similar: their states and ranges, and that every row belongs to one. */

import type { CheckFault } from '../../port/store.ts'
import { type CheckSlice, problemReporter } from './slice.ts'

export type CheckedSegment = { number: number; first: number; last: number; state: string }
/** A segment that has rows in a table. */
export type UsedSegment = { table: string; segment: number }

const SEGMENT_STATES = ['building', 'published', 'replaced']

/** SQL of both engines. `posting` and `document_frequency` begin their keys with the segment, so each step is one look-up. */
export const READ_SEGMENTS = 'select number, first_document as first, last_document as last, state from segment'
export const READ_USED_SEGMENTS = ['posting', 'document_frequency']
  .map(
    (table) => `select '${table}' as "table", segment from (
      with recursive used(segment) as (select min(segment) from ${table} union all
        select (select min(segment) from ${table} where segment > used.segment) from used where used.segment is not null)
      select segment from used where segment is not null) ${table}_segments`,
  )
  .join(' union all ')

/** Begins the index again. Rows that have lost their segment get one, so that they are deleted with it. */
export const REPLACE_SEGMENTS = `update segment set state = 'replaced'`
/** `identity`: what lets the engine store a given number. */
export function addLostSegmentsSql(identity = ''): string {
  return `insert into segment (number, first_document, last_document, documents, state, fence) ${identity}
    select distinct segment, 0, 0, 0, 'replaced', 0 from (${READ_USED_SEGMENTS}) used_segments
    where segment not in (select number from segment)`
}

/** Checks all segments at once, because there are few. */
export function checkSegments(segments: readonly CheckedSegment[], used: readonly UsedSegment[]): CheckSlice {
  const faults: CheckFault[] = []
  const numbers = new Set(segments.map(({ number }) => number))
  for (const { table, segment } of used)
    if (!numbers.has(segment)) problemReporter(faults, table, String(segment))('belongs to no segment')
  for (const { number, state } of segments)
    if (!SEGMENT_STATES.includes(state)) problemReporter(faults, 'segment', String(number))(`has state ${state}`)
  const published = segments.filter(({ state }) => state === 'published').sort((a, b) => a.first - b.first)
  for (const [index, { number, first, last }] of published.entries()) {
    const report = problemReporter(faults, 'segment', String(number))
    if (last < first) report('ends before it begins')
    if (index > 0 && first <= published[index - 1]!.last) report('has documents of another segment')
  }
  return { faults, checked: segments.length, last: null }
}
