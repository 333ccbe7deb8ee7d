/** Cuts bytes into lines of bounded length, and keeps no more of a longer one than a reject shows. */

import { isUtf8 } from 'node:buffer'

/** The bound of a line, without its end. */
export const MAX_LINE_BYTES = 1_048_576
/** What a reject keeps of its line, in bytes. */
const MAX_REJECT_BYTES = 4_096
const NEWLINE_BYTE = 10
const CARRIAGE_RETURN_BYTE = 13

/** One line without its end. `bytes` is whole where `length` is within the bound, else its first 4 KiB. */
export type InputLine = { bytes: Buffer; length: number }

/**
 * Takes chunk after chunk, none of which it holds on to; a line is good until the next one. The last may lack its
 * newline.
 */
export function createLineSplitter() {
  let pieces: Buffer[] = []
  let length = 0
  const append = (piece: Buffer): void => {
    length += piece.length
    if (length <= MAX_LINE_BYTES) pieces.push(piece)
    else pieces = [Buffer.from(Buffer.concat([...pieces, piece]).subarray(0, MAX_REJECT_BYTES))]
  }
  const finish = (): InputLine => {
    const line = { bytes: pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces), length }
    pieces = []
    length = 0
    return line
  }
  return {
    *split(chunk: Buffer): Generator<InputLine> {
      let from = 0
      for (let at = chunk.indexOf(NEWLINE_BYTE); at >= 0; at = chunk.indexOf(NEWLINE_BYTE, from)) {
        append(chunk.subarray(from, at))
        from = at + 1
        yield finish()
      }
      if (from < chunk.length) append(Buffer.from(chunk.subarray(from)))
    },
    /** The line that no newline ended; null where there is none. */
    rest: (): InputLine | null => (length === 0 ? null : finish()),
  }
}

/** True for a line that holds nothing: it is passed over. */
export function isBlankLine({ bytes, length }: InputLine): boolean {
  return length === 0 || (length === 1 && bytes[0] === CARRIAGE_RETURN_BYTE)
}

/** The text of a line, the first one without a byte order mark; null where it is too long or its bytes are no UTF-8. */
export function lineText({ bytes, length }: InputLine, number: number): string | null {
  if (length > MAX_LINE_BYTES) return null
  const text = bytes.toString('utf8')
  if (text.includes('\ufffd') && !isUtf8(bytes)) return null
  return number === 1 ? text.replace(/^\ufeff/, '') : text
}

/** Why lineText has none. */
export function lineTextProblem({ length }: InputLine): string {
  return length > MAX_LINE_BYTES
    ? `the line has ${length} bytes, ${MAX_LINE_BYTES} are allowed`
    : 'the line is not UTF-8'
}

/** The beginning of a line for a reject, bytes that are no UTF-8 replaced. */
export function lineStart({ bytes }: InputLine): string {
  return bytes.toString('utf8', 0, MAX_REJECT_BYTES)
}
