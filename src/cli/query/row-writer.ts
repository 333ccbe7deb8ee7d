/** Writes rows on standard output: a table on a terminal, JSON Lines otherwise, or the format that an option names. */

import { once } from 'node:events'
import { UsageFault } from '../../config/command-fault.ts'
import { csvLines, fieldLines, jsonLines, type Row, type RowLines, type SplitRow, tableLines } from './row-lines.ts'

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

/** `write` resolves when the reader of standard output has kept up. `end` writes what is kept, and nothing a second time. */
export type RowWriter = { write: (rows: readonly Row[]) => Promise<void>; end: () => Promise<void> }

/** `isSingle`: one row is expected, so a terminal gets a line for each field. Throws UsageFault for an unknown field. */
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
