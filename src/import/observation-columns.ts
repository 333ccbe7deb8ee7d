/** Passes a batch of prepared observations between threads as a few arrays of bytes and numbers, without objects. */

import type { PreparedObservation } from '../apply/prepare.ts'
import type { DomainName } from '../values/domain-name.ts'
import type { Instant } from '../values/time.ts'

/**
 * `text` starts with the texts of each observation in turn in UTF-8: its dns part, its web part. `names` is one string.
 * `ends` has where the three end: in `names` and, for both parts, in `text`.
 * `numbers` has observed_at, queriedTypes, isOk, dnsFingerprint, webFingerprint and interruptedTypes. A part with
 * fingerprint 0 is null.
 */
export type ObservationColumns = { names: string; text: Uint8Array; ends: Uint32Array; numbers: Float64Array }

const NUMBERS_PER_ROW = 6
const ENDS_PER_ROW = 3
const INITIAL_TEXT_BYTES = 1 << 20
/** The most bytes of UTF-8 for one UTF-16 unit. */
const MAX_UNIT_BYTES = 3

/** Collects at most `maxRows` observations. */
export function createColumnBuffer(maxRows: number) {
  const numbers = new Float64Array(maxRows * NUMBERS_PER_ROW)
  const ends = new Uint32Array(maxRows * ENDS_PER_ROW)
  const text = createTextBuffer()
  let names: DomainName[] = []
  let nameEnd = 0
  return {
    add(prepared: PreparedObservation): void {
      const number = names.length * NUMBERS_PER_ROW
      numbers[number] = prepared.observed_at
      numbers[number + 1] = prepared.queriedTypes
      numbers[number + 2] = prepared.isOk ? 1 : 0
      numbers[number + 3] = prepared.dnsFingerprint
      numbers[number + 4] = prepared.webFingerprint
      numbers[number + 5] = prepared.interruptedTypes
      const end = names.length * ENDS_PER_ROW
      nameEnd += prepared.name.length
      ends[end] = nameEnd
      ends[end + 1] = text.append(prepared.dns)
      ends[end + 2] = text.append(prepared.web)
      names.push(prepared.name)
    },
    size: (): number => names.length,
    /** Returns what was collected and starts again. */
    takeColumns(): ObservationColumns {
      const full = {
        names: names.join(''),
        text: text.take(),
        ends: ends.slice(0, names.length * ENDS_PER_ROW),
        numbers: numbers.slice(0, names.length * NUMBERS_PER_ROW),
      }
      names = []
      nameEnd = 0
      return full
    },
  }
}

/** Collects texts in UTF-8. */
function createTextBuffer() {
  let bytes: Buffer = Buffer.allocUnsafeSlow(INITIAL_TEXT_BYTES)
  let end = 0
  return {
    /** Appends a text, or nothing for null. Returns where it ends. */
    append(text: string | null): number {
      if (text === null) return end
      const maxEnd = end + text.length * MAX_UNIT_BYTES
      if (maxEnd > bytes.length) {
        const grown = Buffer.allocUnsafeSlow(Math.max(maxEnd, 2 * bytes.length))
        bytes.copy(grown, 0, 0, end)
        bytes = grown
      }
      end += bytes.write(text, end)
      return end
    },
    /** Returns the memory of the texts and starts again in other memory. */
    take(): Uint8Array {
      const taken = bytes
      bytes = Buffer.allocUnsafeSlow(taken.length)
      end = 0
      return taken
    },
  }
}

/** The memory of columns, which a message moves to another thread instead of copying it. */
export function buffersOfColumns({ text, ends, numbers }: ObservationColumns): ArrayBuffer[] {
  return [text, ends, numbers].map(({ buffer }) => buffer as ArrayBuffer)
}

/** Frees the memory of columns that were applied. The garbage collector would wait for several batches more. */
export function releaseColumns(columns: ObservationColumns): void {
  for (const buffer of buffersOfColumns(columns)) buffer.transfer(0)
}

/** Returns the observations in their order. The text of a part is decoded when it is read, because few are read. */
export function preparedFromColumns(columns: ObservationColumns): PreparedObservation[] {
  const shared = { ...columns, text: Buffer.from(columns.text.buffer) }
  return Array.from({ length: columns.ends.length / ENDS_PER_ROW }, (_, row) => new ColumnObservation(shared, row))
}

class ColumnObservation implements PreparedObservation {
  readonly name: DomainName
  readonly observed_at: Instant
  readonly queriedTypes: number
  readonly isOk: boolean
  readonly dnsFingerprint: number
  readonly webFingerprint: number
  readonly interruptedTypes: number
  readonly #text: Buffer
  readonly #ends: Uint32Array
  readonly #end: number

  constructor({ names, text, ends, numbers }: ObservationColumns & { text: Buffer }, row: number) {
    const number = row * NUMBERS_PER_ROW
    this.#text = text
    this.#ends = ends
    this.#end = row * ENDS_PER_ROW
    this.name = names.slice(row === 0 ? 0 : ends[this.#end - ENDS_PER_ROW], ends[this.#end]) as DomainName
    this.observed_at = numbers[number]!
    this.queriedTypes = numbers[number + 1]!
    this.isOk = numbers[number + 2] === 1
    this.dnsFingerprint = numbers[number + 3]!
    this.webFingerprint = numbers[number + 4]!
    this.interruptedTypes = numbers[number + 5]!
  }

  get dns(): string | null {
    const start = this.#end === 0 ? 0 : this.#ends[this.#end - 1]!
    return this.dnsFingerprint === 0 ? null : this.#text.toString('utf8', start, this.#ends[this.#end + 1])
  }

  get web(): string | null {
    const [start, end] = [this.#ends[this.#end + 1], this.#ends[this.#end + 2]]
    return this.webFingerprint === 0 ? null : this.#text.toString('utf8', start, end)
  }
}
