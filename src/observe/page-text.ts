/** The text of a start page as a reader sees it, in one line. */

import { MAX_WEB_TEXT_BYTES } from './observation.ts'

/** A run of white space and control characters, which becomes one space. A single space does not match. */
const WHITE_SPACE_RUN = /[\s\p{Cc}](?:[\s\p{Cc}]+|(?<! ))/gu
/** Characters that only mark where a word may be broken. */
const INVISIBLE_CHARACTERS = /[\u00ad\u200b\u2060]/g

/** Joins the pieces with one space, well-formed, cut at MAX_WEB_TEXT_BYTES. Returns null if nothing is left. */
export function startPageText(pieces: readonly string[]): string | null {
  const text = pieces.join(' ').replace(INVISIBLE_CHARACTERS, '').replace(WHITE_SPACE_RUN, ' ').toWellFormed()
  const cut = truncateToBytes(text.trim())
  return cut === '' ? null : cut
}

/** Returns the longest prefix of whole characters that fits. */
function truncateToBytes(text: string): string {
  if (Buffer.byteLength(text) <= MAX_WEB_TEXT_BYTES) return text
  const bytes = Buffer.from(text)
  let end = MAX_WEB_TEXT_BYTES
  while ((bytes[end]! & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end).trimEnd()
}
