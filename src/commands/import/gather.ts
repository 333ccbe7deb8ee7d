/** Collects the lines of another crawl: sightings are put in the order of name and time, then become batches of observations. */

import { type Prepared, prepare } from '../../apply/prepare.ts'
import { InputFault } from '../../input/fault.ts'
import { beginningOf, isBlank, type Line, lineText, whyNoText } from '../../input/lines.ts'
import { type Sorter, sorter } from '../../input/runs.ts'
import { observationsOf } from '../../observe/formats/gather.ts'
import { type LineReader, NO_TIME, type Seen, type Sighting, type Taken } from '../../observe/formats/sighting.ts'
import type { Name } from '../../words/name.ts'
import type { Instant } from '../../words/time.ts'
import type { Batch } from './batch.ts'
import { AHEAD, BATCH_BYTES, BATCH_OBSERVATIONS, type Collector } from './collect.ts'
import { columns } from './columns.ts'

/** Separates name, time and the rest in a text that is sorted: it is in no name, and before all that are. */
const TAB = '\t'
const TIME_DIGITS = 12
const NOTHING = { read: 0, passedOver: 0, bytes: 0, size: 0 }
/** What the end of the file is refused with. */
const NO_LINE: Line = { bytes: Buffer.alloc(0), length: 0 }

/** What the next batch will hold beside its observations. `size` of these; `bytes` of them and of the lines since the last batch. */
type Heap = Omit<Batch, 'observations' | 'end'> & { size: number }

/** `memory`: how many bytes of sightings are held before they go to a temporary file. */
export function gather(reader: LineReader, memory?: number): Collector {
  const sightings = sorter(memory)
  const observations = columns(BATCH_OBSERVATIONS)
  const heap: Heap = { line: 0, ...NOTHING, rejects: [] }
  return {
    ...intakeOf(reader, heap, sightings),
    *finish() {
      for (const observation of observationsOf(sightingsIn(sightings.sorted()))) {
        if (observation === null) heap.passedOver++
        else observations.add(weighed(heap, prepare(observation)))
        yield
      }
    },
    isEmpty: () => heap.read === 0 && heap.size === 0,
    isFull: () => heap.size >= BATCH_OBSERVATIONS || heap.bytes >= BATCH_BYTES,
    dropObservations: () => {},
    empty() {
      const { line, read, passedOver, rejects } = heap
      Object.assign(heap, NOTHING, { rejects: [] })
      return { observations: observations.empty(), line, read, passedOver, rejects }
    },
  }
}

function intakeOf(reader: LineReader, heap: Heap, sightings: Sorter): Pick<Collector, 'add' | 'addLast'> {
  let isBegun = false
  const refuse = (reason: string, given: Line): false => {
    // A file that begins with an entry without a time has none at all.
    if (reason === NO_TIME && !isBegun) throw new InputFault(`line ${heap.line} ${NO_TIME}`)
    isBegun = true
    heap.rejects.push({ line: heap.line, reason, length: given.length, text: beginningOf(given) })
    return false
  }
  const keep = (taken: Taken, given: Line, latest: Instant): boolean => {
    if (taken === null) return true
    const made = typeof taken === 'string' ? taken : (whyAhead(taken, latest) ?? taken)
    if (typeof made === 'string') return refuse(made, given)
    for (const sighting of made) sightings.add(textOf(sighting))
    if (made.length === 0) heap.passedOver++
    else isBegun = true
    return true
  }
  return {
    add(given, latest) {
      heap.line++
      heap.bytes += given.bytes.length
      if (!isBlank(given)) heap.read++
      const text = lineText(given, heap.line)
      return text === null ? refuse(whyNoText(given), given) : keep(reader.take(text.replace(/\r$/, '')), given, latest)
    },
    addLast: (latest) => keep(reader.end(), NO_LINE, latest),
  }
}

function weighed(heap: Heap, prepared: Prepared): Prepared {
  heap.size++
  heap.bytes += prepared.dns?.length ?? 0
  return prepared
}

function whyAhead(sightings: readonly Sighting[], latest: Instant): string | null {
  const isAhead = (each: Sighting): boolean => (each.kind === 'held' ? each.until : each.at) > latest
  return sightings.some(isAhead) ? AHEAD : null
}

/** Sorts by name, then by time, then in some order that is the same however the lines of the file lie. */
function textOf({ name, at, ...seen }: Sighting): string {
  return name + TAB + String(at).padStart(TIME_DIGITS, '0') + TAB + JSON.stringify(seen)
}

function* sightingsIn(texts: Iterable<string>): Generator<Sighting> {
  for (const text of texts) {
    const end = text.indexOf(TAB)
    const at = end + 1 + TIME_DIGITS
    yield {
      name: text.slice(0, end) as Name,
      at: Number(text.slice(end + 1, at)),
      ...(JSON.parse(text.slice(at + 1)) as Seen),
    }
  }
}
