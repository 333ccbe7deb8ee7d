/** Collects the lines of a file into batches. Each line is an observation or is rejected with a reason. */

import { prepareObservation } from '../apply/prepare.ts'
import type { Observation } from '../observe/observation.ts'
import { parseObservation } from '../observe/observation-parser.ts'
import type { Instant } from '../values/time.ts'
import type { ImportBatch, RejectedLine } from './batch.ts'
import { createColumnBuffer } from './observation-columns.ts'
import { type InputLine, isBlankLine, lineStart, lineText, lineTextProblem } from './stream/line-splitter.ts'

/**
 * The most observations of a batch. A batch is written in the order of the store: the larger it is, the more of its
 * rows share a page, if the names of the file are in another order.
 */
export const MAX_BATCH_OBSERVATIONS = 50_000
export const MAX_BATCH_BYTES = 33_554_432
export const OBSERVED_IN_FUTURE = "observed_at: is more than 5 minutes ahead of the store's clock"

/** Takes lines and returns batches. */
export type BatchCollector = {
  /** Adds the next line of the file. Returns false if it is rejected. Rejects what was observed later than `latest`. */
  add(line: InputLine, latest: Instant): boolean
  /** Adds what the last line left open. */
  addLast(latest: Instant): boolean
  /** Adds what was held back for the end of the file to the batch, a part per step. */
  finish(): Iterable<void>
  isEmpty(): boolean
  isFull(): boolean
  /** Keeps only the rejects. */
  dropObservations(): void
  /** Returns what was collected and starts a new batch. */
  takeBatch(): Omit<ImportBatch, 'bytes' | 'end'>
}

export function collectObservations(): BatchCollector {
  let line = 0
  let read = 0
  let bytes = 0
  const observations = createColumnBuffer(MAX_BATCH_OBSERVATIONS)
  let rejects: RejectedLine[] = []
  return {
    add(inputLine, latest) {
      line++
      if (isBlankLine(inputLine)) return true
      read++
      bytes += inputLine.bytes.length
      const parsed = parseObservationLine(inputLine, line, latest)
      if (typeof parsed !== 'string') observations.add(prepareObservation(parsed))
      else rejects.push({ line, reason: parsed, length: inputLine.length, text: lineStart(inputLine) })
      return typeof parsed !== 'string'
    },
    addLast: () => true,
    finish: () => [],
    isEmpty: () => read === 0,
    isFull: () => read >= MAX_BATCH_OBSERVATIONS || bytes >= MAX_BATCH_BYTES,
    dropObservations() {
      read -= observations.size()
      observations.takeColumns()
    },
    takeBatch() {
      const batch = { observations: observations.takeColumns(), rejects, line, read, skipped: 0 }
      rejects = []
      read = 0
      bytes = 0
      return batch
    },
  }
}

/** Returns the observation in a line, or why it is rejected. */
function parseObservationLine(line: InputLine, number: number, latest: Instant): Observation | string {
  const text = lineText(line, number)
  if (text === null) return lineTextProblem(line)
  const parsed = parseObservation(text)
  return typeof parsed === 'string' || parsed.observed_at <= latest ? parsed : OBSERVED_IN_FUTURE
}
