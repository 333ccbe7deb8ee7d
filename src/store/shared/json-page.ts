/** Joins slices of shared rows to the JSON of a page. Names, addresses and times need no escapes. */

const JSON_ROWS_START = Buffer.from('[{"target":"')
/** The text between two rows. */
export const JSON_ROW_SEPARATOR = '"},{"target":"'
const JSON_ROW_SEPARATOR_BYTES = Buffer.from(JSON_ROW_SEPARATOR)
const JSON_ROWS_END = Buffer.from('"}]')
const JSON_NO_ROWS = Buffer.from('[]')

/** Each slice reaches from its first name to the end of its last value. */
export function joinJsonRows(slices: readonly Uint8Array[]): Uint8Array[] {
  if (slices.length === 0) return [JSON_NO_ROWS]
  return [
    ...slices.flatMap((slice, index) => [index === 0 ? JSON_ROWS_START : JSON_ROW_SEPARATOR_BYTES, slice]),
    JSON_ROWS_END,
  ]
}
