/** Reads shared rows of SQLite in slices, as JSON: ranges of `redirect` or `presence`, in the order of their keys. */

import type { DatabaseSync } from 'node:sqlite'
import type { DomainName } from '../../../../values/domain-name.ts'
import { JSON_ROW_SEPARATOR } from '../../../shared/json-page.ts'
import { readTransaction } from '../../database/connection.ts'

/** The rows of one key. `middle`: the JSON between name and time, for `presence`. */
export type RowRange = { key: string | Uint8Array; middle?: string }

/** Rows to read: those of the ranges, from `after` (exclusive) in the first one on. `except` is left out. */
export type RowSelection = {
  table: 'redirect' | 'presence'
  ranges: readonly RowRange[]
  after: string
  except: DomainName | null
}

/** The place of a row: the index of its range, and its name. */
export type RowPosition = { range: number; name: DomainName }

/** `json`: from the first name to the end of the last value, in ASCII; null if there is no row. */
export type RowSlice = { count: number; json: string | null }

/** Greater than every name. */
const AFTER_ALL_NAMES = '~'

const TABLES = {
  redirect: { key: 'target', name: 'source', json: 'source' },
  presence: { key: 'address', name: 'name', json: 'name || ?4 || since' },
}

type RangeStatements = ReturnType<typeof prepareRange>

/**
 * Two statements per slice. The first finds its last row, and the row after that one. The second needs neither a limit
 * nor a subquery, which would take a third longer. (A bound offset is written `+?`: SQLite plans a bare one again at
 * every execution.)
 */
function prepareRange(database: DatabaseSync, table: RowSelection['table'], hasExcept: boolean) {
  const { key, name, json } = TABLES[table]
  const except = (parameter: string): string => (hasExcept ? `and ${name} <> ${parameter}` : '')
  const ends = database.prepare(
    `select ${name} from ${table} where ${key} = ?1 and ${name} > ?2 ${except('?4')} order by ${name} limit 2 offset +?3`,
  )
  ends.setReturnArrays(true)
  const rows = database.prepare(
    `select count(*), group_concat(${json}, '${JSON_ROW_SEPARATOR}') from ${table}
     where ${key} = ?1 and ${name} > ?2 and ${name} <= ?3 ${except('?5')}`,
  )
  rows.setReturnArrays(true)
  return { ends, rows }
}

/** Opens readers of one connection. */
export function rowReaders(database: DatabaseSync): (selection: RowSelection) => RowReader {
  const prepared = {
    redirect: prepareRange(database, 'redirect', false),
    presence: prepareRange(database, 'presence', false),
    // only if a name is excluded: one more test per row takes a quarter more time
    others: prepareRange(database, 'presence', true),
  }
  return (selection) => {
    const statements = prepared[selection.except === null ? selection.table : 'others']
    return new RowReader(database, statements, selection)
  }
}

export class RowReader {
  readonly #database: DatabaseSync
  readonly #statements: RangeStatements
  readonly #ranges: readonly RowRange[]
  readonly #except: readonly DomainName[]
  /** The range to read next, and the name before its next row. */
  #range = 0
  #after: string
  /** The last row read. Only a slice that is as long as requested sets it. */
  last: RowPosition | null = null

  constructor(database: DatabaseSync, statements: RangeStatements, { ranges, after, except }: RowSelection) {
    this.#database = database
    this.#statements = statements
    this.#ranges = ranges
    this.#after = after
    this.#except = except === null ? [] : [except]
  }

  /** Whether every range was read to its end. */
  get isAtEnd(): boolean {
    return this.#range === this.#ranges.length
  }

  /** The ranges that are not read to their end, and the index of the first one. */
  remaining(): { ranges: readonly RowRange[]; after: string; firstRange: number } {
    return { ranges: this.#ranges.slice(this.#range), after: this.#after, firstRange: this.#range }
  }

  /** Reads at most `maxRows` rows of one range, from one snapshot. */
  next(maxRows: number): RowSlice {
    const { key, middle } = this.#ranges[this.#range]!
    const { ends, rows } = this.#statements
    return readTransaction(this.#database, () => {
      const found = ends.all(key, this.#after, maxRows - 1, ...this.#except) as unknown as [DomainName][]
      const [[last] = [null], following] = found
      const values = [key, this.#after, last ?? AFTER_ALL_NAMES, ...(middle === undefined ? [] : [middle])]
      const [count, json] = rows.get(...values, ...this.#except) as unknown as [number, string | null]
      if (last !== null) this.last = { range: this.#range, name: last }
      if (following === undefined) this.#range++
      this.#after = following === undefined ? '' : last!
      return { count, json }
    })
  }

  /** Whether another row follows. */
  hasMore(): boolean {
    for (; !this.isAtEnd; this.#range++, this.#after = '') {
      const { key } = this.#ranges[this.#range]!
      if (this.#statements.ends.get(key, this.#after, 0, ...this.#except) !== undefined) return true
    }
    return false
  }
}
