/** A list of millions of vectors in large pieces of memory: an object for each would cost as much as its entries. */

const DEFAULT_PIECE = 2 ** 23

export class VectorList {
  readonly #pieceEntries: number
  #pieces: Float64Array[] = []
  /** Free entries at the end of the last piece. */
  #free = 0
  /** The number of entries of all pieces before each vector, which starts with its length. */
  #positions: number[] = []

  /** `pieceEntries`: the entries of a piece, more than the longest vector has. */
  constructor(pieceEntries = DEFAULT_PIECE) {
    this.#pieceEntries = pieceEntries
  }

  get length(): number {
    return this.#positions.length
  }

  /** Appends a copy of a vector. */
  push(vector: Float64Array): void {
    const needed = vector.length + 1
    if (needed > this.#free) {
      this.#pieces.push(new Float64Array(this.#pieceEntries))
      this.#free = this.#pieceEntries
    }
    const start = this.#pieceEntries - this.#free
    const piece = this.#pieces.at(-1)!
    piece[start] = vector.length
    piece.set(vector, start + 1)
    this.#positions.push((this.#pieces.length - 1) * this.#pieceEntries + start)
    this.#free -= needed
  }

  /** Returns the entries of a vector, without a copy. */
  at(index: number): Float64Array {
    const position = this.#positions[index]!
    const piece = this.#pieces[Math.floor(position / this.#pieceEntries)]!
    const start = position % this.#pieceEntries
    return piece.subarray(start + 1, start + 1 + piece[start]!)
  }

  *[Symbol.iterator](): Generator<Float64Array> {
    for (let index = 0; index < this.length; index++) yield this.at(index)
  }
}
