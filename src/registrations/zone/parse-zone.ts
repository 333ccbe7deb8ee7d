/** Reads a zone file to its end: its names by part, its apex and its day. */

import { InputError } from '../../import/stream/input-error.ts'
import { parseName } from '../../values/domain-name.ts'
import type { Day } from '../../values/time.ts'
import { dayInName, dayInSerial, dayOfFile } from '../dates.ts'
import { type RegistrationImportOptions, type RegistrationInput, rejectLine } from '../import-options.ts'
import { zoneSuffix } from './label-hash.ts'
import { LabelParts } from './label-parts.ts'
import { ZoneReader } from './zone-reader.ts'

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
