/** Continues the check after damaged pages: checks the readable rows one by one and reports the unreadable ranges. */

import type { DatabaseSync } from 'node:sqlite'
import type { CheckPart } from '../../../shared/check/sequence.ts'
import { CHECK_SLICE_ROWS, type CheckSlice } from '../../../shared/check/slice.ts'
import { readTransaction } from '../../database/connection.ts'

/** One part of the check: its rows after a key, at most `limit`, and a key beyond `after` that grows with `step`. */
export type SqliteCheckPart = {
  name: string
  check(database: DatabaseSync, after: string | null, limit: number): CheckSlice
  /** Null beyond the last possible key. */
  keyBeyond(after: string | null, step: number): string | null
}

/**
 * Result codes of SQLite that do not concern the file: busy, locked, no memory, read-only, interrupted, full, cannot
 * open.
 */
const NOT_DAMAGE_CODES = [5, 6, 7, 8, 9, 13, 14]
const LIMIT_DIVISOR = 8

/** Runs a part of the check and skips damaged rows. Throws errors that are not damage. */
export function skippingDamage(database: DatabaseSync, part: SqliteCheckPart): CheckPart {
  const read = (after: string | null, limit: number): CheckSlice => {
    const slice = readTransaction(database, () => part.check(database, after, limit))
    // damaged keys may lead back to the start of the slice, and the check would never end
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

/**
 * Whether a key is greater than another one. Keys are numbers, texts, or JSON of several values, of which those of the
 * table's key count.
 */
function isBeyond(key: string, after: string): boolean {
  const [keyValues, afterValues] = [valuesOf(key), valuesOf(after)]
  const index = keyValues.findIndex((value, index) => value !== afterValues[index])
  if (index < 0) return false
  const [keyValue, afterValue] = [keyValues[index], afterValues[index]]
  if (typeof keyValue === 'number' && typeof afterValue === 'number') return keyValue > afterValue
  return Buffer.compare(Buffer.from(String(keyValue)), Buffer.from(String(afterValue))) > 0
}

function valuesOf(key: string): unknown[] {
  if (NUMBER.test(key)) return [Number(key)]
  return key.startsWith('[') ? (JSON.parse(key) as unknown[]) : [key]
}

/** Finds the next readable row, and reports the skipped ones. */
function nextReadableRow(
  part: SqliteCheckPart,
  after: string | null,
  damage: Error,
  read: (after: string, limit: number) => CheckSlice,
): CheckSlice {
  const key = after ?? 'its start'
  for (let step = 0; ; step++) {
    const from = part.keyBeyond(after, step)
    const problem = `cannot be read after this key${from === null ? '' : `, up to ${from}`}: ${damage.message}`
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

/** Returns an error that concerns the file, and throws any other. */
export function requireDamage(error: unknown): unknown {
  const { errcode } = error as { errcode?: number }
  if (errcode !== undefined && NOT_DAMAGE_CODES.includes(errcode & 255)) throw error
  return error
}

/** For keys that are a number. */
export const numberKeyBeyond = (after: string | null, step: number): string | null =>
  step > 53 ? null : String(Number(after ?? 0) + 2 ** step)

/** For keys that are JSON of a slot and a name. */
export function slotKeyBeyond(after: string | null, step: number): string | null {
  const [slot] = after === null ? [-1] : (JSON.parse(after) as [number])
  const from = slot + 2 ** step - 1
  return from > 65_535 ? null : JSON.stringify([from, LAST_NAME])
}

const LAST_NAME = '\u{10ffff}'
const COMPARED_KEY_BYTES = 18
const COMPARED_KEY_BITS = 8 * COMPARED_KEY_BYTES

/**
 * For keys that are JSON of texts, or, with `isHex`, of bytes in hexadecimal: moves the last one first, then the one
 * before.
 */
export const textKeyBeyond =
  (count: number, isHex = false) =>
  (after: string | null, step: number): string | null => {
    const key = after === null ? Array<string>(count).fill('') : (JSON.parse(after) as string[]).slice(0, count)
    const index = count - 1 - Math.floor(step / COMPARED_KEY_BITS)
    if (index < 0) return null
    const moved = addToKey(key[index]!, 1n << BigInt(step % COMPARED_KEY_BITS), isHex && index === 0)
    return moved === null
      ? textKeyBeyond(count, isHex)(after, step + COMPARED_KEY_BITS - (step % COMPARED_KEY_BITS))
      : JSON.stringify(key.with(index, moved).fill('', index + 1))
  }

/** Null if the result would be longer. */
function addToKey(text: string, difference: bigint, isHex: boolean): string | null {
  const bytes = Buffer.alloc(COMPARED_KEY_BYTES)
  bytes.set(Buffer.from(text, isHex ? 'hex' : 'latin1').subarray(0, COMPARED_KEY_BYTES))
  const moved = BigInt(`0x${bytes.toString('hex')}`) + difference
  const hex = moved.toString(16).padStart(2 * COMPARED_KEY_BYTES, '0')
  if (hex.length > 2 * COMPARED_KEY_BYTES) return null
  return isHex ? hex : Buffer.from(hex, 'hex').toString('latin1')
}
