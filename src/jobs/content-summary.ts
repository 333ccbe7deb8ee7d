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
      this.count(batch.names.length, batch.names[0] ?? null, batch.names.at(-1) ?? null)
      text += batch.text
      if (text.length < FLUSH_CHARACTERS) continue
      yield this.piece(Buffer.from(text))
      text = ''
    }
    if (text !== '') yield this.piece(Buffer.from(text))
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

  /** Counts rows. `first` and `last`: their names; null if there are none. */
  count(rows: number, first: DomainName | null, last: DomainName | null): void {
    this.#rows += rows
    this.#first ??= first
    this.#last = last ?? this.#last
  }

  /** Adds the next bytes of the file and returns them. */
  piece(bytes: Uint8Array): Uint8Array {
    this.#digest.update(bytes)
    this.#bytes += bytes.length
    return bytes
  }
}
