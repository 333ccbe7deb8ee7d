/** Formats rows as lines of text: JSON Lines, CSV, a table, or one field per line. */

import { styleText } from 'node:util'
import { spreadsheetRow } from '../../values/csv.ts'
import { terminalJson, terminalText } from '../program/terminal-text.ts'

export type Row = Readonly<Record<string, unknown>>

/** `add` returns the lines that are complete, `end` the rest. */
export type RowLines = { add: (rows: readonly Row[]) => string[]; end: () => string[] }

/** The rows of CSV and tables that a row makes. */
export type SplitRow = (row: Row) => readonly Row[]

/** Rows of a table that are kept to find the widths of its columns. */
const MAX_KEPT_ROWS = 200

const nothing = (): string[] => []

/** A line for each row, without the fields that it lacks. */
export function jsonLines(fields: readonly string[]): RowLines {
  const pick = (row: Row): Row =>
    Object.fromEntries(fields.filter((field) => row[field] !== undefined).map((field) => [field, row[field]]))
  return { add: (rows) => rows.map((row) => terminalJson(pick(row))), end: nothing }
}

/** CSV with a header before the first row. With `isTerminal`, it shows control characters instead of sending them. */
export function csvLines(fields: readonly string[], split: SplitRow, isTerminal: boolean): RowLines {
  const header = [fields.join()]
  const safe = isTerminal ? terminalText : (text: string) => text
  const lineOf = (row: Row): string => spreadsheetRow(fields.map((field) => safe(cellText(row[field]))))
  return { add: (rows) => [...header.splice(0), ...rows.flatMap(split).map(lineOf)], end: nothing }
}

/** A table with a header. Columns are as wide as their widest cell so far. */
export function tableLines(fields: readonly string[], split: SplitRow): RowLines {
  const widths = fields.map(() => 0)
  let kept: string[][] = []
  let isStarted = false
  const add = (cells: string[]): void => {
    kept.push(cells)
    for (const [at, cell] of cells.entries()) widths[at] = Math.max(widths[at]!, cell.length)
  }
  const lineOf = (cells: string[]): string =>
    cells
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join('  ')
      .trimEnd()
  const takeLines = (): string[] => {
    const lines = kept.map(lineOf)
    kept = []
    if (!isStarted && lines.length > 0) lines[0] = styleText('bold', lines[0]!)
    isStarted ||= lines.length > 0
    return lines
  }
  return {
    add(rows) {
      if (!isStarted && kept.length === 0 && rows.length > 0) add(fields.map((field) => field.toUpperCase()))
      for (const row of rows.flatMap(split)) add(fields.map((field) => shownText(row[field])))
      return kept.length > MAX_KEPT_ROWS ? takeLines() : []
    },
    end: takeLines,
  }
}

/** A line for each field of a row. */
export function fieldLines(fields: readonly string[]): RowLines {
  const width = Math.max(...fields.map((field) => field.length)) + 2
  const lineOf = (row: Row, field: string): string =>
    `${styleText('bold', field.padEnd(width))}${shownText(row[field])}`.trimEnd()
  return { add: (rows) => rows.flatMap((row) => fields.map((field) => lineOf(row, field))), end: nothing }
}

/** The text of a value on a terminal. Null: what nobody has observed. */
function shownText(value: unknown): string {
  return value === null ? 'never observed' : terminalText(cellText(value))
}

/** The text of a value in a cell. A list has its elements separated by blanks, and an account is its address. */
function cellText(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (Array.isArray(value)) return value.map(cellText).join(' ')
  return typeof value === 'object' && 'url' in value ? String(value.url) : String(value)
}
