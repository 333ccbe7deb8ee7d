/** CSV (RFC 4180): rows for people who open it in a spreadsheet, and the fields of rows. */

/**
 * A row without a line feed. A spreadsheet runs a text that begins like a formula, so such a text gets an apostrophe.
 */
export function spreadsheetRow(fields: readonly string[]): string {
  return fields.map(spreadsheetField).join()
}

function spreadsheetField(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** A field: quoted with doubled quotes, or without quotes. */
const CSV_FIELD = /(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/gy

/** Returns the fields of a row without a line end, up to the first place that is no CSV. */
export function csvFields(row: string): string[] {
  const fields: string[] = []
  for (const [, quoted, plain] of row.matchAll(CSV_FIELD))
    fields.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'))
  return fields
}
