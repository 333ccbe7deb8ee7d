/** The options and the result of importing a zone or a list. */

import type { Day } from '../values/time.ts'
import type { AddNamesContext } from './add-names.ts'

/** An unusable entry of a file. `length`: bytes of the line or owner. `text`: its first 4 KiB. */
export type RejectedEntry = { line: number; reason: string; length: number; text: string }

export type RegistrationImportOptions = Omit<AddNamesContext, 'onAdded'> & {
  /** The folder of registrations. */
  root: string
  /** The first unusable entry ends the import, and nothing is stored. */
  isStrict: boolean
  /** Accepts a zone that has lost more than half of its names. */
  acceptsLoss: boolean
  onReject(reject: RejectedEntry): void
  /** Called with the number of lines read so far. */
  onLines(lines: number): void
  /** Called with the number of names stored so far. */
  onNames(names: number): void
}

/** The decompressed bytes of a file, and its path, whose name may contain the day. */
export type RegistrationInput = { path: string; bytes: AsyncIterable<Uint8Array>; day: Day | null }

/**
 * The result. `comparedDay`: the day of the zone that it was compared with, or null. `isFirst`: there was no zone
 * within a week before, so nothing counts as registered. `newNames`: names that the store did not have. `rebuiltDay`:
 * the later day that was computed again. `isSame`: everything was already stored, and nothing has changed.
 */
export type RegistrationImportResult = {
  source: string
  day: Day
  names: number
  registered: number
  dropped: number
  unusable: number
  newNames: number
  comparedDay: Day | null
  isFirst: boolean
  rebuiltDay: Day | null
  isSame: boolean
}

/** Ends a strict import. The message names the line. */
export class StrictImportError extends Error {}

/** Throws StrictImportError in a strict import. */
export function rejectLine(
  { onReject, isStrict }: Pick<RegistrationImportOptions, 'onReject' | 'isStrict'>,
  reject: RejectedEntry,
): void {
  onReject(reject)
  if (isStrict) throw new StrictImportError(`line ${reject.line}`)
}
