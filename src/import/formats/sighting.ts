/** A sighting: one dated line of another crawl about a name. Observations are built from all sightings together. */

import type { DnsAnswer, ObservedRecord } from '../../probe/probe-result.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { RecordType } from '../../values/records/dns-record.ts'
import type { Instant } from '../../values/time.ts'

/** `at`: the time of the sighting, or the start of its time range. */
export type Sighting = { name: DomainName; at: Instant } & SightingBody

/**
 * `queried`: the type was queried, and this was the answer. `observed`: the records were seen from `at` until `until`,
 * both included, perhaps among others. Records are validated and in the form of observation files.
 */
export type SightingBody =
  | { kind: 'queried'; type: RecordType; answer: DnsAnswer }
  | { kind: 'observed'; type: RecordType; records: readonly ObservedRecord[]; until: Instant }

/**
 * The result of a line: sightings of any names, or none if it holds no usable data. A text says why the line is
 * rejected and names the field. Null: its entry continues.
 */
export type ParsedLine = readonly Sighting[] | string | null

/** Reads the lines of one file in order. Never throws. */
export type LineParser = {
  /** Reads the next line without its line end. Empty lines count, because they can end an entry. */
  parseLine(line: string): ParsedLine
  /** Returns what the last line left open. */
  end(): ParsedLine
}

/** A file format. `observedAt`: the time of entries that carry none. */
export type ImportFormat = (observedAt: Instant | null) => LineParser

/** Why an entry without a time is rejected. If the first entry has none, the whole file is rejected. */
export const NO_TIME_PROBLEM = 'carries no time; --observed-at gives it one'

/** Returns a reader of files in which each line is an entry. It skips empty lines. */
export function lineByLine(read: (line: string) => ParsedLine): LineParser {
  return { parseLine: (line) => (line.trim() === '' ? null : read(line)), end: () => null }
}
