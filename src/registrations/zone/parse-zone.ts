/** Reads a zone file to its end: its names by part, its apex and its day. */

import { join } from 'node:path'
import { InputError } from '../../import/stream/input-error.ts'
import { UnnamedFile } from '../../import/stream/unnamed-file.ts'
import { endWriter, newWriterName } from '../../jobs/file-store/leftovers.ts'
import { parseName } from '../../values/domain-name.ts'
import type { Day } from '../../values/time.ts'
import { dayInName, dayInSerial, dayOfFile } from '../dates.ts'
import { type RegistrationImportOptions, type RegistrationInput, rejectLine } from '../import-options.ts'
import { labelHash, partOfHash, ZONE_PARTS, zoneSuffix } from './label-hash.ts'
import { MAX_PART_BYTES } from './sorted-labels.ts'
import { ZoneReader } from './zone-reader.ts'

/** Bytes of a part held in memory before they go to the file. */
const MAX_PART_BUFFER_BYTES = 65_536
const FIRST_PART_BUFFER_BYTES = 512

/** A label, and the byte before it that holds its length. */
const MAX_ENTRY_BYTES = 64

/** The bytes of a part in memory, and the position and length of its pieces in the file. */
type LabelPart = { buffer: Uint8Array; length: number; pieces: [at: number, length: number][]; written: number }

/** Collects the labels of a zone by part: in memory, and in an unnamed temporary file if there are many. */
export class LabelParts {
  readonly #folder: string
  readonly #suffix: Uint8Array
  readonly #parts: LabelPart[]
  #file: UnnamedFile | null = null

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
    if (part.length + MAX_ENTRY_BYTES > part.buffer.length) this.#growOrSpill(part)
    const { buffer } = part
    buffer[part.length++] = length
    for (let at = 0; at < length; at++) buffer[part.length++] = bytes[at]!
  }

  /** Returns all labels of a part in the order in which they were added. */
  read(number: number): Uint8Array {
    const { buffer, length, pieces, written } = this.#parts[number]!
    if (written + length > MAX_PART_BYTES) throw new InputError('the zone has more names than can be compared')
    const bytes = new Uint8Array(written + length)
    let to = 0
    for (const [at, size] of pieces) {
      this.#file!.read(bytes.subarray(to, to + size), at)
      to += size
    }
    bytes.set(buffer.subarray(0, length), to)
    return bytes
  }

  close(): void {
    this.#file?.close()
    this.#file = null
  }

  #growOrSpill(part: LabelPart): void {
    if (part.buffer.length < MAX_PART_BUFFER_BYTES) {
      const bytesOfPart = new Uint8Array(part.buffer.length * 2)
      bytesOfPart.set(part.buffer)
      part.buffer = bytesOfPart
      return
    }
    this.#file ??= openPartFile(this.#folder)
    part.pieces.push([this.#file.append(part.buffer.subarray(0, part.length)), part.length])
    part.written += part.length
    part.length = 0
  }
}

/** A parsed zone. `unusable`: number of delegations whose owners are not valid names. */
export type ParsedZone = { zone: string; day: Day; parts: LabelParts; unusable: number }

const MAX_REJECT_TEXT_BYTES = 4_096

/**
 * Parses the name of a zone: lower case, without a final dot. Throws InputError for an invalid name and for the root.
 */
export function parseZoneName(text: string): string {
  const name = parseName(`name.${text.replace(/^\./, '')}`)
  if (name === null) throw new InputError(`${JSON.stringify(text)} is not the name of a zone, such as com or co.uk`)
  return name.slice('name.'.length)
}

/** `zone`: null if the SOA provides it. The caller closes the parts. Throws InputError for an incomplete zone file. */
export async function parseZoneFile(
  options: RegistrationImportOptions,
  { path, bytes, day, zone }: RegistrationInput & { zone: string | null },
): Promise<ParsedZone> {
  let parts: LabelParts | null = null
  let unusable = 0
  const reader = new ZoneReader(zone, {
    onName(label, length) {
      parts ??= new LabelParts(options.root, zoneSuffix(reader.apex!))
      parts.add(label, length)
    },
    onUnusable(line, owner) {
      unusable++
      const text = Buffer.from(owner.subarray(0, MAX_REJECT_TEXT_BYTES)).toString('latin1')
      rejectLine(options, { line, reason: 'the owner of a delegation is not a valid name', length: owner.length, text })
    },
  })
  try {
    for await (const chunk of bytes) {
      options.signal.throwIfAborted()
      reader.push(chunk)
      options.onLines(reader.lines)
    }
    const { apex, serial } = reader.end()
    const read = dayOfFile([day, dayInName(path), dayInSerial(serial)], await options.store.now())
    return {
      zone: parseZoneName(apex),
      day: read,
      parts: parts ?? new LabelParts(options.root, zoneSuffix(apex)),
      unusable,
    }
  } catch (error) {
    ;(parts as LabelParts | null)?.close()
    throw error
  }
}

/** The name shows the writer, so that a file which a killed process left is removed. */
function openPartFile(folder: string): UnnamedFile {
  const name = newWriterName('parts')
  try {
    return new UnnamedFile(join(folder, name), (cause) => `the folder ${folder} cannot be used: ${cause}`)
  } finally {
    endWriter(name)
  }
}
