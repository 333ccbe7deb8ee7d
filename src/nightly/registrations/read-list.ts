/** Reads a list of names, one a line, in any order: comments and ranks are passed over, and what is no name is refused. */

import { createHash } from 'node:crypto'
import { InputFault } from '../../input/fault.ts'
import { beginningOf, type Line, lineCutter, lineText, whyNoText } from '../../input/lines.ts'
import { listedText } from '../../input/list-line.ts'
import { sorter } from '../../input/runs.ts'
import { type Name, parseName, whyNotName } from '../../words/name.ts'
import { refuse, type Taking } from './taking.ts'

type ListTaking = Pick<Taking, 'signal' | 'isStrict' | 'onReject' | 'onLines'>

/** `names`: rising bytewise, each once, to be read once. `unusable`: lines that are no names. `sha256`: of the bytes. */
type ReadList = { names: Iterable<Name>; unusable: number; sha256: string }

/** Reads a list to its end. Throws InputFault if it has lines and none of them is a name, RefusedLine if `taking` is strict. */
export async function readList(taking: ListTaking, bytes: AsyncIterable<Uint8Array>): Promise<ReadList> {
  const cutter = lineCutter()
  const digest = createHash('sha256')
  const names = sorter()
  let [filled, unusable] = [0, 0]
  let number = 0
  const take = (line: Line): void => {
    number++
    const text = lineText(line, number)
    const listed = text === null ? null : listedText(text)
    if (listed === '') return
    filled++
    const name = listed === null ? null : parseName(listed)
    if (name !== null) names.add(name)
    else {
      unusable++
      const reason = listed === null ? whyNoText(line) : whyNotName(listed)
      refuse(taking, { line: number, reason, length: line.length, text: beginningOf(line) })
    }
  }
  for await (const chunk of bytes) {
    taking.signal.throwIfAborted()
    digest.update(chunk)
    for (const line of cutter.take(chunk as Buffer)) take(line)
    taking.onLines(number)
  }
  const rest = cutter.rest()
  if (rest !== null) take(rest)
  if (unusable > 0 && unusable === filled) throw new InputFault('none of its lines is a name')
  return { names: distinct(names.sorted()), unusable, sha256: digest.digest('hex') }
}

function* distinct(sorted: Iterable<string>): Generator<Name> {
  let last = ''
  for (const name of sorted) {
    if (name !== last) yield name as Name
    last = name
  }
}
