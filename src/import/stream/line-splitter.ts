/** Splits bytes into lines of bounded length. Of a longer line, it keeps only what a reject shows. */

import { isUtf8 } from 'node:buffer'

/** Maximum length of a line without its end. */
export const MAX_LINE_BYTES = 1_048_576
/** Bytes of a line that a reject keeps. */
const MAX_REJECT_BYTES = 4_096
const NEWLINE_BYTE = 10
const CARRIAGE_RETURN_BYTE = 13

/** One line without its end. `bytes` is complete if `length` is within the limit, else its first 4 KiB. */
export type InputLine = { bytes: Buffer; length: number }

/**
 * Takes one chunk after another and keeps no reference to them. A line is valid until the next one. The last line may
 * lack its newline.
 */
export function createLineSplitter() {
  let parts: Buffer[] = []
  let length = 0
  const append = (part: Buffer): void => {
    length += part.length
    if (length <= MAX_LINE_BYTES) parts.push(part)
    else parts = [Buffer.from(Buffer.concat([...parts, part]).subarray(0, MAX_REJECT_BYTES))]
  }
  const finish = (): InputLine => {
    const line = { bytes: parts.length === 1 ? parts[0]! : Buffer.concat(parts), length }
    parts = []
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
    /** Returns the last line if no newline ended it, else null. */
    rest: (): InputLine | null => (length === 0 ? null : finish()),
  }
}

/** Returns true for a line of white space only, which is skipped. */
export function isBlankLine({ bytes, length }: InputLine): boolean {
  return length === 0 || (length === 1 && bytes[0] === CARRIAGE_RETURN_BYTE)
}

/** Returns the text of a line, the first one without a byte order mark, or null if it is too long or not UTF-8. */
export function lineText({ bytes, length }: InputLine, number: number): string | null {
  if (length > MAX_LINE_BYTES) return null
  const text = bytes.toString('utf8')
  if (text.includes('\ufffd') && !isUtf8(bytes)) return null
  return number === 1 ? text.replace(/^\ufeff/, '') : text
}

/** Says why `lineText` returned null. */
export function lineTextProblem({ length }: InputLine): string {
  return length > MAX_LINE_BYTES
    ? `the line has ${length} bytes, ${MAX_LINE_BYTES} are allowed`
    : 'the line is not UTF-8'
}

/** Returns the start of a line for a reject, with replacement characters for invalid UTF-8. */
export function lineStart({ bytes }: InputLine): string {
  return bytes.toString('utf8', 0, MAX_REJECT_BYTES)
}
