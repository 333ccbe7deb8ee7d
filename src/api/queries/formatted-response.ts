/**
 * Turns the JSON response of an endpoint into NDJSON or CSV: the rows of the endpoints that have any, split without a
 * change to their bytes.
 */

import { yieldToEventLoop } from '../../store/shared/event-loop.ts'
import { spreadsheetRow } from '../../values/csv.ts'
import type { AnyRecord, RecordType } from '../../values/records/dns-record.ts'
import { formatPresentation } from '../../values/records/presentation.ts'
import type { Endpoint, EndpointName } from '../endpoints/endpoint.ts'
import { CERTIFICATE_FIELDS } from '../endpoints/profiles/certificate-fields.ts'
import { NAMING_FIELDS } from '../endpoints/profiles/namedcertificates.ts'
import { VERDICT_FIELDS } from '../endpoints/profiles/web-state.ts'
import { LOOKALIKE_FIELDS } from '../endpoints/search/lookalikes.ts'
import { SEARCH_FIELDS } from '../endpoints/search/search.ts'
import { EVENT_FIELDS } from '../endpoints/watch/events.ts'
import { PREVIEW_FIELDS } from '../endpoints/watch/preview.ts'
import { NDJSON_TYPE, type RowFormat } from '../http/request.ts'
import type { ApiResponse } from '../http/response.ts'
import { textOfBody } from '../http/write-parts.ts'

const QUOTE = 34
const COMMA = 44
const BACKSLASH = 92
const OPENING = [91, 123]
// [ {
const CLOSING = [93, 125]

const CONTENT_TYPES: Readonly<Record<RowFormat, string>> = {
  ndjson: NDJSON_TYPE,
  csv: 'text/csv; charset=utf-8; header=present',
}

/** Rows that are formatted without a break. */
const ROWS_PER_PIECE = 2_000

/** The last keys of a response: the cursor of the next page as JSON text, and the types with more states, if any. */
type PageEnd = { next: string; truncated: string | null }

/**
 * Returns the response in a format. An error, and the response of an endpoint without rows, stays JSON.
 * NDJSON: one line for each row, and a last line `{"end":true,"rows":N,"next":…}`, so that a client notices a response
 * that was cut off. `truncated` lists the record types with older states, if there are any.
 * CSV: a header line and the rows. The cursor is in the header Next-Cursor, and the types in Truncated-Types.
 */
export async function formatResponse(
  endpoint: Endpoint,
  format: RowFormat,
  response: ApiResponse,
): Promise<ApiResponse> {
  const source = rowSourceOf(endpoint.name)
  if (source === null || response.status !== 200) return response
  const text = textOfBody(response.body)
  const body = objectMembers(text)
  const metaText = body.get('meta')
  if (metaText === undefined) return response
  response.release?.()
  const meta = objectMembers(metaText)
  const end: PageEnd = { next: meta.get('next') ?? 'null', truncated: meta.get('truncated') ?? null }
  const { columns, cells } = source
  const linesOf = (row: string): readonly string[] => {
    if (format === 'ndjson') return [row]
    return cells === undefined ? [spreadsheetRow(rowCells(row, columns))] : cells(row).map(spreadsheetRow)
  }
  const { pieces, count } = await joinLines(source.rows(body.get('result')!), linesOf)
  const isCsv = format === 'csv'
  return {
    status: 200,
    body: isCsv ? [`${columns.join()}\n`, ...pieces] : [...pieces, endLine(count, end)],
    headers: [...response.headers, 'Vary', 'Accept', ...(isCsv ? endHeaders(end) : [])],
    type: CONTENT_TYPES[format],
  }
}

async function joinLines(rows: Iterable<string>, linesOf: (row: string) => readonly string[]) {
  const pieces: string[] = []
  let piece = ''
  let count = 0
  for (const row of rows) {
    for (const line of linesOf(row)) piece += `${line}\n`
    if (++count % ROWS_PER_PIECE !== 0) continue
    pieces.push(piece)
    piece = ''
    await yieldToEventLoop()
  }
  return { pieces: [...pieces, piece], count }
}

function endLine(rows: number, { next, truncated }: PageEnd): string {
  return `{"end":true,"rows":${rows},"next":${next}${truncated === null ? '' : `,"truncated":${truncated}`}}\n`
}

function endHeaders({ next, truncated }: PageEnd): string[] {
  const cursor = next === 'null' ? [] : ['Next-Cursor', JSON.parse(next) as string]
  const types = truncated === null ? [] : ['Truncated-Types', (JSON.parse(truncated) as string[]).join(', ')]
  return [...cursor, ...types]
}

type RowSource = {
  /** The rows of the JSON text of `result`, each as JSON text. */
  rows: (result: string) => Iterable<string>
  /** The columns of CSV, which are keys of a row unless `cells` is there. */
  columns: readonly string[]
  /** The lines of CSV of one row. */
  cells?: (row: string) => string[][]
}

type StateRow = { type: RecordType; first_seen: string; records: AnyRecord[] }

/** The rows of each endpoint; null: it has other responses only. A profile of an address has none. */
const ROW_SOURCES: Record<EndpointName, RowSource | null> = {
  lookup: null,
  daily: null,
  snapshot: null,
  redirect: { rows: arrayElements, columns: ['target'] },
  reverseip: { rows: arrayElements, columns: ['target', 'ip', 'since'] },
  similar: { rows: arrayElements, columns: ['target', 'similarity'] },
  ip: { rows: arrayElements, columns: ['target', 'ip', 'first_seen', 'last_seen'] },
  domain: null,
  webhistory: {
    rows: arrayElements,
    columns: ['first_seen', 'last_seen', ...VERDICT_FIELDS, 'redirects_to', 'redirect_host'],
  },
  redirecthistory: { rows: arrayElements, columns: ['target', 'redirect_host', 'first_seen', 'last_seen'] },
  certificate: { rows: arrayElements, columns: ['target', 'first_seen', 'last_seen'] },
  namedcertificates: { rows: arrayElements, columns: NAMING_FIELDS },
  certificatehistory: { rows: arrayElements, columns: ['first_seen', 'last_seen', ...CERTIFICATE_FIELDS] },
  search: { rows: arrayElements, columns: SEARCH_FIELDS },
  registered: { rows: arrayElements, columns: ['name'] },
  dropped: { rows: arrayElements, columns: ['name'] },
  lookalikes: { rows: arrayElements, columns: LOOKALIKE_FIELDS },
  events: { rows: arrayElements, columns: EVENT_FIELDS },
  preview: { rows: arrayElements, columns: PREVIEW_FIELDS },
  pdns: null,
  uses: { rows: arrayElements, columns: ['target', 'type', 'priority', 'first_seen', 'last_seen'] },
  dnshistory: { rows: stateRows, columns: ['type', 'first_seen', 'record'], cells: recordCells },
}

/** Null if the endpoint has no rows. */
export function rowSourceOf(name: EndpointName): RowSource | null {
  return ROW_SOURCES[name]
}

/** The values of a row by column: texts without quotes, numbers with the digits of the JSON text. */
function rowCells(row: string, columns: readonly string[]): string[] {
  const members = objectMembers(row)
  return columns.map((column) => {
    const value = members.get(column) ?? 'null'
    if (value === 'null') return ''
    if (value.startsWith('[')) return listCell(value)
    return value.startsWith('"') ? (JSON.parse(value) as string) : value
  })
}

/** A list as a cell: texts with spaces between them, and objects as the JSON that they are. */
function listCell(text: string): string {
  const list = JSON.parse(text) as unknown[]
  return list.some((each) => typeof each === 'object') ? text : list.join(' ')
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

// ] }

/** The texts of the elements of an array. */
export function* arrayElements(array: string): Generator<string> {
  for (let at = 1; at < array.length - 1; ) {
    const end = valueEnd(array, at)
    yield array.slice(at, end)
    at = end + 1
  }
}

/** The texts of the members of an object by key. Keys have no escapes. */
export function objectMembers(object: string): Map<string, string> {
  const members = new Map<string, string>()
  for (let at = 1; at < object.length - 1; ) {
    const colon = stringEnd(object, at)
    const end = valueEnd(object, colon + 1)
    members.set(object.slice(at + 1, colon - 1), object.slice(colon + 1, end))
    at = end + 1
  }
  return members
}

/** The index after the value that starts at `at`. */
function valueEnd(text: string, at: number): number {
  let depth = 0
  for (let index = at; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) index = stringEnd(text, index) - 1
    else if (OPENING.includes(code)) depth++
    else if (CLOSING.includes(code)) {
      if (depth === 0) return index
      depth--
    } else if (code === COMMA && depth === 0) return index
  }
  return text.length
}

/** The index after the string whose opening quote is at `at`. */
function stringEnd(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes++
    if (escapes % 2 === 0) return end + 1
  }
  return text.length
}
