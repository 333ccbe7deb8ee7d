/**
 * The charset of a page: from its byte order mark, its Content-Type or its meta. Otherwise guessed from its first
 * bytes.
 */

import { isUtf8 } from 'node:buffer'
import { TextDecoder } from 'node:util'
import sniff from 'html-encoding-sniffer'

/** The number of bytes that are examined before the first character is decoded (HTML, section 13.2.3.2). */
export const MAX_SNIFFED_BYTES = 1024

/** Returns a decoder that never throws. A page whose encoding must not be decoded (`replacement`) counts as UTF-8. */
export function charsetDecoderFor(start: Uint8Array, contentType: string | null): TextDecoder {
  const label = charsetParameter(contentType)
  const transportEncoding = label === null ? {} : { transportLayerEncodingLabel: label }
  const options = { xml: isXhtml(contentType), defaultEncoding: guessCharset(start), ...transportEncoding }
  try {
    return new TextDecoder(sniff(start.subarray(0, MAX_SNIFFED_BYTES), options))
  } catch {
    return new TextDecoder()
  }
}

export function isXhtml(contentType: string | null): boolean {
  return /^\s*application\/xhtml\+xml\s*(;|$)/i.test(contentType ?? '')
}

/** The charset parameter of a Content-Type (RFC 9110, section 8.3.1), quoted or not. Returns null if there is none. */
function charsetParameter(contentType: string | null): string | null {
  const found = /;\s*charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;]+))/i.exec((contentType ?? '').slice(0, 1024))
  return found === null ? null : (found[1] ?? found[2] ?? found[3] ?? null)
}

/**
 * Guesses UTF-8 if the bytes are valid UTF-8 so far, which includes ASCII. Otherwise the encoding of old western pages.
 */
function guessCharset(start: Uint8Array): string {
  if (isUtf8(start)) return 'UTF-8'
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true })
    return 'UTF-8'
  } catch {
    return 'windows-1252'
  }
}
