/** Follows the cursor of an endpoint from page to page, and gives the rows one by one. */

import { InvalidResponseError } from './errors.ts'

/** Rows and the cursor of the next page; null on the last page. */
export type RowPage<Row> = { rows: readonly Row[]; next: string | null }

/** All rows of a query, in pages. A page is requested when its first row is needed, and each is charged as a call. */
export class Rows<Row> implements AsyncIterable<Row> {
  readonly #request: (next: string | null) => Promise<RowPage<Row>>
  #cursor: string | null
  #isComplete = false

  constructor(request: (next: string | null) => Promise<RowPage<Row>>, start: string | null) {
    this.#request = request
    this.#cursor = start
  }

  /**
   * Where to continue, as `next` of a later call: no row is lost, and rows of a page that was not read to its end come
   * again. Null within the first page, and at the end. A cursor is valid for 24 hours.
   */
  get cursor(): string | null {
    return this.#cursor
  }

  /** Whether all rows were given. */
  get isComplete(): boolean {
    return this.#isComplete
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Row, void, void> {
    while (!this.#isComplete) {
      const { rows, next } = await this.#request(this.#cursor)
      const isCursor = next === null || (typeof next === 'string' && next !== this.#cursor)
      if (!Array.isArray(rows) || !isCursor)
        throw new InvalidResponseError('The response has no rows, no cursor, or its own cursor as the next one.', 200)
      for (const [index, row] of rows.entries()) {
        if (index === rows.length - 1) this.#moveTo(next)
        yield row
      }
      if (rows.length === 0) this.#moveTo(next)
    }
  }

  #moveTo(next: string | null): void {
    this.#cursor = next
    this.#isComplete = next === null
  }
}
