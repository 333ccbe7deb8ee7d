/** Gathers the labels of a zone by part, in memory where they are few, else in a file without a name that goes with the process. */

import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { InputFault, PlaceFault, plainCause } from '../../input/fault.ts'
import { endWriter, writerName } from '../shelf-leftovers.ts'
import { hashOf, PARTS, partOf } from './slots.ts'
import { PART_BYTES } from './sorted.ts'

/** Bytes of a part that are held, before they go to the file. */
const HELD_BYTES = 65_536
const FIRST_BYTES = 512
const MOST_LABEL = 64

/** What is held of a part, and where in the file the rest lies: place and length of each piece. */
type Part = { held: Uint8Array; length: number; pieces: [at: number, length: number][]; written: number }

export class Parts {
  readonly #folder: string
  readonly #suffix: Uint8Array
  readonly #parts: Part[]
  #file: number | null = null
  #size = 0

  constructor(folder: string, suffix: Uint8Array) {
    this.#folder = folder
    this.#suffix = suffix
    const part = (): Part => ({ held: new Uint8Array(FIRST_BYTES), length: 0, pieces: [], written: 0 })
    this.#parts = Array.from({ length: PARTS }, part)
  }

  /** Takes the first `length` of `bytes` as a label. */
  add(bytes: Uint8Array, length: number): void {
    const part = this.#parts[partOf(hashOf(bytes, 0, length, this.#suffix))]!
    if (part.length + MOST_LABEL > part.held.length) this.#makeRoom(part)
    const { held } = part
    held[part.length++] = length
    for (let at = 0; at < length; at++) held[part.length++] = bytes[at]!
  }

  /** All labels of a part, in the order in which they came. */
  read(number: number): Uint8Array {
    const { held, length, pieces, written } = this.#parts[number]!
    if (written + length > PART_BYTES) throw new InputFault('the zone has more names than can be compared')
    const bytes = new Uint8Array(written + length)
    let to = 0
    for (const [at, size] of pieces) {
      for (let done = 0; done < size; ) {
        const count = this.#inFolder(() => readSync(this.#file!, bytes, to + done, size - done, at + done))
        if (count === 0) throw new PlaceFault(`a temporary file in ${this.#folder} was cut off`)
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

  #makeRoom(part: Part): void {
    if (part.held.length < HELD_BYTES) {
      const held = new Uint8Array(part.held.length * 2)
      held.set(part.held)
      part.held = held
      return
    }
    this.#file ??= this.#inFolder(() => openNameless(this.#folder))
    for (let done = 0; done < part.length; )
      done += this.#inFolder(() => writeSync(this.#file!, part.held, done, part.length - done, this.#size + done))
    part.pieces.push([this.#size, part.length])
    part.written += part.length
    this.#size += part.length
    part.length = 0
  }

  #inFolder<Result>(work: () => Result): Result {
    try {
      return work()
    } catch (error) {
      throw new PlaceFault(`the folder ${this.#folder} cannot be used: ${plainCause(error)}`)
    }
  }
}

function openNameless(folder: string): number {
  const name = writerName('parts')
  try {
    const file = openSync(join(folder, name), 'wx+', 0o600)
    rmSync(join(folder, name))
    return file
  } finally {
    endWriter(name)
  }
}
