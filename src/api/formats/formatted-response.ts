/** Turns the JSON response of an endpoint into NDJSON or CSV. */

import { yieldToEventLoop } from '../../store/shared/event-loop.ts'
import { spreadsheetRow } from '../../values/csv.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { ApiResponse } from '../http/response.ts'
import { textOfBody } from '../http/write-parts.ts'
import { objectMembers } from './json-text.ts'
import { NDJSON_TYPE, type RowFormat } from './negotiation.ts'
import { ROW_SOURCES, rowCells } from './row-formats.ts'

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
  const source = ROW_SOURCES[endpoint.name]
  if (source === undefined || response.status !== 200) return response
  const body = objectMembers(textOfBody(response.body))
  response.release?.()
  const meta = objectMembers(body.get('meta')!)
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
