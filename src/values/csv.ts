/** CSV (RFC 4180) for people who open it in a spreadsheet. */

/** A row without a line feed. A spreadsheet runs a text that begins like a formula, so such a text gets an apostrophe. */
export function spreadsheetRow(fields: readonly string[]): string {
  return fields.map(spreadsheetField).join()
}

function spreadsheetField(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
