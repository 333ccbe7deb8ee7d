/** Writes rows on standard output: a table on a terminal, JSON Lines otherwise, or the format that an option names. */

import { once } from 'node:events'
import { styleText } from 'node:util'
import { UsageFault } from '../../config/command-fault.ts'
import { spreadsheetRow } from '../../values/csv.ts'
import { terminalJson, terminalText } from '../program/output.ts'

export type Row = Readonly<Record<string, unknown>>

/** `add` returns the lines that are complete, `end` the rest. */
type RowLines = { add: (rows: readonly Row[]) => string[]; end: () => string[] }

/** The rows of CSV and tables that a row makes. */
type SplitRow = (row: Row) => readonly Row[]

/** Rows of a table that are kept to find the widths of its columns. */
const MAX_KEPT_ROWS = 200

const nothing = (): string[] => []

/**
 * The rows of a command. `fields`: the keys of a row in JSON. `columns`: those of CSV and of a table. `tableColumns`:
 * those that a table shows without --fields, if it does not show all. `split`: the rows of CSV and of a table that a row
 * makes; by default it is one itself.
 */
export type RowShape = {
  fields: readonly string[]
  columns: readonly string[]
  tableColumns?: readonly string[]
  split?: SplitRow
}

export type OutputOptions = { json?: true; csv?: true; fields?: string }

/**
 * `write` resolves when the reader of standard output has kept up. `end` writes what is kept, and nothing a second
 * time.
 */
export type RowWriter = { write: (rows: readonly Row[]) => Promise<void>; end: () => Promise<void> }

/**
 * `isSingle`: one row is expected, so a terminal gets a line for each field. Throws UsageFault for an unknown field.
 */
export function openRowWriter(shape: RowShape, options: OutputOptions, isSingle = false): RowWriter {
  const lines = openLines(shape, options, isSingle)
  return { write: (rows) => writeLines(lines.add(rows)), end: () => writeLines(lines.end()) }
}

/** Whether the rows are for a program: JSON has the keys of the specification and no others. */
export function isJsonOutput({ json, csv }: OutputOptions): boolean {
  return !csv && (json === true || process.stdout.isTTY !== true)
}

function openLines(shape: RowShape, options: OutputOptions, isSingle: boolean): RowLines {
  const { csv, fields: text } = options
  const { split = (row) => [row], columns, tableColumns = columns } = shape
  if (isJsonOutput(options)) return jsonLines(chosenFields(shape.fields, text))
  const chosen = chosenFields(columns, text)
  if (csv) return csvLines(chosen, split, process.stdout.isTTY === true)
  if (text !== undefined) return tableLines(chosen, split)
  return isSingle ? fieldLines(columns) : tableLines(tableColumns, split)
}

function chosenFields(known: readonly string[], text: string | undefined): readonly string[] {
  if (text === undefined) return known
  const fields = text.split(',').map((field) => field.trim())
  const unknown = fields.find((field) => !known.includes(field))
  if (unknown === undefined) return fields
  throw new UsageFault(`--fields: there is no field "${unknown}"; choose from ${known.join(',')}`)
}

async function writeLines(lines: readonly string[]): Promise<void> {
  if (lines.length > 0 && !process.stdout.write(`${lines.join('\n')}\n`)) await once(process.stdout, 'drain')
}

/** A line for each row, without the fields that it lacks. */
export function jsonLines(fields: readonly string[]): RowLines {
  const pick = (row: Row): Row =>
    Object.fromEntries(fields.filter((field) => row[field] !== undefined).map((field) => [field, row[field]]))
  return { add: (rows) => rows.map((row) => terminalJson(pick(row))), end: nothing }
}

/** CSV with a header before the first row. With `isTerminal`, it shows control characters instead of sending them. */
function csvLines(fields: readonly string[], split: SplitRow, isTerminal: boolean): RowLines {
  const header = [fields.join()]
  const safe = isTerminal ? terminalText : (text: string) => text
  const lineOf = (row: Row): string => spreadsheetRow(fields.map((field) => safe(cellText(row[field]))))
  return { add: (rows) => [...header.splice(0), ...rows.flatMap(split).map(lineOf)], end: nothing }
}

/** A table with a header. Columns are as wide as their widest cell so far. */
function tableLines(fields: readonly string[], split: SplitRow): RowLines {
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
function fieldLines(fields: readonly string[]): RowLines {
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
