/** Reads a zone's file to its end: its names by part, whose zone it is, and of which day. */

import { InputFault } from '../../input/fault.ts'
import { parseName } from '../../words/name.ts'
import type { Day } from '../../words/time.ts'
import { dayInName, dayInSerial, dayOfFile } from './dates.ts'
import { Parts } from './parts.ts'
import { suffixOf } from './slots.ts'
import { type Given, refuse, type Taking } from './taking.ts'
import { ZoneReader } from './zone.ts'

/** A zone that was read. `unusable`: delegations whose owners are no names. */
export type ReadZone = { zone: string; day: Day; parts: Parts; unusable: number }

const TEXT_BYTES = 4_096

/** The name of a zone in lower case, without a dot at its end. Throws InputFault for what is none, and for the root. */
export function zoneName(text: string): string {
  const name = parseName(`name.${text.replace(/^\./, '')}`)
  if (name === null)
    throw new InputFault(`${JSON.stringify(text)} is the name of no zone: it is one such as com or co.uk`)
  return name.slice('name.'.length)
}

/** `zone`: null where the SOA says it. The parts have to be closed. Throws InputFault for a file that is not a whole zone. */
export async function readZone(
  taking: Taking,
  { path, bytes, day, zone }: Given & { zone: string | null },
): Promise<ReadZone> {
  let parts: Parts | null = null
  let unusable = 0
  const reader = new ZoneReader(zone, {
    onName(label, length) {
      parts ??= new Parts(taking.root, suffixOf(reader.apex!))
      parts.add(label, length)
    },
    onUnusable(line, owner) {
      unusable++
      const text = Buffer.from(owner.subarray(0, TEXT_BYTES)).toString('latin1')
      refuse(taking, { line, reason: 'the owner of a delegation is no name', length: owner.length, text })
    },
  })
  try {
    for await (const chunk of bytes) {
      taking.signal.throwIfAborted()
      reader.take(chunk)
      taking.onLines(reader.lines)
    }
    const { apex, serial } = reader.end()
    const read = dayOfFile([day, dayInName(path), dayInSerial(serial)], await taking.store.now())
    return { zone: zoneName(apex), day: read, parts: parts ?? new Parts(taking.root, suffixOf(apex)), unusable }
  } catch (error) {
    ;(parts as Parts | null)?.close()
    throw error
  }
}
