/** The wordings that are gone when a merge begins: it leaves out their postings, and notes which of them it met. */

export class Tombstones {
  /** How many of them were met: others may be noted in vain, or have had all their postings cut off. */
  found = 0
  private size = 0
  private documents = new Float64Array(1024)
  private isFound = new Uint8Array(1024)

  /** Adds wordings, ascending and above those that were added before. */
  add(documents: readonly number[]): void {
    const size = this.size + documents.length
    if (size > this.documents.length) this.grow(Math.max(size, 2 * this.size))
    this.documents.set(documents, this.size)
    this.size = size
  }

  /** Those of some wordings, ascending, that are not gone. */
  filter(documents: Float64Array): Float64Array {
    if (this.size === 0) return documents
    let index = 0
    return documents.filter((document) => {
      index = this.findIndex(document, index)
      if (index === this.size || this.documents[index] !== document) return true
      this.found += 1 - this.isFound[index]!
      this.isFound[index] = 1
      return false
    })
  }

  /** All of them, ascending, so many at a time. */
  *batches(batchSize: number): Generator<number[]> {
    for (let from = 0; from < this.size; from += batchSize)
      yield [...this.documents.subarray(from, Math.min(this.size, from + batchSize))]
  }

  /** The place of the first at or above a wording, from a place on that is not behind it. */
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
    const [documents, isFound] = [new Float64Array(capacity), new Uint8Array(capacity)]
    documents.set(this.documents)
    isFound.set(this.isFound)
    Object.assign(this, { documents, isFound })
  }
}
