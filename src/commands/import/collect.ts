/** Collects the lines of a file to batches: each is an observation, or is refused with a reason. */

import { prepare } from '../../apply/prepare.ts'
import type { Observation } from '../../observe/observation.ts'
import { parseObservation } from '../../observe/parse.ts'
import type { Instant } from '../../words/time.ts'
import type { Batch, Reject } from './batch.ts'
import { columns } from './columns.ts'
import { beginningOf, isBlank, LINE_BYTES, type Line, textOf } from './lines.ts'

const OBSERVATIONS = 10_000
const BYTES = 8_388_608

export type Collector = ReturnType<typeof collect>

export function collect() {
  let line = 0
  let read = 0
  let bytes = 0
  const observations = columns(OBSERVATIONS)
  let rejects: Reject[] = []
  return {
    /** Takes the next line of the file; false where it is refused. Observed later than `latest` is. */
    add(given: Line, latest: Instant): boolean {
      line++
      if (isBlank(given)) return true
      read++
      bytes += given.bytes.length
      const made = readLine(given, line, latest)
      if (typeof made !== 'string') observations.add(prepare(made))
      else rejects.push({ line, reason: made, length: given.length, text: beginningOf(given) })
      return typeof made !== 'string'
    },
    isEmpty: (): boolean => read === 0,
    isFull: (): boolean => read >= OBSERVATIONS || bytes >= BYTES,
    /** Leaves the rejects alone. */
    dropObservations(): void {
      read -= observations.empty().names.length
    },
    /** Hands over what was collected and begins anew. */
    empty(): Omit<Batch, 'bytes' | 'end'> {
      const batch = { observations: observations.empty(), rejects, line, read }
      rejects = []
      read = 0
      bytes = 0
      return batch
    },
  }
}

/** The observation in a line, or why it is refused. */
function readLine(line: Line, number: number, latest: Instant): Observation | string {
  if (line.length > LINE_BYTES) return `the line has ${line.length} bytes, ${LINE_BYTES} are allowed`
  const text = textOf(line)
  if (text === null) return 'the line is not UTF-8'
  const made = parseObservation(number === 1 ? text.replace(/^\ufeff/, '') : text)
  if (typeof made === 'string' || made.observed_at <= latest) return made
  return "observed_at: is more than 5 minutes ahead of the store's clock"
}
