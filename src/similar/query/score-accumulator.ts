/** Adds up the scores of documents and finds the highest, in fixed memory that fits the processor cache. */

/** The maximum number of added scores. Further ones are ignored. */
const MAX_SCORES = 2 ** 18
/** Sums are first kept per cell. Several documents may share a cell, so its sum can only be too high. */
const CELL_BITS = 16
const CELLS = 2 ** CELL_BITS
/** Documents in this multiple of `limit` cells are summed individually. */
const CELL_OVERSAMPLING = 1.25
/** The low bits of a score that the threshold ignores. */
const IGNORED_SCORE_BITS = 19
/**
 * The maximum number of documents summed individually. Half of them may be documents that just reach the threshold, of
 * which there can be very many.
 */
const MAX_CANDIDATES = 4096

export class ScoreAccumulator {
  private readonly documents = new Float64Array(MAX_SCORES)
  private readonly scores = new Float32Array(MAX_SCORES)
  private readonly cells = new Float32Array(CELLS)
  private size = 0

  /** Adds to the score of a document. */
  add(document: number, score: number): void {
    if (this.size === MAX_SCORES) return
    this.documents[this.size] = document
    this.scores[this.size++] = score
    this.cells[cellOf(document)]! += score
  }

  /** Resets all scores to 0. */
  clear(): void {
    this.cells.fill(0)
    this.size = 0
  }

  /** Returns the documents with the highest scores, highest first, at most `limit`. */
  topDocuments(limit: number): number[] {
    const threshold = scoreThreshold(this.cells, Math.ceil(CELL_OVERSAMPLING * limit))
    const { documents, scores, size } = this.sumCandidates(threshold)
    const best = Array.from({ length: size }, (_, at) => at).sort((a, b) => scores[b]! - scores[a]!)
    return best.slice(0, limit).map((at) => documents[at]!)
  }

  /** Sums the scores of each document whose cell reaches the threshold. */
  private sumCandidates(threshold: ScoreThreshold): { documents: Float64Array; scores: Float32Array; size: number } {
    const [table, documents, scores] = [
      new Uint16Array(4 * MAX_CANDIDATES),
      new Float64Array(MAX_CANDIDATES + 1),
      new Float32Array(MAX_CANDIDATES + 1),
    ]
    let size = 0
    for (let at = 0; at < this.size; at++) {
      const document = this.documents[at]!
      const cell = cellOf(document)
      if (this.cells[cell]! < threshold.min) continue
      let slot = cell & (table.length - 1)
      while (table[slot] !== 0 && documents[table[slot]!] !== document) slot = (slot + 1) & (table.length - 1)
      if (table[slot] === 0) {
        if (size === MAX_CANDIDATES || (size >= MAX_CANDIDATES / 2 && this.cells[cell]! < threshold.next)) continue
        table[slot] = ++size
        documents[size] = document
      }
      scores[table[slot]!]! += this.scores[at]!
    }
    return { documents: documents.subarray(1), scores: scores.subarray(1), size }
  }
}

function cellOf(document: number): number {
  return Math.imul(document, 0x9e3779b1) >>> (32 - CELL_BITS)
}

/** Enough cells reach `min`. Fewer reach `next`, which is a sixteenth of an octave higher. */
type ScoreThreshold = { min: number; next: number }

function scoreThreshold(scores: Float32Array, limit: number): ScoreThreshold {
  const bits = new Uint32Array(scores.buffer)
  const counts = new Uint32Array(2 ** (32 - IGNORED_SCORE_BITS))
  for (let at = 0; at < bits.length; at++) counts[bits[at]! >>> IGNORED_SCORE_BITS]!++
  let [minBucket, reached] = [counts.length - 1, 0]
  while (minBucket > 1 && reached < limit) reached += counts[--minBucket]!
  const [min, above] = new Float32Array(
    Uint32Array.of(minBucket << IGNORED_SCORE_BITS, (minBucket + 1) << IGNORED_SCORE_BITS).buffer,
  )
  return { min: min!, next: above! }
}
