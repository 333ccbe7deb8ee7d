/** The start page read as a stream of bytes: its links, its text, and where a meta refresh sends the reader. */

import type { TextDecoder } from 'node:util'
import { decoderFor, isXml, SNIFFED_BYTES } from './page-charset.ts'
import { PageGatherer } from './page-gather.ts'
import { TokenReader } from './page-tokens.ts'
import { TreeReader } from './page-tree.ts'
import { XmlReader } from './page-xml.ts'
import type { Page } from './visit.ts'

/** More is not read. */
const PAGE_BYTES = 2 * 1024 * 1024

/** A page with where its meta refresh of at most 5 seconds leads, absolute, http or https; null for nowhere and for itself. */
export type ReadPage = { page: Page; refresh: string | null }

/** Takes the bytes of a page, decompressed, as they come. Never throws. */
export type PageReader = { write(chunk: Uint8Array): void; end(): ReadPage }

/** `url`: the page's own address, absolute. `contentType`: the field of the response as it came. */
export function pageReader(options: { contentType: string | null; url: string }): PageReader {
  const { contentType, url } = options
  const gatherer = new PageGatherer(url)
  const tree = isXml(contentType) ? new XmlReader(gatherer) : new TreeReader(gatherer)
  const tokens = new TokenReader(tree, isXml(contentType))
  const first: Uint8Array[] = []
  let decoder: TextDecoder | null = null
  let taken = 0

  const decide = (chunks: Uint8Array[]): void => {
    const start = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
    decoder = decoderFor(start, contentType)
    tokens.write(decoder.decode(start, { stream: true }))
  }

  return {
    write(chunk) {
      const room = chunk.subarray(0, PAGE_BYTES - taken)
      taken += room.length
      if (decoder !== null) tokens.write(decoder.decode(room, { stream: true }))
      else if (taken >= SNIFFED_BYTES) decide([...first, room])
      else first.push(Uint8Array.from(room))
    },
    end() {
      if (decoder === null) decide(first)
      tokens.write(decoder?.decode() ?? '')
      tokens.end()
      return gatherer.end(tree.end())
    },
  }
}
