/** Writes rows on standard output: as JSON Lines, CSV, or aligned columns for a terminal. */

import { once } from 'node:events'
import { styleText } from 'node:util'
import { UsageFault } from '../../config/command-fault.ts'
import { spreadsheetRow } from '../../values/csv.ts'
import { alignedColumns } from '../account/print.ts'
import { terminalJson, terminalText } from './terminal-text.ts'

export type Row = Readonly<Record<string, unknown>>

/**
 * The rows of a command. `fields`: the keys of a row in JSON. `columns`: those of CSV and of a table. `tableColumns`:
 * those that a table shows without --fields, if it does not show all. `toLines`: the lines of CSV and of a table that a
 * row makes; by default it is one itself.
 */
export type RowShape = {
  fields: readonly string[]
  columns: readonly string[]
  tableColumns?: readonly string[]
  toLines?: (row: Row) => readonly Row[]
}

export type OutputOptions = { json?: true; csv?: true; fields?: string }
export type OutputFormat = 'json' | 'csv' | 'table'

export type RowWriter = { readonly format: OutputFormat; write: (rows: readonly Row[]) => Promise<void> }

/** A table on a terminal, JSON Lines otherwise, unless an option names the format. */
export function outputFormat({ json, csv }: OutputOptions): OutputFormat {
  if (csv) return 'csv'
  return json || !process.stdout.isTTY ? 'json' : 'table'
}

/** `isSingle`: one row is expected, so a table shows a line for each field. Throws UsageFault for an unknown field. */
export function openRowWriter(shape: RowShape, options: OutputOptions, isSingle = false): RowWriter {
  const format = outputFormat(options)
  const fields = chosenFields(format === 'json' ? shape.fields : shape.columns, options.fields)
  const { toLines = (row) => [row], tableColumns = fields } = shape
  const linesOf = {
    json: (rows) => rows.map((row) => terminalJson(pick(row, fields))),
    csv: csvLines(fields, toLines),
    table:
      options.fields !== undefined
        ? tableLines(fields, toLines)
        : isSingle
          ? recordLines(fields)
          : tableLines(tableColumns, toLines),
  } satisfies Record<OutputFormat, (rows: readonly Row[]) => string[]>
  return {
    format,
    async write(rows) {
      const lines = linesOf[format](rows)
      if (lines.length > 0 && !process.stdout.write(`${lines.join('\n')}\n`)) await once(process.stdout, 'drain')
    },
  }
}

function chosenFields(known: readonly string[], text: string | undefined): readonly string[] {
  if (text === undefined) return known
  const fields = text.split(',').map((field) => field.trim())
  const unknown = fields.find((field) => !known.includes(field))
  if (unknown === undefined) return fields
  throw new UsageFault(`--fields: there is no field "${unknown}"; choose from ${known.join(',')}`)
}

function pick(row: Row, fields: readonly string[]): Row {
  return Object.fromEntries(fields.filter((field) => row[field] !== undefined).map((field) => [field, row[field]]))
}

/** The text of a value in a cell. A list has its elements separated by blanks, and an account is its address. */
function cellText(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (Array.isArray(value)) return value.map(cellText).join(' ')
  return typeof value === 'object' && 'url' in value ? String(value.url) : String(value)
}

type LinesOf = (rows: readonly Row[]) => string[]

/** With a header before the first row. A terminal gets no control characters, a file gets the values as they are. */
function csvLines(fields: readonly string[], toLines: (row: Row) => readonly Row[]): LinesOf {
  const header = [fields.join()]
  return (rows) => {
    const lines = rows.flatMap(toLines).map((row) => spreadsheetRow(fields.map((field) => csvCell(row[field]))))
    return [...header.splice(0), ...lines]
  }
}

function csvCell(value: unknown): string {
  const text = cellText(value)
  return process.stdout.isTTY ? terminalText(text) : text
}

function tableLines(fields: readonly string[], toLines: (row: Row) => readonly Row[]): LinesOf {
  let header = [fields.map((field) => field.toUpperCase())]
  return (rows) => {
    if (rows.length === 0) return []
    const head = header
    header = []
    const cells = rows.flatMap(toLines).map((row) => fields.map((field) => terminalText(cellText(row[field]))))
    const lines = alignedColumns([...head, ...cells])
    return lines.map((line, at) => (at < head.length ? styleText('bold', line) : line))
  }
}

function recordLines(fields: readonly string[]): LinesOf {
  const width = Math.max(...fields.map((field) => field.length)) + 2
  return (rows) =>
    rows.flatMap((row) =>
      fields.map((field) => `${styleText('bold', field.padEnd(width))}${terminalText(cellText(row[field]))}`.trimEnd()),
    )
}
