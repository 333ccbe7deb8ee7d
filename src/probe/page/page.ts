/** Reads the start page as a stream of bytes: its links, its text, and the target of a meta refresh. */

import type { TextDecoder } from 'node:util'
import type { StartPage } from '../probe-result.ts'
import { charsetDecoderFor, isXhtml, MAX_SNIFFED_BYTES } from './charset.ts'
import { PageExtractor } from './extractor.ts'
import { MarkupReader } from './markup-reader.ts'

/** The rest of a page is ignored. */
const MAX_PAGE_BYTES = 2 * 1024 * 1024

/**
 * A page and the absolute http or https target of its meta refresh of at most 5 seconds. Null if there is none or it is
 * the page itself.
 */
export type ParsedPage = { page: StartPage; refresh: string | null }

/** Receives the decompressed bytes of a page in chunks. Never throws. */
export type PageReader = { write(chunk: Uint8Array): void; end(): ParsedPage }

/** `url`: the absolute URL of the page. `contentType`: the field of the response. */
export function createPageReader(options: { contentType: string | null; url: string }): PageReader {
  const { contentType, url } = options
  const extractor = new PageExtractor(url)
  const markup = new MarkupReader(extractor, isXhtml(contentType))
  const first: Uint8Array[] = []
  let decoder: TextDecoder | null = null
  let bytesRead = 0

  const startDecoding = (chunks: Uint8Array[]): void => {
    const start = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
    decoder = charsetDecoderFor(start, contentType)
    markup.write(decoder.decode(start, { stream: true }))
  }

  return {
    write(chunk) {
      const accepted = chunk.subarray(0, MAX_PAGE_BYTES - bytesRead)
      bytesRead += accepted.length
      if (decoder !== null) markup.write(decoder.decode(accepted, { stream: true }))
      else if (bytesRead >= MAX_SNIFFED_BYTES) startDecoding([...first, accepted])
      else first.push(Uint8Array.from(accepted))
    },
    end() {
      if (decoder === null) startDecoding(first)
      markup.write(decoder?.decode() ?? '')
      return extractor.end(markup.end())
    },
  }
}
