/**
 * Collects the lines of another crawl: sorts sightings by name and time, then turns them into batches of observations.
 */

import { type PreparedObservation, prepareObservation } from '../apply/prepare.ts'
import type { DomainName } from '../values/domain-name.ts'
import type { Instant } from '../values/time.ts'
import type { ImportBatch } from './batch.ts'
import {
  type BatchCollector,
  MAX_BATCH_BYTES,
  MAX_BATCH_OBSERVATIONS,
  OBSERVED_IN_FUTURE,
} from './collect-observations.ts'
import { observationsOf } from './formats/observations-from-sightings.ts'
import {
  type LineParser,
  NO_TIME_PROBLEM,
  type ParsedLine,
  type Sighting,
  type SightingBody,
} from './formats/sighting.ts'
import { createColumnBuffer } from './observation-columns.ts'
import { createExternalSorter, type ExternalSorter } from './stream/external-sort.ts'
import { InputError } from './stream/input-error.ts'
import { type InputLine, isBlankLine, lineStart, lineText, lineTextProblem } from './stream/line-splitter.ts'

/**
 * Separates name, time and the rest in the sorted text. No name contains it, and it sorts before all their characters.
 */
const SORT_SEPARATOR = '\t'
const SORT_TIME_DIGITS = 12
const EMPTY_COUNTS = { read: 0, skipped: 0, bytes: 0, size: 0 }
/** The line of rejects at the end of the file. */
const END_OF_FILE_LINE: InputLine = { bytes: Buffer.alloc(0), length: 0 }

/**
 * The next batch without its observations. `size`: number of observations. `bytes`: size of them and of the lines since
 * the last batch.
 */
type PendingBatch = Omit<ImportBatch, 'observations' | 'end'> & { size: number }

/** `memory`: bytes of sightings that are held before they go to a temporary file. */
export function collectSightings(parser: LineParser, memory?: number): BatchCollector {
  const sightings = createExternalSorter(memory)
  const observations = createColumnBuffer(MAX_BATCH_OBSERVATIONS)
  const pending: PendingBatch = { line: 0, ...EMPTY_COUNTS, rejects: [] }
  return {
    ...lineIntake(parser, pending, sightings),
    *finish() {
      for (const observation of observationsOf(sightingsFromTexts(sightings.sorted()))) {
        if (observation === null) pending.skipped++
        else observations.add(withSize(pending, prepareObservation(observation)))
        yield
      }
    },
    isEmpty: () => pending.read === 0 && pending.size === 0,
    isFull: () => pending.size >= MAX_BATCH_OBSERVATIONS || pending.bytes >= MAX_BATCH_BYTES,
    dropObservations: () => {},
    takeBatch() {
      const { line, read, skipped, rejects } = pending
      Object.assign(pending, EMPTY_COUNTS, { rejects: [] })
      return { observations: observations.takeColumns(), line, read, skipped, rejects }
    },
  }
}

function lineIntake(
  parser: LineParser,
  pending: PendingBatch,
  sightings: ExternalSorter,
): Pick<BatchCollector, 'add' | 'addLast'> {
  let hasEntries = false
  const refuse = (reason: string, line: InputLine): false => {
    // If the first entry has no time, no entry has one.
    if (reason === NO_TIME_PROBLEM && !hasEntries) throw new InputError(`line ${pending.line} ${NO_TIME_PROBLEM}`)
    hasEntries = true
    pending.rejects.push({ line: pending.line, reason, length: line.length, text: lineStart(line) })
    return false
  }
  const keep = (parsed: ParsedLine, line: InputLine, latest: Instant): boolean => {
    if (parsed === null) return true
    const sightingsOrProblem = typeof parsed === 'string' ? parsed : (futureProblem(parsed, latest) ?? parsed)
    if (typeof sightingsOrProblem === 'string') return refuse(sightingsOrProblem, line)
    for (const sighting of sightingsOrProblem) sightings.add(sortableText(sighting))
    if (sightingsOrProblem.length === 0) pending.skipped++
    else hasEntries = true
    return true
  }
  return {
    add(line, latest) {
      pending.line++
      pending.bytes += line.bytes.length
      if (!isBlankLine(line)) pending.read++
      const text = lineText(line, pending.line)
      return text === null
        ? refuse(lineTextProblem(line), line)
        : keep(parser.parseLine(text.replace(/\r$/, '')), line, latest)
    },
    addLast: (latest) => keep(parser.end(), END_OF_FILE_LINE, latest),
  }
}

function withSize(pending: PendingBatch, prepared: PreparedObservation): PreparedObservation {
  pending.size++
  pending.bytes += prepared.dns?.length ?? 0
  return prepared
}

function futureProblem(sightings: readonly Sighting[], latest: Instant): string | null {
  const isAhead = (each: Sighting): boolean => (each.kind === 'observed' ? each.until : each.at) > latest
  return sightings.some(isAhead) ? OBSERVED_IN_FUTURE : null
}

/** Sorts by name, then by time, then in an order that does not depend on the order of the lines. */
function sortableText({ name, at, ...body }: Sighting): string {
  return name + SORT_SEPARATOR + String(at).padStart(SORT_TIME_DIGITS, '0') + SORT_SEPARATOR + JSON.stringify(body)
}

function* sightingsFromTexts(texts: Iterable<string>): Generator<Sighting> {
  for (const text of texts) {
    const end = text.indexOf(SORT_SEPARATOR)
    const at = end + 1 + SORT_TIME_DIGITS
    yield {
      name: text.slice(0, end) as DomainName,
      at: Number(text.slice(end + 1, at)),
      ...(JSON.parse(text.slice(at + 1)) as SightingBody),
    }
  }
}
