/** Reads and writes bit sequences, most significant bit first, with Golomb-Rice and Elias gamma codes. */

/** Bits that one read of the bytes returns at any position within a byte. */
const WINDOW_BITS = 25
/** Bits of a number that are written at a time. */
const MAX_CHUNK_BITS = 24

/** The Rice parameter for `count` ascending numbers below `span`: the integer part of log2 of their mean difference. */
export function riceParameterFor(span: number, count: number): number {
  const mean = span / count
  return mean < 2 ** 32 ? 31 - Math.clz32(Math.max(1, mean)) : 63 - Math.clz32(mean / 2 ** 32)
}

/** Returns the number of bits of an integer below 2^53. Returns 1 for 0. */
export function bitLength(number: number): number {
  return number < 2 ** 32 ? 32 - Math.clz32(Math.max(1, number)) : 64 - Math.clz32(number / 2 ** 32)
}

export class BitWriter {
  private bytes: Uint8Array<ArrayBuffer> = new Uint8Array(1024)
  private position = 0

  /** Writes the lowest `bits` bits of a number, at most 53. */
  writeBits(number: number, bits: number): void {
    if (bits > MAX_CHUNK_BITS) {
      this.writeBits(Math.floor(number / 2 ** MAX_CHUNK_BITS), bits - MAX_CHUNK_BITS)
      this.writeChunk(number % 2 ** MAX_CHUNK_BITS, MAX_CHUNK_BITS)
    } else this.writeChunk(number, bits)
  }

  /** Elias gamma: as many zeros as there are bits after the first, then the number, which is above 0. */
  writeGamma(number: number): void {
    const bits = bitLength(number)
    this.writeZeros(bits - 1)
    this.writeBits(number, bits)
  }

  /** Rice: the number without its lowest `parameter` bits in unary (zeros and a one), then these bits. */
  writeRice(number: number, parameter: number): void {
    this.writeZeros(Math.floor(number / 2 ** parameter))
    this.writeChunk(1, 1)
    this.writeBits(number % 2 ** parameter, parameter)
  }

  /** Returns a copy of the bytes so far and empties the writer. */
  take(): Uint8Array<ArrayBuffer> {
    const bytes = this.bytes.slice(0, (this.position + 7) >>> 3)
    this.bytes.fill(0, 0, bytes.length)
    this.position = 0
    return bytes
  }

  private writeZeros(count: number): void {
    this.position += count
    this.reserve()
  }

  private writeChunk(number: number, bits: number): void {
    for (let left = bits; left > 0; ) {
      const bitsFree = 8 - (this.position & 7)
      const now = Math.min(bitsFree, left)
      this.bytes[this.position >>> 3]! |= ((number >>> (left - now)) & ((1 << now) - 1)) << (bitsFree - now)
      this.position += now
      left -= now
    }
    this.reserve()
  }

  private reserve(): void {
    if ((this.position >>> 3) + 8 < this.bytes.length) return
    const larger = new Uint8Array(Math.max(2 * this.bytes.length, 2 * (this.position >>> 3)))
    larger.set(this.bytes)
    this.bytes = larger
  }
}

/** Reads what a BitWriter wrote, from a copy in its own buffer. Bytes past the end count as zero. */
export class BitReader {
  private bytes = new Uint8Array(4096)
  private view = new DataView(this.bytes.buffer)
  private position = 0
  private end = 0

  open(packed: Uint8Array): void {
    if (packed.length + 8 > this.bytes.length) {
      this.bytes = new Uint8Array(2 * packed.length + 8)
      this.view = new DataView(this.bytes.buffer)
    }
    this.bytes.set(packed)
    this.bytes.fill(0, packed.length, packed.length + 8)
    this.position = 0
    this.end = 8 * packed.length
  }

  /** Returns false after all whole bytes were read. */
  get hasMore(): boolean {
    return this.position < this.end
  }

  /** The position in bits. */
  get bitPosition(): number {
    return this.position
  }

  set bitPosition(bits: number) {
    this.position = bits
  }

  readBits(bits: number): number {
    if (bits === 0) return 0
    if (bits > MAX_CHUNK_BITS) {
      const high = this.readBits(bits - MAX_CHUNK_BITS)
      return high * 2 ** MAX_CHUNK_BITS + this.readBits(MAX_CHUNK_BITS)
    }
    const number = this.peekWindow() >>> (32 - bits)
    this.position += bits
    return number
  }

  readGamma(): number {
    return this.readBits(this.skipZeros() + 1)
  }

  readRice(parameter: number): number {
    const window = this.peekWindow()
    const zeros = Math.clz32(window)
    const bits = zeros + 1 + parameter
    if (bits > WINDOW_BITS) return this.readLongRice(parameter)
    this.position += bits
    return (zeros << parameter) | (((window << (zeros + 1)) >>> 1) >>> (31 - parameter))
  }

  /** Reads `size` ascending numbers from their differences. The first difference is from `before`. */
  readAscending(into: Float64Array, from: number, size: number, before: number, parameter: number): void {
    let number = before
    for (let place = from; place < from + size; place++) {
      number += 1 + this.readRice(parameter)
      into[place] = number
    }
  }

  /**
   * Reads ascending numbers below 2^32, the first difference from -1, each followed by a count in gamma code. Inlined,
   * because queries spend most of their time here.
   */
  readCounted(numbers: Uint32Array, counts: Uint32Array, size: number, parameter: number): void {
    const view = this.view
    const maxZeros = WINDOW_BITS - 1 - parameter
    let [at, number] = [this.position, -1]
    for (let place = 0; place < size; place++) {
      const distance = view.getUint32(at >>> 3) << (at & 7)
      let zeros = Math.clz32(distance)
      if (zeros <= maxZeros) {
        number += 1 + ((zeros << parameter) | (((distance << (zeros + 1)) >>> 1) >>> (31 - parameter)))
        at += zeros + 1 + parameter
      } else {
        this.position = at
        number += 1 + this.readLongRice(parameter)
        at = this.position
      }
      numbers[place] = number
      const count = view.getUint32(at >>> 3) << (at & 7)
      zeros = Math.clz32(count)
      if (2 * zeros < WINDOW_BITS) {
        counts[place] = count >>> (31 - 2 * zeros)
        at += 2 * zeros + 1
      } else {
        this.position = at
        counts[place] = this.readGamma()
        at = this.position
      }
    }
    this.position = at
  }

  private readLongRice(parameter: number): number {
    const zeros = this.skipZeros()
    this.position += 1
    return zeros * 2 ** parameter + this.readBits(parameter)
  }

  /** Skips the zeros before a one. */
  private skipZeros(): number {
    const begin = this.position
    for (;;) {
      const zeros = Math.clz32(this.peekWindow())
      this.position += Math.min(zeros, WINDOW_BITS)
      if (zeros < WINDOW_BITS || this.position >= this.end) return this.position - begin
    }
  }

  /** Returns the next 25 bits in the upper part of 32. */
  private peekWindow(): number {
    return this.view.getUint32(this.position >>> 3) << (this.position & 7)
  }
}
