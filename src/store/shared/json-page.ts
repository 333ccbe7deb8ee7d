/** Joins slices of shared rows to the JSON of a page. Names, addresses and times need no escapes, and are ASCII. */

import type { IpAddress } from '../../values/ip-address.ts'

const JSON_ROWS_START = '[{"target":"'
/** The text between two rows. */
export const JSON_ROW_SEPARATOR = '"},{"target":"'
const JSON_ROWS_END = '"}]'
const JSON_NO_ROWS = '[]'

/** The text between the name and the time of a row of a page of neighbours. */
export function neighbourMiddle(address: IpAddress): string {
  return `","ip":"${address}","since":"`
}

/**
 * Returns the JSON array in pieces. Each slice reaches from its first name to the end of its last value. `rest`: the
 * bytes of further slices, already joined.
 */
export function joinJsonRows(slices: readonly string[], rest: readonly Uint8Array[] = []): (string | Uint8Array)[] {
  if (slices.length === 0 && rest.length === 0) return [JSON_NO_ROWS]
  const text = slices.length === 1 ? slices[0]! : slices.join(JSON_ROW_SEPARATOR)
  if (rest.length === 0) return [JSON_ROWS_START, text, JSON_ROWS_END]
  return [JSON_ROWS_START, text, slices.length === 0 ? '' : JSON_ROW_SEPARATOR, ...rest, JSON_ROWS_END]
}
