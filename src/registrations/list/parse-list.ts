/** Reads a list of names, one per line, in any order. It skips comments and ranks, and rejects invalid names. */

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

/**
 * `names`: in ascending byte order, each once. They can be read once. `unusable`: number of lines without a valid name.
 * `sha256`: digest of the bytes.
 */
type ParsedList = { names: Iterable<DomainName>; unusable: number; sha256: string }

/** Reads a list to its end. Throws InputError if no line is a name, and StrictImportError if the import is strict. */
export async function parseNameList(options: ReadListOptions, bytes: AsyncIterable<Uint8Array>): Promise<ParsedList> {
  const cutter = createLineSplitter()
  const digest = createHash('sha256')
  const names = createExternalSorter()
  let [filled, unusable] = [0, 0]
  let number = 0
  const take = (line: InputLine): void => {
    number++
    const text = lineText(line, number)
    const listed = text === null ? null : parseListLine(text)
    if (listed === '') return
    filled++
    const name = listed === null ? null : parseName(listed)
    if (name !== null) names.add(name)
    else {
      unusable++
      const reason = listed === null ? lineTextProblem(line) : nameProblem(listed)
      rejectLine(options, { line: number, reason, length: line.length, text: lineStart(line) })
    }
  }
  for await (const chunk of bytes) {
    options.signal.throwIfAborted()
    digest.update(chunk)
    for (const line of cutter.split(chunk as Buffer)) take(line)
    options.onLines(number)
  }
  const rest = cutter.rest()
  if (rest !== null) take(rest)
  if (unusable > 0 && unusable === filled) throw new InputError('none of its lines is a name')
  return { names: distinctNames(names.sorted()), unusable, sha256: digest.digest('hex') }
}

function* distinctNames(sorted: Iterable<string>): Generator<DomainName> {
  let last = ''
  for (const name of sorted) {
    if (name !== last) yield name as DomainName
    last = name
  }
}
