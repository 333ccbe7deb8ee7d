/** Pages of rows: reads `limit` and the cursor in `next`, writes `meta` with the cursor of the next page. */

import { ApiError } from '../http/errors.ts'
import { readLimitParameter, readTextParameter } from '../http/parameters.ts'
import { signCursor, verifyCursor } from '../signing/cursor.ts'
import type { EndpointCall, EndpointName } from './endpoint.ts'
import { DEFAULT_PAGE_ROWS } from './schema.ts'

/** The errors of the cursor in `next`, in the order in which they are found. */
export const CURSOR_ERRORS = ['cursor_invalid', 'cursor_expired', 'cursor_mismatch'] as const

/** The query to which a cursor must belong. `type` null: any record type. */
export type CursorScope = { endpoint: EndpointName; query: string; type: string | null }

/** The position in a cursor. Its format is up to the endpoint. */
type CursorPosition = { position: string; type: string }

/** A requested page: at most `limit` rows after `position`, the text in its cursor, which is null for the first page. */
export type RequestedPage = {
  call: EndpointCall
  scope: CursorScope
  limit: number
  maxLimit: number
  position: string | null
}

/**
 * Reads the parameters `limit` and `next`. `query`: what the cursor must belong to. `limits`: the default and the maximum
 * of `limit`. Throws as `readCursorPosition`.
 */
export function readPage(
  call: EndpointCall,
  endpoint: EndpointName,
  query: string,
  limits = { fallback: DEFAULT_PAGE_ROWS, max: call.caller.limits.pageRows },
): RequestedPage {
  const scope: CursorScope = { endpoint, query, type: '' }
  const limit = readLimitParameter(call.parameters, limits.fallback, limits.max)
  const next = readNextParameter(call)
  const position = next === null ? null : readCursorPosition(call, next, scope).position
  return { call, scope, limit, maxLimit: limits.max, position }
}

/**
 * The start of a body, up to its rows: `meta` with `about`, its members about the query, and those of `PageMetaSchemas`.
 * `next`: the position of the next page; null if none follows.
 */
export function pageHead(
  { call, scope, limit, maxLimit }: RequestedPage,
  about: readonly string[],
  next: string | null,
): string {
  const paging = `"limit":${limit},"max_limit":${maxLimit},"rcode":200,"msg":"ok","next":${nextCursor(call, scope, next)}`
  return `{"meta":{${[...about, paging].join()}},"result":`
}

/** The body with rows in JSON; the other parameters are those of `pageHead`. */
export function pageBody(
  page: RequestedPage,
  about: readonly string[],
  rows: readonly string[],
  next: string | null,
): string[] {
  return [`${pageHead(page, about, next)}[${rows.join()}]}`]
}

/** The text of `next`; null for the first page. */
export function readNextParameter({ parameters }: EndpointCall): string | null {
  return readTextParameter(parameters, 'next', 'cursor_invalid')
}

/** The position in a cursor. Throws `cursor_invalid`, `cursor_expired` and `cursor_mismatch`, in this order. */
export function readCursorPosition({ keys, caller }: EndpointCall, next: string, scope: CursorScope): CursorPosition {
  const cursor = verifyCursor(keys, next, caller.now)
  if (typeof cursor === 'string') throw new ApiError(cursor)
  const matches =
    cursor.endpoint === scope.endpoint &&
    cursor.query === scope.query &&
    (scope.type === null || cursor.type === scope.type)
  if (!matches) throw new ApiError('cursor_mismatch')
  return cursor
}

/** The position in the inverse index of the text in a cursor; null for the first page. */
export function parseIndexPosition(text: string | null): Uint8Array | null {
  return text === null ? null : Buffer.from(text, 'base64url')
}

/** The text in a cursor of a position in the inverse index; null if no page follows. */
export function indexPositionText(position: Uint8Array | null): string | null {
  return position && Buffer.from(position).toString('base64url')
}

/** The cursor for the page after `position`, as JSON; `null` if no page follows. */
export function nextCursor(call: EndpointCall, scope: CursorScope, position: string | null): string {
  return position === null ? 'null' : `"${signNextCursor(call, scope, position)}"`
}

/** The cursor for the page after `position`. */
export function signNextCursor({ keys, caller }: EndpointCall, scope: CursorScope, position: string): string {
  const { endpoint, query, type } = scope
  return signCursor(keys, { endpoint, query, type: type ?? '', position, issued: caller.now })
}
