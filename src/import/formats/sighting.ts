/**
 * What the lines of another crawl become: dated sightings of a name, from which observations are made once all are
 * together.
 */

import type { DnsAnswer, ObservedRecord } from '../../probe/probe-result.ts'
import type { RecordType } from '../../values/dns-record.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { Instant } from '../../values/time.ts'

/** `at`: when it was seen, or where it has a duration, from when on. */
export type Sighting = { name: DomainName; at: Instant } & SightingBody

/**
 * `asked`: somebody asked for the type, and this came. `held`: the records were seen, of whatever else there was
 * meanwhile, from `at` until `until`, both included. Records are in the form of observation files and have been
 * checked.
 */
export type SightingBody =
  | { kind: 'queried'; type: RecordType; answer: DnsAnswer }
  | { kind: 'observed'; type: RecordType; records: readonly ObservedRecord[]; until: Instant }

/**
 * What a line completes: sightings, of any number of names; none, where it holds nothing that we keep (it is passed
 * over);
 * a text: why it is refused, naming the field; null where the entry that it belongs to goes on.
 */
export type ParsedLine = readonly Sighting[] | string | null

/** Reads the lines of one file in their order. Never throws. */
export type LineParser = {
  /** The next line without its end. Lines that hold nothing are given too, as an entry may end with one. */
  parseLine(line: string): ParsedLine
  /** What was begun by the last line. */
  end(): ParsedLine
}

/** A format of files. `observedAt`: the time of what carries none. */
export type ImportFormat = (observedAt: Instant | null) => LineParser

/** Why an entry without a time is refused. A file whose first entry is, is refused as a whole. */
export const NO_TIME_PROBLEM = 'carries no time; --observed-at gives it one'

/** A reader of lines that are entries of their own; an empty line is none. */
export function lineByLine(read: (line: string) => ParsedLine): LineParser {
  return { parseLine: (line) => (line.trim() === '' ? null : read(line)), end: () => null }
}
