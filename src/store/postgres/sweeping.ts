/** Sweeping: the rows of segments that no longer answer go, some at a time, and each segment after its last one. */

import type { Session } from './writer.ts'

const NEXT = {
  name: 'sweeping.next',
  text: `select number from segment where state = 'replaced' order by number limit 1`,
}
const POSTINGS = {
  name: 'sweeping.postings',
  text: `with swept as (
      delete from posting where ctid = any (array(
        select ctid from posting where segment = $1 and (place, wording) > ($2, $3) order by place, wording limit $4))
      returning place, wording)
    select place, wording, count(*) over () as count from swept order by place desc, wording desc limit 1`,
}
const FREQUENCIES = {
  name: 'sweeping.frequencies',
  text: `delete from frequency where ctid = any (array(
      select ctid from frequency where segment = $1 order by last limit $2))`,
}
const SEGMENT = { name: 'sweeping.segment', text: 'delete from segment where number = $1' }

/** How far a segment is swept: the rows taken away stay in the way of whoever begins at the first, until they are vacuumed. */
type Swept = { segment: number; place: number; wording: number }
type Step = { swept: Swept | null; more: boolean }

/** `held` runs work in a transaction where the hold stands, and returns null where it does not. */
type Held = (work: (session: Session) => Promise<Step | null>) => Promise<Step | null>

export function sweeper(): (held: Held, limit: number) => Promise<boolean> {
  let before: Swept | null = null
  return async (held, limit) => {
    const step = await held((session) => sweepOne(session, before, limit))
    before = step?.swept ?? null
    return step?.more ?? false
  }
}

/** Rows of one segment. */
async function sweepOne({ rows, run }: Session, before: Swept | null, limit: number): Promise<Step> {
  const [next] = await rows<{ number: number }>(NEXT)
  if (next === undefined) return { swept: null, more: false }
  const segment = next.number
  const from = before?.segment === segment ? before : { segment, place: -1, wording: 0 }
  const [last] = await rows<Omit<Swept, 'segment'> & { count: number }>(POSTINGS, [
    segment,
    from.place,
    from.wording,
    limit,
  ])
  const swept = last ? { segment, place: last.place, wording: last.wording } : from
  const left = limit - (last?.count ?? 0)
  if (left === 0 || (await run(FREQUENCIES, [segment, left])) === left) return { swept, more: true }
  await run(SEGMENT, [segment])
  return { swept: null, more: (await rows(NEXT)).length > 0 }
}
