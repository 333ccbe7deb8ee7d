/** The wordings that are gone when a merge begins: it leaves out their postings, and notes which of them it met. */

export class Gone {
  /** How many of them were met: others may be noted in vain, or have had all their postings cut off. */
  met = 0
  private size = 0
  private wordings = new Float64Array(1024)
  private isMet = new Uint8Array(1024)

  /** Adds wordings, ascending and above those that were added before. */
  add(wordings: readonly number[]): void {
    const size = this.size + wordings.length
    if (size > this.wordings.length) this.grow(Math.max(size, 2 * this.size))
    this.wordings.set(wordings, this.size)
    this.size = size
  }

  /** Those of some wordings, ascending, that are not gone. */
  leaveOut(wordings: Float64Array): Float64Array {
    if (this.size === 0) return wordings
    let place = 0
    return wordings.filter((wording) => {
      place = this.find(wording, place)
      if (place === this.size || this.wordings[place] !== wording) return true
      this.met += 1 - this.isMet[place]!
      this.isMet[place] = 1
      return false
    })
  }

  /** All of them, ascending, so many at a time. */
  *portions(most: number): Generator<number[]> {
    for (let from = 0; from < this.size; from += most)
      yield [...this.wordings.subarray(from, Math.min(this.size, from + most))]
  }

  /** The place of the first at or above a wording, from a place on that is not behind it. */
  private find(wording: number, from: number): number {
    let [low, high] = [from, this.size]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.wordings[middle]! < wording) low = middle + 1
      else high = middle
    }
    return low
  }

  private grow(room: number): void {
    const [wordings, isMet] = [new Float64Array(room), new Uint8Array(room)]
    wordings.set(this.wordings)
    isMet.set(this.isMet)
    Object.assign(this, { wordings, isMet })
  }
}
