/** Damages one row of a store at random, as a disk or a person may: seeded, and the same on every engine. */

/** A value of a column. */
export type Value = string | number | null | Uint8Array
export type Row = Record<string, Value>
/** A table with its rows. `key`: the columns of the primary key. `before`: rows of an older version of the store. */
export type DamagedTable = { name: string; key: readonly string[]; rows: readonly Row[]; before: readonly Row[] }

/** A change of rows, each by its key: removed, then added as they are. */
export type RowDamage = { what: string; removed: readonly Row[]; added: readonly Row[] }

export const DAMAGE_KINDS = [
  'a changed value',
  'a deleted row',
  'an added row',
  'swapped values',
  'an older row',
] as const
export type DamageKind = (typeof DAMAGE_KINDS)[number]

/** Returns a number from 0 to below `limit`. */
export type RandomInt = (limit: number) => number

/** Damage of a kind to a table; null if the table cannot have it. */
export function rowDamage(kind: DamageKind, table: DamagedTable, random: RandomInt): RowDamage | null {
  const { name, rows, key, before } = table
  if (rows.length === 0) return null
  const row = rows[random(rows.length)]!
  const columns = Object.keys(row)
  const column = columns[random(columns.length)]!
  if (kind === 'a deleted row') return { what: name, removed: [row], added: [] }
  if (kind === 'an added row') {
    const changed = key[random(key.length)]!
    const value = otherValue(row[changed]!, random)
    return value === null ? null : { what: `${name}.${changed}`, removed: [], added: [{ ...row, [changed]: value }] }
  }
  if (kind === 'a changed value') {
    const value = otherValue(row[column]!, random)
    return value === null ? null : { what: `${name}.${column}`, removed: [row], added: [{ ...row, [column]: value }] }
  }
  if (kind === 'an older row') {
    const older = before.filter((each) => rows.some((now) => isSame(each, now, key) && !isSame(each, now, columns)))
    if (older.length === 0) return null
    const chosen = older[random(older.length)]!
    return { what: name, removed: [rows.find((now) => isSame(now, chosen, key))!], added: [chosen] }
  }
  const others = rows.filter((each) => !isSame(each, row, [column]))
  if (others.length === 0) return null
  const other = others[random(others.length)]!
  const swapped = [
    { ...row, [column]: other[column]! },
    { ...other, [column]: row[column]! },
  ]
  return { what: `${name}.${column}`, removed: [row, other], added: swapped }
}

function isSame(a: Row, b: Row, columns: readonly string[]): boolean {
  const text = (value: Value | undefined): unknown =>
    value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value
  return columns.every((column) => text(a[column]) === text(b[column]))
}

/** One bit or character differs; null if the value has none. */
function otherValue(value: Value, random: RandomInt): Value {
  if (value === null) return null
  if (typeof value === 'number') return value ^ (1 << random(8)) || value + 1
  if (value.length === 0) return null
  const at = random(value.length)
  if (typeof value === 'string') {
    const code = value.charCodeAt(at)
    return value.slice(0, at) + String.fromCharCode(code === 0x7a ? 0x61 : code + 1) + value.slice(at + 1)
  }
  const bytes = Uint8Array.from(value)
  bytes[at]! ^= 1 << random(8)
  return bytes
}
