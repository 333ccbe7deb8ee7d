/** The charset of a page: by its byte order mark, its Content-Type, its meta, and where none speaks by its first bytes. */

import { isUtf8 } from 'node:buffer'
import { TextDecoder } from 'node:util'
import sniff from 'html-encoding-sniffer'

/** So many bytes are looked at before the first character is read (HTML, chapter 13.2.3.2). */
export const MAX_SNIFFED_BYTES = 1024

/** A decoder that never throws; a page whose charset may not be read (`replacement`) counts as UTF-8. */
export function charsetDecoderFor(start: Uint8Array, contentType: string | null): TextDecoder {
  const label = charsetParameter(contentType)
  const given = label === null ? {} : { transportLayerEncodingLabel: label }
  const options = { xml: isXhtml(contentType), defaultEncoding: guessCharset(start), ...given }
  try {
    return new TextDecoder(sniff(start.subarray(0, MAX_SNIFFED_BYTES), options))
  } catch {
    return new TextDecoder()
  }
}

export function isXhtml(contentType: string | null): boolean {
  return /^\s*application\/xhtml\+xml\s*(;|$)/i.test(contentType ?? '')
}

/** The charset parameter of a Content-Type (RFC 9110, chapter 8.3.1), quoted or not, or null. */
function charsetParameter(contentType: string | null): string | null {
  const found = /;\s*charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;]+))/i.exec((contentType ?? '').slice(0, 1024))
  return found === null ? null : (found[1] ?? found[2] ?? found[3] ?? null)
}

/** Bytes that are UTF-8 so far, all ASCII included, are taken for UTF-8; others for what old western pages are written in. */
function guessCharset(start: Uint8Array): string {
  if (isUtf8(start)) return 'UTF-8'
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true })
    return 'UTF-8'
  } catch {
    return 'windows-1252'
  }
}
