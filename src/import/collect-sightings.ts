/**
 * Collects the lines of another crawl: sightings are put in the order of name and time, then become batches of
 * observations.
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

/** Separates name, time and the rest in a text that is sorted: it is in no name, and before all that are. */
const SORT_SEPARATOR = '\t'
const SORT_TIME_DIGITS = 12
const EMPTY_COUNTS = { read: 0, skipped: 0, bytes: 0, size: 0 }
/** What the end of the file is refused with. */
const END_OF_FILE_LINE: InputLine = { bytes: Buffer.alloc(0), length: 0 }

/**
 * What the next batch will hold beside its observations. `size` of these; `bytes` of them and of the lines since the
 * last batch.
 */
type PendingBatch = Omit<ImportBatch, 'observations' | 'end'> & { size: number }

/** `memory`: how many bytes of sightings are held before they go to a temporary file. */
export function collectSightings(reader: LineParser, memory?: number): BatchCollector {
  const sightings = createExternalSorter(memory)
  const observations = createColumnBuffer(MAX_BATCH_OBSERVATIONS)
  const pending: PendingBatch = { line: 0, ...EMPTY_COUNTS, rejects: [] }
  return {
    ...lineIntake(reader, pending, sightings),
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
      const { line, read, skipped: passedOver, rejects } = pending
      Object.assign(pending, EMPTY_COUNTS, { rejects: [] })
      return { observations: observations.takeColumns(), line, read, skipped: passedOver, rejects }
    },
  }
}

function lineIntake(
  reader: LineParser,
  pending: PendingBatch,
  sightings: ExternalSorter,
): Pick<BatchCollector, 'add' | 'addLast'> {
  let hasEntries = false
  const refuse = (reason: string, given: InputLine): false => {
    // A file that begins with an entry without a time has none at all.
    if (reason === NO_TIME_PROBLEM && !hasEntries) throw new InputError(`line ${pending.line} ${NO_TIME_PROBLEM}`)
    hasEntries = true
    pending.rejects.push({ line: pending.line, reason, length: given.length, text: lineStart(given) })
    return false
  }
  const keep = (parsed: ParsedLine, given: InputLine, latest: Instant): boolean => {
    if (parsed === null) return true
    const sightingsOrProblem = typeof parsed === 'string' ? parsed : (futureProblem(parsed, latest) ?? parsed)
    if (typeof sightingsOrProblem === 'string') return refuse(sightingsOrProblem, given)
    for (const sighting of sightingsOrProblem) sightings.add(sortableText(sighting))
    if (sightingsOrProblem.length === 0) pending.skipped++
    else hasEntries = true
    return true
  }
  return {
    add(given, latest) {
      pending.line++
      pending.bytes += given.bytes.length
      if (!isBlankLine(given)) pending.read++
      const text = lineText(given, pending.line)
      return text === null
        ? refuse(lineTextProblem(given), given)
        : keep(reader.parseLine(text.replace(/\r$/, '')), given, latest)
    },
    addLast: (latest) => keep(reader.end(), END_OF_FILE_LINE, latest),
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

/** Sorts by name, then by time, then in some order that is the same however the lines of the file lie. */
function sortableText({ name, at, ...seen }: Sighting): string {
  return name + SORT_SEPARATOR + String(at).padStart(SORT_TIME_DIGITS, '0') + SORT_SEPARATOR + JSON.stringify(seen)
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
