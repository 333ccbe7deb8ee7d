/** Bits one after another, most significant first: how vectors and postings are packed (Golomb-Rice and Elias gamma codes). */

/** Bits that one look at the bytes surely gives, wherever it begins in a byte. */
const WINDOW = 25
/** Bits of a number that are written at a time. */
const PIECE = 24

/** The Rice parameter for `count` ascending numbers below `span`: the whole part of the logarithm of their mean distance. */
export function parameterOf(span: number, count: number): number {
  const mean = span / count
  return mean < 2 ** 32 ? 31 - Math.clz32(Math.max(1, mean)) : 63 - Math.clz32(mean / 2 ** 32)
}

/** Bits that a whole number below 2^53 needs; 1 for 0. */
export function bitsOf(number: number): number {
  return number < 2 ** 32 ? 32 - Math.clz32(Math.max(1, number)) : 64 - Math.clz32(number / 2 ** 32)
}

export class BitWriter {
  private bytes: Uint8Array<ArrayBuffer> = new Uint8Array(1024)
  private at = 0

  /** The `bits` lowest bits of a number, 53 at most. */
  plain(number: number, bits: number): void {
    if (bits > PIECE) {
      this.plain(Math.floor(number / 2 ** PIECE), bits - PIECE)
      this.piece(number % 2 ** PIECE, PIECE)
    } else this.piece(number, bits)
  }

  /** Elias gamma: as many zeros as there are bits after the first, then the number, which is above 0. */
  gamma(number: number): void {
    const bits = bitsOf(number)
    this.zeros(bits - 1)
    this.plain(number, bits)
  }

  /** Rice: the number without its lowest `parameter` bits as so many zeros and a one, then these bits. */
  rice(number: number, parameter: number): void {
    this.zeros(Math.floor(number / 2 ** parameter))
    this.piece(1, 1)
    this.plain(number % 2 ** parameter, parameter)
  }

  /** The bytes so far, a copy; the writer is empty again. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.bytes.slice(0, (this.at + 7) >>> 3)
    this.bytes.fill(0, 0, taken.length)
    this.at = 0
    return taken
  }

  private zeros(count: number): void {
    this.at += count
    this.reserve()
  }

  private piece(number: number, bits: number): void {
    for (let left = bits; left > 0; ) {
      const room = 8 - (this.at & 7)
      const now = Math.min(room, left)
      this.bytes[this.at >>> 3]! |= ((number >>> (left - now)) & ((1 << now) - 1)) << (room - now)
      this.at += now
      left -= now
    }
    this.reserve()
  }

  private reserve(): void {
    if ((this.at >>> 3) + 8 < this.bytes.length) return
    const larger = new Uint8Array(Math.max(2 * this.bytes.length, 2 * (this.at >>> 3)))
    larger.set(this.bytes)
    this.bytes = larger
  }
}

/** Reads what a writer wrote, after a copy into a buffer of its own: bytes past the end count as zero. */
export class BitReader {
  private bytes = new Uint8Array(4096)
  private view = new DataView(this.bytes.buffer)
  private at = 0
  private end = 0

  open(packed: Uint8Array): void {
    if (packed.length + 8 > this.bytes.length) {
      this.bytes = new Uint8Array(2 * packed.length + 8)
      this.view = new DataView(this.bytes.buffer)
    }
    this.bytes.set(packed)
    this.bytes.fill(0, packed.length, packed.length + 8)
    this.at = 0
    this.end = 8 * packed.length
  }

  /** False once all whole bytes were read. */
  get hasMore(): boolean {
    return this.at < this.end
  }

  /** Where it is, in bits. */
  get place(): number {
    return this.at
  }

  set place(bits: number) {
    this.at = bits
  }

  plain(bits: number): number {
    if (bits === 0) return 0
    if (bits > PIECE) {
      const high = this.plain(bits - PIECE)
      return high * 2 ** PIECE + this.plain(PIECE)
    }
    const number = this.window() >>> (32 - bits)
    this.at += bits
    return number
  }

  gamma(): number {
    return this.plain(this.zeros() + 1)
  }

  rice(parameter: number): number {
    const window = this.window()
    const zeros = Math.clz32(window)
    const bits = zeros + 1 + parameter
    if (bits > WINDOW) return this.longRice(parameter)
    this.at += bits
    return (zeros << parameter) | (((window << (zeros + 1)) >>> 1) >>> (31 - parameter))
  }

  /** Reads `size` ascending numbers by their distances from one another, the first from `before`. */
  ascending(into: Float64Array, from: number, size: number, before: number, parameter: number): void {
    let number = before
    for (let place = from; place < from + size; place++) {
      number += 1 + this.rice(parameter)
      into[place] = number
    }
  }

  /** The same of numbers below 2^32 from -1, each followed by a count in gamma. Written out: most of a query's time passes here. */
  counted(numbers: Uint32Array, counts: Uint32Array, size: number, parameter: number): void {
    const view = this.view
    const most = WINDOW - 1 - parameter
    let [at, number] = [this.at, -1]
    for (let place = 0; place < size; place++) {
      const distance = view.getUint32(at >>> 3) << (at & 7)
      let zeros = Math.clz32(distance)
      if (zeros <= most) {
        number += 1 + ((zeros << parameter) | (((distance << (zeros + 1)) >>> 1) >>> (31 - parameter)))
        at += zeros + 1 + parameter
      } else {
        this.at = at
        number += 1 + this.longRice(parameter)
        at = this.at
      }
      numbers[place] = number
      const count = view.getUint32(at >>> 3) << (at & 7)
      zeros = Math.clz32(count)
      if (2 * zeros < WINDOW) {
        counts[place] = count >>> (31 - 2 * zeros)
        at += 2 * zeros + 1
      } else {
        this.at = at
        counts[place] = this.gamma()
        at = this.at
      }
    }
    this.at = at
  }

  private longRice(parameter: number): number {
    const zeros = this.zeros()
    this.at += 1
    return zeros * 2 ** parameter + this.plain(parameter)
  }

  /** Passes over the zeros before a one. */
  private zeros(): number {
    const begin = this.at
    for (;;) {
      const zeros = Math.clz32(this.window())
      this.at += Math.min(zeros, WINDOW)
      if (zeros < WINDOW || this.at >= this.end) return this.at - begin
    }
  }

  /** The next 25 bits at the top of 32. */
  private window(): number {
    return this.view.getUint32(this.at >>> 3) << (this.at & 7)
  }
}
