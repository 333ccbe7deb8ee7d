/** Deletes the rows of replaced segments, a limited number per call, and each segment after its last row. */

import type { Session } from '../database/transaction.ts'

const NEXT_REPLACED_SEGMENT = {
  name: 'replaced-segments.next',
  text: `select number from segment where state = 'replaced' order by number limit 1`,
}
const DELETE_POSTINGS = {
  name: 'replaced-segments.postings',
  text: `with deleted as (
      delete from posting where ctid = any (array(
        select ctid from posting where segment = $1 and (key, document) > ($2, $3) order by key, document limit $4))
      returning key, document)
    select key, document, count(*) over () as count from deleted order by key desc, document desc limit 1`,
}
const DELETE_FREQUENCIES = {
  name: 'replaced-segments.frequencies',
  text: `delete from document_frequency where ctid = any (array(
      select ctid from document_frequency where segment = $1 order by last_term limit $2))`,
}
const DELETE_SEGMENT = { name: 'replaced-segments.segment', text: 'delete from segment where number = $1' }

/** The last removed row of a segment. Removed rows slow down a scan from the first row until they are vacuumed. */
type RemovalPosition = { segment: number; key: number; document: number }
type RemovalStep = { removed: RemovalPosition | null; more: boolean }

/** Runs work in a transaction if the lock is valid, and returns null otherwise. */
type RunIfLockHeld = (work: (session: Session) => Promise<RemovalStep | null>) => Promise<RemovalStep | null>

export function replacedSegmentRemover(): (runIfLockHeld: RunIfLockHeld, limit: number) => Promise<boolean> {
  let before: RemovalPosition | null = null
  return async (runIfLockHeld, limit) => {
    const step = await runIfLockHeld((session) => removeSomeRows(session, before, limit))
    before = step?.removed ?? null
    return step?.more ?? false
  }
}

/** Deletes rows of one segment. */
async function removeSomeRows(
  { rows, run }: Session,
  before: RemovalPosition | null,
  limit: number,
): Promise<RemovalStep> {
  const [next] = await rows<{ number: number }>(NEXT_REPLACED_SEGMENT)
  if (next === undefined) return { removed: null, more: false }
  const segment = next.number
  const from = before?.segment === segment ? before : { segment, key: -1, document: 0 }
  const [last] = await rows<Omit<RemovalPosition, 'segment'> & { count: number }>(DELETE_POSTINGS, [
    segment,
    from.key,
    from.document,
    limit,
  ])
  const removed = last ? { segment, key: last.key, document: last.document } : from
  const left = limit - (last?.count ?? 0)
  if (left === 0 || (await run(DELETE_FREQUENCIES, [segment, left])) === left) return { removed, more: true }
  await run(DELETE_SEGMENT, [segment])
  return { removed: null, more: (await rows(NEXT_REPLACED_SEGMENT)).length > 0 }
}
