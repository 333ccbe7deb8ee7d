/** Summarizes the content of a file: rows, first and last name, size and digest of the uncompressed content. */

import { createHash } from 'node:crypto'
import type { DomainName } from '../values/domain-name.ts'
import type { FileDescription } from './file-store/file-store.ts'

/** A batch of rows of a file, in order. */
export type FileRows = { text: string; names: readonly DomainName[] }

/** Buffered characters after which the rows are passed on as one chunk. */
const FLUSH_CHARACTERS = 65_536

export class ContentSummary {
  readonly #digest = createHash('sha256')
  #rows = 0
  #bytes = 0
  #first: DomainName | null = null
  #last: DomainName | null = null

  /** Yields the bytes of a file in chunks: `header`, then the rows. */
  async *content(header: string, batches: AsyncIterable<FileRows>): AsyncGenerator<Uint8Array> {
    let text = header
    for await (const batch of batches) {
      this.#count(batch.names)
      text += batch.text
      if (text.length < FLUSH_CHARACTERS) continue
      yield this.#piece(text)
      text = ''
    }
    if (text !== '') yield this.#piece(text)
  }

  get rows(): number {
    return this.#rows
  }

  /** The summary, after the content has been read to its end. */
  counts(): Pick<FileDescription, 'rows' | 'plain_bytes' | 'plain_sha256' | 'first' | 'last'> {
    return {
      rows: this.#rows,
      plain_bytes: this.#bytes,
      plain_sha256: this.#digest.digest('hex'),
      first: this.#first,
      last: this.#last,
    }
  }

  #count(names: readonly DomainName[]): void {
    this.#rows += names.length
    this.#first ??= names[0] ?? null
    this.#last = names.at(-1) ?? this.#last
  }

  #piece(text: string): Uint8Array {
    const piece = Buffer.from(text)
    this.#digest.update(piece)
    this.#bytes += piece.length
    return piece
  }
}
