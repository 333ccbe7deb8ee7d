/** Reads a list of names, one per line. It skips comments and ranks, and rejects invalid names. */

import { createHash } from 'node:crypto'
import { createExternalSorter } from '../../import/stream/external-sort.ts'
import { InputError } from '../../import/stream/input-error.ts'
import {
  createLineSplitter,
  type InputLine,
  lineStart,
  lineText,
  lineTextProblem,
} from '../../import/stream/line-splitter.ts'
import { parseListLine } from '../../import/stream/list-line.ts'
import { type DomainName, nameProblem, parseName } from '../../values/domain-name.ts'
import { type RegistrationImportOptions, rejectLine } from '../import-options.ts'

type ReadListOptions = Pick<RegistrationImportOptions, 'signal' | 'isStrict' | 'onReject' | 'onLines'>

/** `text`: what should be a name, '' for a line without one. Null if the line is no text. */
export type ReadListLine = (text: string, line: number) => string

/** `names`: each once. They can be read once. `unusable`: number of lines without a valid name. */
type ParsedList = { names: Iterable<DomainName>; unusable: number }

/** Characters of a place in a sorted text: as many as any line number needs. */
const PLACE_DIGITS = 12

/**
 * Reads a list to its end. The names are in ascending byte order. `sha256`: digest of the bytes. Throws InputError if
 * no line is a name, and StrictImportError if the import is strict.
 */
export async function parseNameList(
  options: ReadListOptions,
  bytes: AsyncIterable<Uint8Array>,
): Promise<ParsedList & { sha256: string }> {
  const names = createExternalSorter()
  const digest = createHash('sha256')
  const unusable = await readNames(options, bytes, parseListLine, {
    onBytes: (chunk) => digest.update(chunk),
    onName: (name) => names.add(name),
  })
  return { names: distinctNames(names.sorted()), unusable, sha256: digest.digest('hex') }
}

/** Same as `parseNameList`, with the names in the order of their first lines. `readLine` finds the name of a line. */
export async function parseOrderedList(
  options: ReadListOptions,
  bytes: AsyncIterable<Uint8Array>,
  readLine: ReadListLine = parseListLine,
): Promise<ParsedList> {
  const byName = createExternalSorter()
  const byPlace = createExternalSorter()
  const onName = (name: DomainName, line: number): void =>
    byName.add(`${name} ${String(line).padStart(PLACE_DIGITS, '0')}`)
  const unusable = await readNames(options, bytes, readLine, { onBytes() {}, onName })
  let last = ''
  for (const text of byName.sorted()) {
    const [name, place] = text.split(' ') as [string, string]
    if (name !== last) byPlace.add(`${place} ${name}`)
    last = name
  }
  return { names: namesByPlace(byPlace.sorted()), unusable }
}

function* namesByPlace(sorted: Iterable<string>): Generator<DomainName> {
  for (const text of sorted) yield text.slice(PLACE_DIGITS + 1) as DomainName
}

function* distinctNames(sorted: Iterable<string>): Generator<DomainName> {
  let last = ''
  for (const name of sorted) {
    if (name !== last) yield name as DomainName
    last = name
  }
}

type ListListeners = { onBytes(chunk: Uint8Array): void; onName(name: DomainName, line: number): void }

/** Returns the number of lines without a valid name. */
async function readNames(
  options: ReadListOptions,
  bytes: AsyncIterable<Uint8Array>,
  readLine: ReadListLine,
  { onBytes, onName }: ListListeners,
): Promise<number> {
  const cutter = createLineSplitter()
  let [number, filled, unusable] = [0, 0, 0]
  const take = (line: InputLine): void => {
    number++
    const text = lineText(line, number)
    const listed = text === null ? null : readLine(text, number)
    if (listed === '') return
    filled++
    const name = listed === null ? null : parseName(listed)
    if (name !== null) onName(name, number)
    else {
      unusable++
      const reason = listed === null ? lineTextProblem(line) : nameProblem(listed)
      rejectLine(options, { line: number, reason, length: line.length, text: lineStart(line) })
    }
  }
  for await (const chunk of bytes) {
    options.signal.throwIfAborted()
    onBytes(chunk)
    for (const line of cutter.split(chunk as Buffer)) take(line)
    options.onLines(number)
  }
  const rest = cutter.rest()
  if (rest !== null) take(rest)
  if (unusable > 0 && unusable === filled) throw new InputError('none of its lines is a name')
  return unusable
}
