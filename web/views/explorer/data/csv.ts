/** Rows as CSV (RFC 4180), and downloads of texts that the page already has. */

import { spreadsheetRow } from '../../../../src/values/csv.ts'

export type CsvRow = Record<string, string | number>

/** The first row has the names of the columns. */
export function csvOf(rows: readonly CsvRow[]): string {
  const [first] = rows
  if (first === undefined) return ''
  const columns = Object.keys(first)
  const lines = rows.map((row) => spreadsheetRow(columns.map((column) => String(row[column] ?? ''))))
  return `${columns.join(',')}\n${lines.join('\n')}\n`
}

/** Lets the browser save a text as a file. */
export function saveText(filename: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = filename
  link.click()
  URL.revokeObjectURL(url)
}
