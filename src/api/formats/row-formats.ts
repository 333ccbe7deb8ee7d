/** The rows of the endpoints whose responses are also available as NDJSON and CSV. */

import type { AnyRecord, RecordType } from '../../values/records/dns-record.ts'
import { formatPresentation } from '../../values/records/presentation.ts'
import type { EndpointName } from '../endpoints/endpoint.ts'
import { arrayElements, objectMembers } from './json-text.ts'

type RowSource = {
  /** The rows of the JSON text of `result`, each as JSON text. */
  rows: (result: string) => Iterable<string>
  /** The columns of CSV, which are keys of a row unless `cells` is there. */
  columns: readonly string[]
  /** The lines of CSV of one row. */
  cells?: (row: string) => string[][]
}

type StateRow = { type: RecordType; first_seen: string; records: AnyRecord[] }

/** The endpoints by name. Those without an entry have JSON only. */
export const ROW_SOURCES: Partial<Record<EndpointName, RowSource>> = {
  redirect: { rows: arrayElements, columns: ['target'] },
  reverseip: { rows: arrayElements, columns: ['target', 'ip', 'since'] },
  similar: { rows: arrayElements, columns: ['target', 'similarity'] },
  dnshistory: { rows: stateRows, columns: ['type', 'first_seen', 'record'], cells: recordCells },
}

/** The values of a row by column: texts without quotes, numbers with the digits of the JSON text. */
export function rowCells(row: string, columns: readonly string[]): string[] {
  const members = objectMembers(row)
  return columns.map((column) => {
    const value = members.get(column) ?? ''
    return value.startsWith('"') ? (JSON.parse(value) as string) : value
  })
}

/** The states of all types, each with its type as the first key. */
function* stateRows(result: string): Generator<string> {
  for (const [type, states] of objectMembers(result)) {
    for (const state of arrayElements(states)) yield `{"type":"${type}",${state.slice(1)}`
  }
}

/** One line for each record in presentation form. A state without records has one line with an empty record. */
function recordCells(row: string): string[][] {
  const { type, first_seen, records } = JSON.parse(row) as StateRow
  if (records.length === 0) return [[type, first_seen, '']]
  return records.map((record) => [type, first_seen, formatPresentation(type, record)])
}
