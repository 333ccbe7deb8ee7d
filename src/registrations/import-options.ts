/** What importing a zone or a list is told, and what it comes to. */

import type { Day } from '../values/time.ts'
import type { AddNamesContext } from './add-names.ts'

/** What cannot be used of a file. `length` of the line or owner in bytes, `text` its first 4 KiB. */
export type RejectedEntry = { line: number; reason: string; length: number; text: string }

export type RegistrationImportOptions = Omit<AddNamesContext, 'onAdded'> & {
  /** The folder of registrations. */
  root: string
  /** The first thing that cannot be used ends it, and nothing is taken. */
  isStrict: boolean
  /** Takes a zone that has lost more than half of its names. */
  acceptsLoss: boolean
  onReject(reject: RejectedEntry): void
  /** Lines that were read so far. */
  onLines(lines: number): void
  /** Names that were brought into the store so far. */
  onNames(names: number): void
}

/** The bytes of a file, inflated; its path, of which the name may say the day. */
export type RegistrationInput = { path: string; bytes: AsyncIterable<Uint8Array>; day: Day | null }

/**
 * What it came to. `against`: the day of the zone that it was compared with, null for none. `isFirst`: there was none
 * within a week, so nothing counts as registered. `fresh`: names that were not known to the store. `remade`: the later
 * day that was made anew with it. `isSame`: all of it was there before, and nothing has changed.
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

/** Ends a strict import; its message says at which line. */
export class StrictImportError extends Error {}

/** Throws RefusedLine where that is wanted. */
export function rejectLine(
  { onReject, isStrict }: Pick<RegistrationImportOptions, 'onReject' | 'isStrict'>,
  reject: RejectedEntry,
): void {
  onReject(reject)
  if (isStrict) throw new StrictImportError(`line ${reject.line}`)
}
