/** Continues the check after damaged rows: checks the readable rows one by one and reports the unreadable ranges. */

import type { CheckPart } from './sequence.ts'
import { CHECK_SLICE_ROWS, type CheckSlice } from './slice.ts'

/** A column of a key. `slot` and `part` are small numbers, `hex` is bytes in hexadecimal. */
export type KeyColumn = 'number' | 'slot' | 'part' | 'text' | 'hex'

/** One part of the check: its rows after a key, at most `limit`. A key is the JSON array of the values of `columns`. */
export type CheckedTable = {
  name: string
  /** In the order in which rows are read. Without columns, everything is checked at once. */
  columns: readonly KeyColumn[]
  check(after: string | null, limit: number): CheckSlice | Promise<CheckSlice>
}

/** Returns the message of an error that concerns the data, and throws any other error. */
export type DamageMessage = (error: unknown) => string

const LIMIT_DIVISOR = 8
const OUT_OF_ORDER = 'its keys are out of order'

/**
 * Runs a part of the check and skips damaged rows. Throws errors that are not damage. `isTooLong`: whether an error says
 * that the slice took too long. Then this one and the following ones have fewer rows.
 */
export function skippingDamage(
  { name, columns, check }: CheckedTable,
  damageMessage: DamageMessage,
  isTooLong: (error: unknown) => boolean = () => false,
): CheckPart {
  let maxRows = CHECK_SLICE_ROWS
  /** Slices that stay small after a damaged one, because the next ones may need the damaged rows too, and how many next. */
  let [smallSlices, nextSmallSlices] = [0, 1]
  const read = async (after: string | null, limit: number): Promise<CheckSlice | string> => {
    try {
      const slice = await check(after, limit)
      // damaged keys may lead back to the start of the slice, and the check would never end
      return after !== null && slice.last !== null && !isBeyond(slice.last, after) ? OUT_OF_ORDER : slice
    } catch (error) {
      if (limit === 1 || !isTooLong(error)) return damageMessage(error)
      maxRows = Math.min(maxRows, Math.ceil(limit / LIMIT_DIVISOR))
      return 'it takes too long'
    }
  }
  return async (after) => {
    let damage = ''
    const isSmall = smallSlices-- > 0
    const first = isSmall ? Math.ceil(maxRows / LIMIT_DIVISOR) : maxRows
    for (let limit = first; limit > 0; limit = limit === 1 ? 0 : Math.ceil(limit / LIMIT_DIVISOR)) {
      const slice = await read(after, limit)
      if (!isSmall && limit === first) {
        nextSmallSlices = typeof slice === 'string' ? 2 * nextSmallSlices : 1
        smallSlices = typeof slice === 'string' ? nextSmallSlices : 0
      }
      if (typeof slice !== 'string') return slice
      damage = slice
    }
    const unreadable = (upTo: string | null) => ({
      table: name,
      key: after ?? 'its start',
      problem: `cannot be read after this key${upTo === null ? '' : `, up to ${upTo}`}: ${damage}`,
    })
    for (let step = 0; ; step++) {
      const from = keyBeyond(columns, after, step)
      if (from === null) return { faults: [unreadable(null)], checked: 0, last: null }
      const slice = await read(from, 1)
      if (typeof slice !== 'string') return { ...slice, faults: [unreadable(from), ...slice.faults] }
    }
  }
}

/** Whether a key is greater than another one. */
function isBeyond(key: string, after: string): boolean {
  const [keyValues, afterValues] = [JSON.parse(key), JSON.parse(after)] as [unknown[], unknown[]]
  const index = keyValues.findIndex((value, position) => value !== afterValues[position])
  if (index < 0) return false
  const [keyValue, afterValue] = [keyValues[index], afterValues[index]]
  if (typeof keyValue === 'number' && typeof afterValue === 'number') return keyValue > afterValue
  return Buffer.compare(Buffer.from(String(keyValue)), Buffer.from(String(afterValue))) > 0
}

/** Bytes of a text that determine how far it is moved. */
const COMPARED_BYTES = 18
/** How often a column is moved: a number each time twice as far, a text each time by four more bits. */
const STEPS: Record<KeyColumn, number> = {
  number: 53,
  slot: 16,
  part: 11,
  text: 2 * COMPARED_BYTES,
  hex: 2 * COMPARED_BYTES,
}

/**
 * A key beyond `after` that grows with `step`: moves the last column first, then the one before. Null beyond the last
 * possible key.
 */
export function keyBeyond(columns: readonly KeyColumn[], after: string | null, step: number): string | null {
  const key = after === null ? columns.map(firstValue) : (JSON.parse(after) as (string | number)[])
  let remaining = step
  for (let index = columns.length - 1; index >= 0; index--) {
    const column = columns[index]!
    const moved = remaining < STEPS[column] ? moveValue(column, key[index]!, remaining) : null
    if (moved !== null)
      return JSON.stringify([...key.slice(0, index), moved, ...columns.slice(index + 1).map(firstValue)])
    remaining = Math.max(0, remaining - STEPS[column])
  }
  return null
}

function firstValue(column: KeyColumn): string | number {
  return column === 'text' || column === 'hex' ? '' : -1
}

/** Null if the result would be longer. A text contains no NUL, because PostgreSQL rejects it. */
function moveValue(column: KeyColumn, value: string | number, step: number): string | number | null {
  if (typeof value === 'number') return value + 2 ** step
  const bytes = Buffer.alloc(COMPARED_BYTES)
  bytes.set(Buffer.from(value, column === 'hex' ? 'hex' : 'latin1').subarray(0, COMPARED_BYTES))
  const distance = 1n << BigInt(4 * step)
  const hex = ((BigInt(`0x${bytes.toString('hex')}`) + distance) | (distance - 1n)).toString(16)
  if (hex.length > 2 * COMPARED_BYTES) return null
  const padded = hex.padStart(2 * COMPARED_BYTES, '0')
  return column === 'hex' ? padded : Buffer.from(padded, 'hex').toString('latin1').replaceAll('\0', '\x01')
}
