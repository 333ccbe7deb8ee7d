/** Scores of wordings added up, and the best of them, in memory of fixed size that stays near the processor. */

/** The most that can be added; what comes after is left out. */
const MAX_SCORES = 2 ** 18
/** Sums are first kept by cells, each of which several wordings may share: they are at most too high. */
const CELL_BITS = 16
const CELLS = 2 ** CELL_BITS
/** Of so many cells as wordings are wanted, and a quarter more, the wordings are then looked at one by one. */
const CELL_OVERSAMPLING = 1.25
/** Bits of a score that do not count for the bar. */
const IGNORED_SCORE_BITS = 19
/**
 * The most wordings that are looked at one by one; half of them only such as just reach the bar, of which there may be
 * very many.
 */
const MAX_CANDIDATES = 4096

export class ScoreAccumulator {
  private readonly documents = new Float64Array(MAX_SCORES)
  private readonly scores = new Float32Array(MAX_SCORES)
  private readonly cells = new Float32Array(CELLS)
  private size = 0

  /** Adds to the score of a wording. */
  add(document: number, score: number): void {
    if (this.size === MAX_SCORES) return
    this.documents[this.size] = document
    this.scores[this.size++] = score
    this.cells[cellOf(document)]! += score
  }

  /** All scores are nothing again. */
  clear(): void {
    this.cells.fill(0)
    this.size = 0
  }

  /** The wordings with the highest scores, the highest first, at most `limit`. */
  topDocuments(limit: number): number[] {
    const threshold = scoreThreshold(this.cells, Math.ceil(CELL_OVERSAMPLING * limit))
    const { documents, scores, size } = this.sumCandidates(threshold)
    const best = Array.from({ length: size }, (_, at) => at).sort((a, b) => scores[b]! - scores[a]!)
    return best.slice(0, limit).map((at) => documents[at]!)
  }

  /** The wordings whose cells reach a bar, each with its own sum. */
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
      let place = cell & (table.length - 1)
      while (table[place] !== 0 && documents[table[place]!] !== document) place = (place + 1) & (table.length - 1)
      if (table[place] === 0) {
        if (size === MAX_CANDIDATES || (size >= MAX_CANDIDATES / 2 && this.cells[cell]! < threshold.next)) continue
        table[place] = ++size
        documents[size] = document
      }
      scores[table[place]!]! += this.scores[at]!
    }
    return { documents: documents.subarray(1), scores: scores.subarray(1), size }
  }
}

function cellOf(document: number): number {
  return Math.imul(document, 0x9e3779b1) >>> (32 - CELL_BITS)
}

/** At least so many reach `least`; fewer reach `above`, which is a sixteenth of an octave higher. */
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
