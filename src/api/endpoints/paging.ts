/** Reads the cursor in `next` and signs the one for `meta.next`. */

import { ApiError } from '../http/errors.ts'
import { readTextParameter } from '../http/parameters.ts'
import { signCursor, verifyCursor } from '../signing/cursor.ts'
import type { EndpointCall, EndpointName } from './endpoint.ts'

/** The query to which a cursor must belong. `type` null: any record type. */
export type CursorScope = { endpoint: EndpointName; query: string; type: string | null }

/** The position in a cursor. Its format is up to the endpoint. */
type CursorPosition = { position: string; type: string }

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

/** The position in `next` for a page of the inverse index; null for the first page. Throws as `readCursorPosition`. */
export function readIndexPosition(call: EndpointCall, scope: CursorScope): Uint8Array | null {
  const next = readNextParameter(call)
  return next === null ? null : Buffer.from(readCursorPosition(call, next, scope).position, 'base64url')
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
