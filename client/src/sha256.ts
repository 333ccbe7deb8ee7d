/** SHA-256 of a stream (FIPS 180-4). Web Crypto hashes only what is in memory as a whole. */

/** Hashes a stream. In Node, node:crypto has one that is nine times as fast. */
export type Sha256Hasher = {
  update(bytes: Uint8Array): unknown
  /** The 32 bytes of the hash. Nothing may follow. */
  digest(): Uint8Array
}

const BLOCK_BYTES = 64
/** The last 8 bytes of the last block have the length of the message in bits. */
const LENGTH_OFFSET = 56

/** The first 32 bits of the fractional parts of the square roots of the first 8 primes (section 5.3.3). */
const INITIAL_STATE = fractions(8, 1 / 2)
/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes (section 4.2.2). */
const CONSTANTS = fractions(64, 1 / 3)

function fractions(count: number, power: number): Int32Array {
  const primes: number[] = []
  for (let number = 2; primes.length < count; number++)
    if (primes.every((prime) => number % prime !== 0)) primes.push(number)
  return Int32Array.from(primes, (prime) => (prime ** power % 1) * 2 ** 32)
}

/** The message schedule of the block that is being hashed. One array for all: a block is hashed at once. */
const SCHEDULE = new Int32Array(64)

export class Sha256 implements Sha256Hasher {
  readonly #state = INITIAL_STATE.slice()
  /** The beginning of a block that is not complete yet. */
  readonly #rest = new Uint8Array(BLOCK_BYTES)
  #length = 0

  update(bytes: Uint8Array): this {
    const used = this.#length % BLOCK_BYTES
    this.#length += bytes.length
    let position = 0
    if (used > 0) {
      position = Math.min(BLOCK_BYTES - used, bytes.length)
      this.#rest.set(bytes.subarray(0, position), used)
      if (used + position < BLOCK_BYTES) return this
      hashBlock(this.#state, this.#rest, 0)
    }
    for (; position + BLOCK_BYTES <= bytes.length; position += BLOCK_BYTES) hashBlock(this.#state, bytes, position)
    this.#rest.set(bytes.subarray(position))
    return this
  }

  /** Pads the message (section 5.1.1) and returns its hash. */
  digest(): Uint8Array {
    const length = this.#length
    const used = length % BLOCK_BYTES
    const padding = new Uint8Array((used < LENGTH_OFFSET ? BLOCK_BYTES : 2 * BLOCK_BYTES) - used)
    padding[0] = 0x80
    const view = new DataView(padding.buffer)
    view.setUint32(padding.length - 8, Math.floor(length / 2 ** 29))
    view.setUint32(padding.length - 4, length << 3)
    this.update(padding)
    const result = new DataView(new ArrayBuffer(32))
    for (const [index, word] of this.#state.entries()) result.setInt32(index * 4, word)
    return new Uint8Array(result.buffer)
  }
}

/** Adds the block at a position to the state (section 6.2.2). */
function hashBlock(state: Int32Array, bytes: Uint8Array, position: number): void {
  expandBlock(bytes, position)
  let a = state[0]!
  let b = state[1]!
  let c = state[2]!
  let d = state[3]!
  let e = state[4]!
  let f = state[5]!
  let g = state[6]!
  let h = state[7]!
  for (let round = 0; round < 64; round++) {
    const sum1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
    const choice = g ^ (e & (f ^ g))
    const first = (h + sum1 + choice + CONSTANTS[round]! + SCHEDULE[round]!) | 0
    const sum0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
    const majority = (a & b) | (c & (a | b))
    h = g
    g = f
    f = e
    e = (d + first) | 0
    d = c
    c = b
    b = a
    a = (first + sum0 + majority) | 0
  }
  state[0]! += a
  state[1]! += b
  state[2]! += c
  state[3]! += d
  state[4]! += e
  state[5]! += f
  state[6]! += g
  state[7]! += h
}

/** The message schedule of a block (section 6.2.2, step 1). */
function expandBlock(bytes: Uint8Array, position: number): void {
  for (let index = 0; index < 16; index++, position += 4)
    SCHEDULE[index] =
      (bytes[position]! << 24) | (bytes[position + 1]! << 16) | (bytes[position + 2]! << 8) | bytes[position + 3]!
  for (let index = 16; index < 64; index++) {
    const x = SCHEDULE[index - 15]!
    const y = SCHEDULE[index - 2]!
    const sigma0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)
    const sigma1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10)
    SCHEDULE[index] = SCHEDULE[index - 16]! + sigma0 + SCHEDULE[index - 7]! + sigma1
  }
}
