/** The documents deleted when a merge begins. The merge drops their postings. */

export class Tombstones {
  private size = 0
  private documents = new Float64Array(1024)

  /** Adds documents, ascending and above those added before. */
  add(documents: readonly number[]): void {
    const size = this.size + documents.length
    if (size > this.documents.length) this.grow(Math.max(size, 2 * this.size))
    this.documents.set(documents, this.size)
    this.size = size
  }

  /** Returns the documents, ascending, that are not deleted. */
  filter(documents: Float64Array): Float64Array {
    if (this.size === 0) return documents
    let index = 0
    return documents.filter((document) => {
      index = this.findIndex(document, index)
      return index === this.size || this.documents[index] !== document
    })
  }

  /** Yields all tombstones, ascending, in batches. */
  *batches(batchSize: number): Generator<number[]> {
    for (let from = 0; from < this.size; from += batchSize)
      yield [...this.documents.subarray(from, Math.min(this.size, from + batchSize))]
  }

  /** The index of the first tombstone at or above a document, searched from `from`. */
  private findIndex(document: number, from: number): number {
    let [low, high] = [from, this.size]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.documents[middle]! < document) low = middle + 1
      else high = middle
    }
    return low
  }

  private grow(capacity: number): void {
    const documents = new Float64Array(capacity)
    documents.set(this.documents)
    this.documents = documents
  }
}
