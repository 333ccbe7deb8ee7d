/** Scores of wordings added up, and the best of them. What is added is first put in order of parts, so that little memory is in use at a time. */

/** The most that can be added; what comes after is left out. */
const ROOM = 2 ** 18
const PART_BITS = 8
const PARTS = 2 ** PART_BITS

export class Scores {
  private readonly wordings = new Float64Array(ROOM)
  private readonly scores = new Float32Array(ROOM)
  private readonly parted = { wordings: new Float64Array(ROOM), scores: new Float32Array(ROOM) }
  /** A table of open addressing, of which a part uses as much as it needs. 0: an empty place. */
  private readonly table = { wordings: new Float64Array(2 * ROOM), places: new Uint32Array(2 * ROOM) }
  private size = 0

  /** Adds to the score of a wording, a number above 0. */
  add(wording: number, score: number): void {
    if (this.size === ROOM) return
    this.wordings[this.size] = wording
    this.scores[this.size++] = score
  }

  /** The wordings with the highest scores, the highest first, at most `limit`; all scores are nothing again. */
  takeBest(limit: number): number[] {
    const size = this.sumUp()
    const bar = barOf(this.scores.subarray(0, size), limit)
    let left = limit // for those that just reach it, since many may
    for (let at = 0; at < size; at++) if (this.scores[at]! > bar) left--
    const best: { wording: number; score: number }[] = []
    for (let at = 0; at < size; at++) {
      const score = this.scores[at]!
      if (score > bar || (score === bar && left-- > 0)) best.push({ wording: this.wordings[at]!, score })
    }
    this.size = 0
    return best.sort((a, b) => b.score - a.score).map(({ wording }) => wording)
  }

  /** Leaves each wording once, with the sum of its scores; how many they are. */
  private sumUp(): number {
    const ends = this.part()
    let [size, from] = [0, 0]
    for (const end of ends) {
      size = this.sumUpPart(from, end, size)
      from = end
    }
    return size
  }

  /** Puts what was added in order of parts; where each part ends. */
  private part(): Uint32Array {
    const next = new Uint32Array(PARTS)
    for (let at = 0; at < this.size; at++) next[partOf(this.wordings[at]!)]!++
    for (let part = 1; part < PARTS; part++) next[part]! += next[part - 1]!
    const ends = next.slice()
    for (let at = this.size - 1; at >= 0; at--) {
      const place = --next[partOf(this.wordings[at]!)]!
      this.parted.wordings[place] = this.wordings[at]!
      this.parted.scores[place] = this.scores[at]!
    }
    return ends
  }

  private sumUpPart(from: number, end: number, before: number): number {
    const { wordings, places } = this.table
    const mask = 2 ** Math.ceil(Math.log2(2 * (end - from) + 1)) - 1
    wordings.fill(0, 0, mask + 1)
    let size = before
    for (let at = from; at < end; at++) {
      const wording = this.parted.wordings[at]!
      let place = (Math.imul(wording, MIX) >>> PART_BITS) & mask
      while (wordings[place] !== wording && wordings[place] !== 0) place = (place + 1) & mask
      if (wordings[place] === 0) {
        wordings[place] = wording
        places[place] = size
        this.wordings[size] = wording
        this.scores[size++] = this.parted.scores[at]!
      } else this.scores[places[place]!]! += this.parted.scores[at]!
    }
    return size
  }
}

const MIX = 0x9e3779b1

function partOf(wording: number): number {
  return Math.imul(wording, MIX) >>> (32 - PART_BITS)
}

/** The score that `limit` of them reach: the least of a heap of the highest. */
function barOf(scores: Float32Array, limit: number): number {
  if (scores.length <= limit) return Number.NEGATIVE_INFINITY
  const heap = new Float32Array(limit)
  for (const score of scores) if (score > heap[0]!) sink(heap, score)
  return heap[0]!
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
