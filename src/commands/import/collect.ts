/** Collects the lines of a file to batches: each is an observation, or is refused with a reason. */

import { prepare } from '../../apply/prepare.ts'
import { beginningOf, isBlank, type Line, lineText, whyNoText } from '../../input/lines.ts'
import type { Observation } from '../../observe/observation.ts'
import { parseObservation } from '../../observe/parse.ts'
import type { Instant } from '../../words/time.ts'
import type { Batch, Reject } from './batch.ts'
import { columns } from './columns.ts'

/** What a batch holds at most. */
export const BATCH_OBSERVATIONS = 10_000
export const BATCH_BYTES = 8_388_608
export const AHEAD = "observed_at: is more than 5 minutes ahead of the store's clock"

/** Takes lines, and hands over batches. */
export type Collector = {
  /** Takes the next line of the file; false where it is refused. What was observed later than `latest` is. */
  add(given: Line, latest: Instant): boolean
  /** Takes what the last line left open. */
  addLast(latest: Instant): boolean
  /** Puts what was kept for the end of the file into the batch, a piece a step. */
  finish(): Iterable<void>
  isEmpty(): boolean
  isFull(): boolean
  /** Leaves the rejects alone. */
  dropObservations(): void
  /** Hands over what was collected and begins anew. */
  empty(): Omit<Batch, 'bytes' | 'end'>
}

export function collect(): Collector {
  let line = 0
  let read = 0
  let bytes = 0
  const observations = columns(BATCH_OBSERVATIONS)
  let rejects: Reject[] = []
  return {
    add(given, latest) {
      line++
      if (isBlank(given)) return true
      read++
      bytes += given.bytes.length
      const made = readLine(given, line, latest)
      if (typeof made !== 'string') observations.add(prepare(made))
      else rejects.push({ line, reason: made, length: given.length, text: beginningOf(given) })
      return typeof made !== 'string'
    },
    addLast: () => true,
    finish: () => [],
    isEmpty: () => read === 0,
    isFull: () => read >= BATCH_OBSERVATIONS || bytes >= BATCH_BYTES,
    dropObservations() {
      read -= observations.empty().names.length
    },
    empty() {
      const batch = { observations: observations.empty(), rejects, line, read, passedOver: 0 }
      rejects = []
      read = 0
      bytes = 0
      return batch
    },
  }
}

/** The observation in a line, or why it is refused. */
function readLine(line: Line, number: number, latest: Instant): Observation | string {
  const text = lineText(line, number)
  if (text === null) return whyNoText(line)
  const made = parseObservation(text)
  return typeof made === 'string' || made.observed_at <= latest ? made : AHEAD
}
