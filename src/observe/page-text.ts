/** The text of a start page: what a reader sees, as one line. */

const MAX_TEXT_BYTES = 65_536

/** White space and control characters, of which any number is one space; one that stands alone is that already. */
const WHITE_SPACE_RUN = /[\s\p{Cc}](?:[\s\p{Cc}]+|(?<! ))/gu
/** Characters that only say where a word may be broken. */
const INVISIBLE_CHARACTERS = /[\u00ad\u200b\u2060]/g

/** The pieces with one space between them, well-formed, at most 64 KiB of UTF-8; null where nothing is left. */
export function startPageText(pieces: readonly string[]): string | null {
  const text = pieces.join(' ').replace(INVISIBLE_CHARACTERS, '').replace(WHITE_SPACE_RUN, ' ').toWellFormed()
  const cut = truncateToBytes(text.trim())
  return cut === '' ? null : cut
}

/** The longest beginning in whole characters that fits. */
function truncateToBytes(text: string): string {
  if (Buffer.byteLength(text) <= MAX_TEXT_BYTES) return text
  const bytes = Buffer.from(text)
  let end = MAX_TEXT_BYTES
  while ((bytes[end]! & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end).trimEnd()
}
