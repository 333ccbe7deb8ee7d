/** Collects the labels of a zone by part: in memory, and in an unnamed temporary file if there are many. */

import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { errorCause, InputError, StorageError } from '../../import/stream/input-error.ts'
import { endWriter, newWriterName } from '../../jobs/file-store/leftovers.ts'
import { labelHash, partOfHash, ZONE_PARTS } from './label-hash.ts'
import { MAX_PART_BYTES } from './sorted-labels.ts'

/** Bytes of a part held in memory before they go to the file. */
const MAX_PART_BUFFER_BYTES = 65_536
const FIRST_PART_BUFFER_BYTES = 512
const MAX_LABEL_BYTES = 64

/** The bytes of a part in memory, and the position and length of its pieces in the file. */
type LabelPart = { buffer: Uint8Array; length: number; pieces: [at: number, length: number][]; written: number }

export class LabelParts {
  readonly #folder: string
  readonly #suffix: Uint8Array
  readonly #parts: LabelPart[]
  #file: number | null = null
  #size = 0

  constructor(folder: string, suffix: Uint8Array) {
    this.#folder = folder
    this.#suffix = suffix
    const part = (): LabelPart => ({
      buffer: new Uint8Array(FIRST_PART_BUFFER_BYTES),
      length: 0,
      pieces: [],
      written: 0,
    })
    this.#parts = Array.from({ length: ZONE_PARTS }, part)
  }

  /** Adds the first `length` of `bytes` as a label. */
  add(bytes: Uint8Array, length: number): void {
    const part = this.#parts[partOfHash(labelHash(bytes, 0, length, this.#suffix))]!
    if (part.length + MAX_LABEL_BYTES > part.buffer.length) this.#growOrSpill(part)
    const { buffer: held } = part
    held[part.length++] = length
    for (let at = 0; at < length; at++) held[part.length++] = bytes[at]!
  }

  /** Returns all labels of a part in the order in which they were added. */
  read(number: number): Uint8Array {
    const { buffer: held, length, pieces, written } = this.#parts[number]!
    if (written + length > MAX_PART_BYTES) throw new InputError('the zone has more names than can be compared')
    const bytes = new Uint8Array(written + length)
    let to = 0
    for (const [at, size] of pieces) {
      for (let done = 0; done < size; ) {
        const count = this.#withFolderErrors(() => readSync(this.#file!, bytes, to + done, size - done, at + done))
        if (count === 0) throw new StorageError(`a temporary file in ${this.#folder} was cut off`)
        done += count
      }
      to += size
    }
    bytes.set(held.subarray(0, length), to)
    return bytes
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
  }

  #growOrSpill(part: LabelPart): void {
    if (part.buffer.length < MAX_PART_BUFFER_BYTES) {
      const held = new Uint8Array(part.buffer.length * 2)
      held.set(part.buffer)
      part.buffer = held
      return
    }
    this.#file ??= this.#withFolderErrors(() => openUnnamedPartFile(this.#folder))
    for (let done = 0; done < part.length; )
      done += this.#withFolderErrors(() =>
        writeSync(this.#file!, part.buffer, done, part.length - done, this.#size + done),
      )
    part.pieces.push([this.#size, part.length])
    part.written += part.length
    this.#size += part.length
    part.length = 0
  }

  #withFolderErrors<Result>(work: () => Result): Result {
    try {
      return work()
    } catch (error) {
      throw new StorageError(`the folder ${this.#folder} cannot be used: ${errorCause(error)}`)
    }
  }
}

function openUnnamedPartFile(folder: string): number {
  const name = newWriterName('parts')
  try {
    const file = openSync(join(folder, name), 'wx+', 0o600)
    rmSync(join(folder, name))
    return file
  } finally {
    endWriter(name)
  }
}
