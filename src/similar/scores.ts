/** Scores of wordings added up, and the best of them, in memory of fixed size that stays near the processor. */

/** The most that can be added; what comes after is left out. */
const ROOM = 2 ** 18
/** Sums are first kept by cells, each of which several wordings may share: they are at most too high. */
const CELL_BITS = 16
const CELLS = 2 ** CELL_BITS
/** Of so many cells as wordings are wanted, and a quarter more, the wordings are then looked at one by one. */
const MORE = 1.25
/** Bits of a score that do not count for the bar. */
const REST_BITS = 19
/** The most wordings that are looked at one by one; half of them only such as just reach the bar, of which there may be very many. */
const MOST = 4096

export class Scores {
  private readonly wordings = new Float64Array(ROOM)
  private readonly scores = new Float32Array(ROOM)
  private readonly cells = new Float32Array(CELLS)
  private size = 0

  /** Adds to the score of a wording. */
  add(wording: number, score: number): void {
    if (this.size === ROOM) return
    this.wordings[this.size] = wording
    this.scores[this.size++] = score
    this.cells[cellOf(wording)]! += score
  }

  /** All scores are nothing again. */
  clear(): void {
    this.cells.fill(0)
    this.size = 0
  }

  /** The wordings with the highest scores, the highest first, at most `limit`. */
  best(limit: number): number[] {
    const bar = barOf(this.cells, Math.ceil(MORE * limit))
    const { wordings, scores, size } = this.sumUp(bar)
    const best = Array.from({ length: size }, (_, at) => at).sort((a, b) => scores[b]! - scores[a]!)
    return best.slice(0, limit).map((at) => wordings[at]!)
  }

  /** The wordings whose cells reach a bar, each with its own sum. */
  private sumUp(bar: Bar): { wordings: Float64Array; scores: Float32Array; size: number } {
    const [places, wordings, scores] = [
      new Uint16Array(4 * MOST),
      new Float64Array(MOST + 1),
      new Float32Array(MOST + 1),
    ]
    let size = 0
    for (let at = 0; at < this.size; at++) {
      const wording = this.wordings[at]!
      const cell = cellOf(wording)
      if (this.cells[cell]! < bar.least) continue
      let place = cell & (places.length - 1)
      while (places[place] !== 0 && wordings[places[place]!] !== wording) place = (place + 1) & (places.length - 1)
      if (places[place] === 0) {
        if (size === MOST || (size >= MOST / 2 && this.cells[cell]! < bar.above)) continue
        places[place] = ++size
        wordings[size] = wording
      }
      scores[places[place]!]! += this.scores[at]!
    }
    return { wordings: wordings.subarray(1), scores: scores.subarray(1), size }
  }
}

function cellOf(wording: number): number {
  return Math.imul(wording, 0x9e3779b1) >>> (32 - CELL_BITS)
}

/** At least so many reach `least`; fewer reach `above`, which is a sixteenth of an octave higher. */
type Bar = { least: number; above: number }

function barOf(scores: Float32Array, limit: number): Bar {
  const bits = new Uint32Array(scores.buffer)
  const counts = new Uint32Array(2 ** (32 - REST_BITS))
  for (let at = 0; at < bits.length; at++) counts[bits[at]! >>> REST_BITS]!++
  let [least, reached] = [counts.length - 1, 0]
  while (least > 1 && reached < limit) reached += counts[--least]!
  const [bar, above] = new Float32Array(Uint32Array.of(least << REST_BITS, (least + 1) << REST_BITS).buffer)
  return { least: bar!, above: above! }
}
