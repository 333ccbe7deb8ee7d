/**
 * Reads the leaves of a response of get-entries (RFC 6962, section 4.6) while it arrives. It looks only for their keys:
 * the tree proves the leaves, and nothing else of the response is used.
 */

import { LogFault } from '../log.ts'
import type { Slots } from '../slots.ts'
import { MAX_CERTIFICATE_BYTES } from './certificate-names.ts'
import { PieceReader, readTimestampedEntry } from './entry-stream.ts'
import { cutOff, type LogEntry, parseLeafInput } from './log-entry.ts'

const LEAF_KEY = Buffer.from('"leaf_input"')
const QUOTE = Buffer.from('"')
/** Characters of a leaf that is decoded at once. */
const MAX_TEXT = Math.ceil((MAX_CERTIFICATE_BYTES * 4) / 3) + 1_024
/** `\u0000`. */
const ESCAPE_LENGTH = 6
const SHORT_TEXT = 4_096

/** A long leaf waits for one of `longReads`. Throws LogFault if a leaf is malformed. */
export async function* readLeaves(pieces: AsyncGenerator<Buffer>, longReads: Slots): AsyncGenerator<LogEntry> {
  const text = new TextWindow(pieces)
  try {
    while (await text.skipPast(LEAF_KEY)) {
      if (!(await text.skipPast(QUOTE))) throw cutOff()
      const leaf = await text.takeUntil(QUOTE, MAX_TEXT)
      yield leaf === null ? await readLongLeaf(text, longReads) : parseLeafInput(Buffer.from(unescaped(leaf), 'base64'))
    }
  } finally {
    await pieces.return(null)
  }
}

async function readLongLeaf(text: TextWindow, longReads: Slots): Promise<LogEntry> {
  const release = await longReads.take()
  try {
    const bytes = new PieceReader(decodedPieces(text))
    const [version, type] = await bytes.take(2, () => {})
    if (version !== 0 || type !== 0) throw new LogFault('an entry is not of version 1')
    const entry = await readTimestampedEntry(bytes)
    if (!(await bytes.isAtEnd())) throw new LogFault('bytes follow an entry')
    return entry
  } finally {
    release()
  }
}

/** Decodes base64 up to the next quote, by short strings, because long ones make the heap grow. */
async function* decodedPieces(text: TextWindow): AsyncGenerator<Buffer> {
  for (let [rest, isEnd]: [Buffer, boolean] = [Buffer.alloc(0), false]; !isEnd; ) {
    const part = await text.takePart(QUOTE)
    isEnd = part.isEnd
    let base64 = rest.length === 0 ? part.text : Buffer.concat([rest, part.text])
    const backslash = base64.lastIndexOf('\\')
    const isCut = !isEnd && backslash >= 0 && backslash > base64.length - ESCAPE_LENGTH
    rest = base64.subarray(isCut ? backslash : base64.length)
    base64 = base64.subarray(0, base64.length - rest.length)
    if (backslash >= 0) base64 = Buffer.from(unescaped(base64.toString('latin1')))
    const whole = isEnd ? base64.length : base64.length - (base64.length % 4)
    rest = Buffer.concat([base64.subarray(whole), rest])
    yield decodeBase64(base64.subarray(0, whole))
  }
}

function decodeBase64(base64: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(Math.ceil((base64.length * 3) / 4))
  let length = 0
  for (let at = 0; at < base64.length; at += SHORT_TEXT)
    length += bytes.write(base64.toString('latin1', at, at + SHORT_TEXT), length, 'base64')
  return bytes.subarray(0, length)
}

/** The characters of base64 that JSON allows to be escaped. */
function unescaped(text: string): string {
  if (!text.includes('\\')) return text
  return text.replaceAll(/\\u00([\da-f]{2})|\\(.)/gi, (_, code?: string, character = '') =>
    code === undefined ? character : String.fromCharCode(Number.parseInt(code, 16)),
  )
}

/** The part of a text that was received and not used yet. */
class TextWindow {
  readonly #pieces: AsyncIterator<Buffer>
  #bytes: Buffer = Buffer.alloc(0)

  constructor(pieces: AsyncIterator<Buffer>) {
    this.#pieces = pieces
  }

  /** Skips a text and everything before it. Returns false if it does not occur. */
  async skipPast(text: Buffer): Promise<boolean> {
    for (;;) {
      const at = this.#bytes.indexOf(text)
      if (at >= 0) {
        this.#bytes = this.#bytes.subarray(at + text.length)
        return true
      }
      this.#bytes = this.#bytes.subarray(Math.max(0, this.#bytes.length - text.length + 1))
      if (!(await this.#receive())) return false
    }
  }

  /** Returns the text before `end` and skips both, or returns null if it has more than `max` characters. */
  async takeUntil(end: Buffer, max: number): Promise<string | null> {
    for (let from = 0; ; ) {
      const at = this.#bytes.indexOf(end, from)
      if (at >= 0) return this.#take(at, end.length).toString('latin1')
      if (this.#bytes.length > max) return null
      from = this.#bytes.length
      if (!(await this.#receive())) throw cutOff()
    }
  }

  /** Returns what was received of the text before `end`, at least one character of it or its end. */
  async takePart(end: Buffer): Promise<{ text: Buffer; isEnd: boolean }> {
    if (this.#bytes.length === 0 && !(await this.#receive())) throw cutOff()
    const at = this.#bytes.indexOf(end)
    const isEnd = at >= 0
    return { text: this.#take(isEnd ? at : this.#bytes.length, isEnd ? end.length : 0), isEnd }
  }

  #take(length: number, skipped: number): Buffer {
    const text = this.#bytes.subarray(0, length)
    this.#bytes = this.#bytes.subarray(length + skipped)
    return text
  }

  /** Returns false at the end of the text. */
  async #receive(): Promise<boolean> {
    const next = await this.#pieces.next()
    if (next.done) return false
    this.#bytes = this.#bytes.length === 0 ? next.value : Buffer.concat([this.#bytes, next.value])
    return true
  }
}
