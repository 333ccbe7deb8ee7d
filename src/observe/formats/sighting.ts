/** What the lines of another crawl become: dated sightings of a name, from which observations are made once all are together. */

import type { Answer, GivenRecord } from '../../crawl/visit.ts'
import type { Name } from '../../words/name.ts'
import type { RecordType } from '../../words/record.ts'
import type { Instant } from '../../words/time.ts'

/** `at`: when it was seen, or where it has a duration, from when on. */
export type Sighting = { name: Name; at: Instant } & Seen

/**
 * `asked`: somebody asked for the type, and this came. `held`: the records were seen, of whatever else there was meanwhile,
 * from `at` until `until`, both included. Records are in the form of observation files and have been checked.
 */
export type Seen =
  | { kind: 'asked'; type: RecordType; answer: Answer }
  | { kind: 'held'; type: RecordType; records: readonly GivenRecord[]; until: Instant }

/**
 * What a line completes: sightings, of any number of names; none, where it holds nothing that we keep (it is passed over);
 * a text: why it is refused, naming the field; null where the entry that it belongs to goes on.
 */
export type Taken = readonly Sighting[] | string | null

/** Reads the lines of one file in their order. Never throws. */
export type LineReader = {
  /** The next line without its end. Lines that hold nothing are given too, as an entry may end with one. */
  take(line: string): Taken
  /** What was begun by the last line. */
  end(): Taken
}

/** A format of files. `observedAt`: the time of what carries none. */
export type Format = (observedAt: Instant | null) => LineReader

/** Why an entry without a time is refused. A file whose first entry is, is refused as a whole. */
export const NO_TIME = 'carries no time; --observed-at gives it one'

/** A reader of lines that are entries of their own; an empty line is none. */
export function eachLine(read: (line: string) => Taken): LineReader {
  return { take: (line) => (line.trim() === '' ? null : read(line)), end: () => null }
}
