/** Cuts bytes into lines of bounded length, and keeps no more of a longer one than a reject shows. */

import { isUtf8 } from 'node:buffer'

/** The bound of a line, without its end. */
export const LINE_BYTES = 1_048_576
/** What a reject keeps of its line, in bytes. */
const KEPT_BYTES = 4_096
const NEWLINE = 10
const RETURN = 13

/** One line without its end. `bytes` is whole where `length` is within the bound, else its first 4 KiB. */
export type Line = { bytes: Buffer; length: number }

/** Takes chunk after chunk, none of which it holds on to; a line is good until the next one. The last may lack its newline. */
export function lineCutter() {
  let pieces: Buffer[] = []
  let length = 0
  const keep = (piece: Buffer): void => {
    length += piece.length
    if (length <= LINE_BYTES) pieces.push(piece)
    else pieces = [Buffer.from(Buffer.concat([...pieces, piece]).subarray(0, KEPT_BYTES))]
  }
  const finish = (): Line => {
    const line = { bytes: pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces), length }
    pieces = []
    length = 0
    return line
  }
  return {
    *take(chunk: Buffer): Generator<Line> {
      let from = 0
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
        keep(chunk.subarray(from, at))
        from = at + 1
        yield finish()
      }
      if (from < chunk.length) keep(Buffer.from(chunk.subarray(from)))
    },
    /** The line that no newline ended; null where there is none. */
    rest: (): Line | null => (length === 0 ? null : finish()),
  }
}

/** True for a line that holds nothing: it is passed over. */
export function isBlank({ bytes, length }: Line): boolean {
  return length === 0 || (length === 1 && bytes[0] === RETURN)
}

/** The text of a line, the first one without a byte order mark; null where it is too long or its bytes are no UTF-8. */
export function lineText({ bytes, length }: Line, number: number): string | null {
  if (length > LINE_BYTES) return null
  const text = bytes.toString('utf8')
  if (text.includes('\ufffd') && !isUtf8(bytes)) return null
  return number === 1 ? text.replace(/^\ufeff/, '') : text
}

/** Why lineText has none. */
export function whyNoText({ length }: Line): string {
  return length > LINE_BYTES ? `the line has ${length} bytes, ${LINE_BYTES} are allowed` : 'the line is not UTF-8'
}

/** The beginning of a line for a reject, bytes that are no UTF-8 replaced. */
export function beginningOf({ bytes }: Line): string {
  return bytes.toString('utf8', 0, KEPT_BYTES)
}
