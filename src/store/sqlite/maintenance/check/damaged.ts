/** Goes on past what cannot be read: the rows that can be are checked one by one, and where they end and begin again is told. */

import type { DatabaseSync } from 'node:sqlite'
import type { CheckPart } from '../../../shared/check/sequence.ts'
import { CHECK_SLICE_ROWS, type CheckSlice } from '../../../shared/check/slice.ts'
import { readTransaction } from '../../database/connection.ts'

/** One part of the check: its rows behind a key, at most `limit`, and a key that lies further on, the further the larger `n` is. */
export type SqliteCheckPart = {
  name: string
  check(database: DatabaseSync, after: string | null, limit: number): CheckSlice
  /** Null beyond the last key that there can be. */
  keyBeyond(after: string | null, n: number): string | null
}

/** Result codes of SQLite that say nothing of the file: busy, locked, no memory, read-only, interrupted, full, cannot open. */
const NOT_DAMAGE_CODES = [5, 6, 7, 8, 9, 13, 14]
const LIMIT_DIVISOR = 8

/** Throws what is no damage. */
export function skippingDamage(database: DatabaseSync, part: SqliteCheckPart): CheckPart {
  const read = (after: string | null, limit: number): CheckSlice => {
    const slice = readTransaction(database, () => part.check(database, after, limit))
    // damaged keys may lead back to where the slice began: the check would never end
    if (after !== null && slice.last !== null && !isBeyond(slice.last, after))
      throw new Error('its keys are out of order')
    return slice
  }
  return (after) => {
    let damage: unknown
    for (let limit = CHECK_SLICE_ROWS; limit > 0; limit = limit === 1 ? 0 : Math.ceil(limit / LIMIT_DIVISOR)) {
      try {
        return read(after, limit)
      } catch (error) {
        damage = requireDamage(error)
      }
    }
    return nextReadableRow(part, after, damage as Error, read)
  }
}

const NUMBER = /^\d+$/

/** Whether a key lies behind another one: keys are numbers, texts, or JSON of several, of which those of a table count. */
function isBeyond(key: string, after: string): boolean {
  const [one, other] = [valuesOf(key), valuesOf(after)]
  const place = one.findIndex((value, at) => value !== other[at])
  if (place < 0) return false
  const [ours, theirs] = [one[place], other[place]]
  if (typeof ours === 'number' && typeof theirs === 'number') return ours > theirs
  return Buffer.compare(Buffer.from(String(ours)), Buffer.from(String(theirs))) > 0
}

function valuesOf(key: string): unknown[] {
  if (NUMBER.test(key)) return [Number(key)]
  return key.startsWith('[') ? (JSON.parse(key) as unknown[]) : [key]
}

/** The next row that can be read, with what was passed over. */
function nextReadableRow(
  part: SqliteCheckPart,
  after: string | null,
  damage: Error,
  read: (after: string, limit: number) => CheckSlice,
): CheckSlice {
  const key = after ?? 'its beginning'
  for (let n = 0; ; n++) {
    const from = part.keyBeyond(after, n)
    const problem = `cannot be read behind this key${from === null ? '' : `, up to ${from}`}: ${damage.message}`
    const fault = { table: part.name, key, problem }
    if (from === null) return { faults: [fault], checked: 0, last: null }
    try {
      const { faults, checked, last } = read(from, 1)
      return { faults: [fault, ...faults], checked, last }
    } catch (error) {
      requireDamage(error)
    }
  }
}

/** Returns an error that says something of the file, and throws any other. */
export function requireDamage(error: unknown): unknown {
  const { errcode } = error as { errcode?: number }
  if (errcode !== undefined && NOT_DAMAGE_CODES.includes(errcode & 255)) throw error
  return error
}

/** Keys that are a number. */
export const numberKeyBeyond = (after: string | null, n: number): string | null =>
  n > 53 ? null : String(Number(after ?? 0) + 2 ** n)

/** Keys that are JSON of a slot and a name. */
export function slotKeyBeyond(after: string | null, n: number): string | null {
  const [slot] = after === null ? [-1] : (JSON.parse(after) as [number])
  const from = slot + 2 ** n - 1
  return from > 65_535 ? null : JSON.stringify([from, LAST_NAME])
}

const LAST_NAME = '\u{10ffff}'
const COMPARED_KEY_BYTES = 18
const COMPARED_KEY_BITS = 8 * COMPARED_KEY_BYTES

/** Keys that are JSON of texts, or of the hexadecimal of bytes where `isHex` says so: the last moves first, then the one before. */
export const textKeyBeyond =
  (count: number, isHex = false) =>
  (after: string | null, n: number): string | null => {
    const key = after === null ? Array<string>(count).fill('') : (JSON.parse(after) as string[]).slice(0, count)
    const place = count - 1 - Math.floor(n / COMPARED_KEY_BITS)
    if (place < 0) return null
    const moved = addToKey(key[place]!, 1n << BigInt(n % COMPARED_KEY_BITS), isHex && place === 0)
    return moved === null
      ? textKeyBeyond(count, isHex)(after, n + COMPARED_KEY_BITS - (n % COMPARED_KEY_BITS))
      : JSON.stringify(key.with(place, moved).fill('', place + 1))
  }

/** Null where it would be longer. */
function addToKey(text: string, by: bigint, isHex: boolean): string | null {
  const bytes = Buffer.alloc(COMPARED_KEY_BYTES)
  bytes.set(Buffer.from(text, isHex ? 'hex' : 'latin1').subarray(0, COMPARED_KEY_BYTES))
  const moved = BigInt(`0x${bytes.toString('hex')}`) + by
  const hex = moved.toString(16).padStart(2 * COMPARED_KEY_BYTES, '0')
  if (hex.length > 2 * COMPARED_KEY_BYTES) return null
  return isHex ? hex : Buffer.from(hex, 'hex').toString('latin1')
}
