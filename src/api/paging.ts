/** Where a walk goes on: reads the cursor in `next` and seals the one for `meta.next`. */

import { openCursor, sealCursor } from './cursor.ts'
import type { Call, EndpointName } from './endpoint.ts'
import { Refusal } from './errors.ts'
import { readText } from './parameters.ts'

/** The walk that a cursor must belong to. `type` null: whatever record type the cursor names. */
export type Walk = { endpoint: EndpointName; query: string; type: string | null }

/** A place in a walk that a cursor named; its position is whatever the endpoint put there. */
export type Place = { position: string; type: string }

/** The text of `next`; null for the first page. */
export function readNext({ parameters }: Call): string | null {
  return readText(parameters, 'next', 'cursor_invalid')
}

/** The place that a cursor names. Throws `cursor_invalid`, `cursor_expired` and `cursor_mismatch`, in this order. */
export function placeOf({ keys, caller }: Call, next: string, walk: Walk): Place {
  const cursor = openCursor(keys, next, caller.now)
  if (typeof cursor === 'string') throw new Refusal(cursor)
  const belongs =
    cursor.endpoint === walk.endpoint &&
    cursor.query === walk.query &&
    (walk.type === null || cursor.type === walk.type)
  if (!belongs) throw new Refusal('cursor_mismatch')
  return cursor
}

/** The cursor for the page after `position`, as JSON; null where no page follows. */
export function nextOf({ keys, caller }: Call, walk: Walk, position: string | null): string {
  if (position === null) return 'null'
  const { endpoint, query, type } = walk
  return `"${sealCursor(keys, { endpoint, query, type: type ?? '', position, issued: caller.now })}"`
}
