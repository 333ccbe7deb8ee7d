/** Scores of wordings added up, in a table of fixed size, and the best of them. */

/** Twice as many places as postings that one query may read. */
const PLACES_BITS = 18
const PLACES = 2 ** PLACES_BITS

export class Scores {
  private readonly wordings = new Float64Array(PLACES)
  private readonly scores = new Float32Array(PLACES)
  private readonly taken = new Uint32Array(PLACES / 2)
  private size = 0

  /** Adds to the score of a wording (a number above 0). A wording for which there is no room is left out. */
  add(wording: number, score: number): void {
    let place = Math.imul(wording, 0x9e3779b1) >>> (32 - PLACES_BITS)
    for (;;) {
      const there = this.wordings[place]
      if (there === wording) {
        this.scores[place]! += score
        return
      }
      if (there === 0) break
      place = (place + 1) & (PLACES - 1)
    }
    if (this.size === this.taken.length) return
    this.wordings[place] = wording
    this.scores[place] = score
    this.taken[this.size++] = place
  }

  /** The wordings with the highest scores, the highest first, at most `limit`; the table is empty again. */
  takeBest(limit: number): number[] {
    const bar = this.barFor(limit)
    let left = limit // for those that just reach it, since many may
    for (let at = 0; at < this.size; at++) if (this.scores[this.taken[at]!]! > bar) left--
    const best: { wording: number; score: number }[] = []
    for (let at = 0; at < this.size; at++) {
      const place = this.taken[at]!
      const score = this.scores[place]!
      if (score > bar || (score === bar && left-- > 0)) best.push({ wording: this.wordings[place]!, score })
      this.wordings[place] = 0
    }
    this.size = 0
    return best.sort((a, b) => b.score - a.score).map(({ wording }) => wording)
  }

  /** The score that `limit` wordings reach: the least of a heap of the highest. */
  private barFor(limit: number): number {
    if (this.size <= limit) return Number.NEGATIVE_INFINITY
    const heap = new Float32Array(limit)
    for (let at = 0; at < this.size; at++) {
      const score = this.scores[this.taken[at]!]!
      if (score > heap[0]!) sink(heap, score)
    }
    return heap[0]!
  }
}

/** Puts a score in place of a heap's least. */
function sink(heap: Float32Array, score: number): void {
  let at = 0
  for (;;) {
    let child = 2 * at + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && heap[child + 1]! < heap[child]!) child++
    if (heap[child]! >= score) break
    heap[at] = heap[child]!
    at = child
  }
  heap[at] = score
}
