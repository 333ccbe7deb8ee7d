/** The roll of the processes that take units: who was heard of, and what becomes of who was not. */

import { callRoll, type Roll, SILENCE, type Silence } from '../../../accounts/budget.ts'
import type { Instant } from '../../../words/time.ts'
import { clockAt } from '../clock.ts'
import type { Session } from '../writer.ts'

/** `$1` holders, `$2` the time, null for the server's, `$3` SILENCE. */
const CLOCK = clockAt('$2')
/** One that was heard of in the future was so before the clock was set back: from now on its silence counts again. */
const HEAR = {
  name: 'holder.hear',
  text: `with ${CLOCK},
    ours as (
      insert into holder (holder, heard) select name, now from unnest($1::text[]) as name, clock order by 1
      on conflict (holder) do update set heard = excluded.heard
      where holder.heard < excluded.heard or holder.heard > excluded.heard + $3::bigint),
    early as (
      select holder from holder, clock where heard > now + $3::bigint and holder <> all($1::text[])
      order by 1 for update of holder skip locked),
    reset as (update holder set heard = now from clock, early where holder.holder = early.holder)
    select holder, now - heard as seconds from holder, clock`,
}
/** Who is locked says something right now. Waiting for its row, while ours is locked, could end in a circle. */
const SPARE = {
  name: 'holder.spare',
  text: `with ${CLOCK},
    silent as (
      select holder from holder, clock where holder = any($1::text[]) and now - heard > $3::bigint
      order by 1 for update of holder skip locked)
    update holder set heard = now from clock, silent where holder.holder = silent.holder`,
}
const KEYS = {
  name: 'hold.keys',
  text: `select b.account from (select distinct account, day from hold where holder = any($1::text[])) k
    join budget b on b.account = k.account and b.day = k.day order by b.account, b.day for update of b`,
}
/** One that was heard of meanwhile keeps what it holds. */
const STRIKE = {
  name: 'hold.strike',
  text: `with ${CLOCK},
    struck as (
      delete from hold using clock where holder = any($1::text[])
        and not exists (select 1 from holder h where h.holder = hold.holder and now - h.heard <= $3::bigint)
      returning account, day, units),
    spent as (select account, day, sum(units)::integer as units from struck group by 1, 2)
    update budget b set used = b.used + spent.units from spent where b.account = spent.account and b.day = spent.day`,
}
const REMOVE = {
  name: 'holder.remove',
  text: `with ${CLOCK},
    gone as (
      select holder from holder, clock where holder = any($1::text[]) and now - heard > $3::bigint
      order by 1 for update of holder skip locked)
    delete from holder using gone where holder.holder = gone.holder`,
}

const FORGET = { name: 'holder.forget', text: 'delete from holder where holder = any($1::text[])' }

/** Marks holders as heard of, and spares others in the same transaction, so that nobody sees the one without the other. */
export async function hear({ rows, run }: Session, holders: readonly string[], now: Instant | null): Promise<Roll> {
  if (holders.length === 0) return { live: 0, gone: [], spared: [] }
  const silences = await rows<Silence>(HEAR, [holders, now, SILENCE])
  const roll = callRoll(silences, holders)
  if (roll.spared.length > 0) await run(SPARE, [roll.spared, now, SILENCE])
  return roll
}

/** What holders hold that are silent still is spent, and they are struck off the roll. */
export async function strike({ rows, run }: Session, holders: readonly string[], now: Instant | null): Promise<void> {
  const values = [holders, now, SILENCE]
  await Promise.all([rows(KEYS, [holders]), run(STRIKE, values), run(REMOVE, values)])
}

/** What holders of this process hold is spent, although they live: it is not known what the ledger knows of it. */
export async function forfeit(session: Session, holders: readonly string[]): Promise<void> {
  await Promise.all([session.run(FORGET, [holders]), strike(session, holders, null)])
}
