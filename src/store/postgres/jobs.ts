/** The jobs on PostgreSQL: whoever has a duty's row locked decides whose it is. */

import type { Instant } from '../../words/time.ts'
import { DIED, HOLD_SECONDS, type Hold, type Holder, type Jobs, RUN_SECONDS, type Run } from '../jobs.ts'
import { clockAt } from './clock.ts'
import type { Database } from './database.ts'

/** `$1` the time, null for the server's. */
const CLOCK = clockAt('$1')
/** `$2` HOLD_SECONDS. Whoever has it was heard of in time; one that ends later than any was made before the clock was set back. */
const HELD = 'd.holder is not null and d.until > now and d.until <= now + $2::bigint'
const STANDS = 'd.holder is not null and d.duty = $2 and d.fence = $3::bigint'

const TAKE = {
  name: 'duty.take',
  text: `with ${CLOCK} update duty d set holder = $4, fence = d.fence + 1, until = now + $2::bigint from clock
    where d.duty = $3 and not coalesce(${HELD}, false) returning d.duty, d.fence`,
}
const BURY = {
  name: 'duty.bury',
  text: `with ${CLOCK}, held as (select d.duty from duty d, clock where ${HELD})
    update run set ended = now, error = $3 from clock
    where ended is null and (run.duty = $4 or not exists (select 1 from held where held.duty = run.duty))`,
}
const RENEW = {
  name: 'duty.renew',
  text: `with ${CLOCK} update duty d set until = now + $4::bigint from clock where ${STANDS} returning d.duty`,
}
const RELEASE = {
  name: 'duty.release',
  text: 'update duty set holder = null, until = null where duty = $1 and fence = $2 and holder is not null',
}
const HOLDERS = {
  name: 'duty.holders',
  text: `with ${CLOCK} select d.duty, d.fence, d.holder, d.until from duty d, clock where ${HELD} order by d.duty`,
}
/** The duty's row is locked, so that nobody takes it while a run begins. */
const BEGIN = {
  name: 'run.begin',
  text: `with ${CLOCK}, held as (select d.duty, d.holder from duty d where ${STANDS} for share of d)
    insert into run (duty, job, date, holder, began) select duty, $4, $5, holder, now from held, clock
    returning number`,
}
const DROP = { name: 'run.drop', text: `with ${CLOCK} delete from run using clock where began < now - $2::bigint` }
const END = {
  name: 'run.end',
  text: `with ${CLOCK} update run set ended = now, rows = $3, error = $4 from clock
    where number = $2 and ended is null returning number`,
}
const RUNS = {
  name: 'run.since',
  text: 'select number, job, date, holder, began, ended, rows, error from run where began >= $1 order by number',
}

/** `now`: the server's clock by default. */
export function jobsOf({ read, transaction }: Database, now?: () => Instant): Jobs {
  const time = (): number | null => now?.() ?? null
  return {
    take: (duty, holder) =>
      transaction(async ({ rows, run }) => {
        const [taken] = await rows<Hold>(TAKE, [time(), HOLD_SECONDS, duty, holder])
        if (taken === undefined) return null
        await run(BURY, [time(), HOLD_SECONDS, DIED, duty])
        return taken
      }),
    renew: ({ duty, fence }) =>
      transaction(async ({ rows }) => (await rows(RENEW, [time(), duty, fence, HOLD_SECONDS])).length === 1),
    release: ({ duty, fence }) => transaction(async ({ run }) => void (await run(RELEASE, [duty, fence]))),
    holders: () => read<Holder>(HOLDERS, [time(), HOLD_SECONDS]),
    begin: ({ duty, fence }, job, date) =>
      transaction(async ({ rows, run }) => {
        await run(DROP, [time(), RUN_SECONDS])
        const [begun] = await rows<{ number: number }>(BEGIN, [time(), duty, fence, job, date])
        return begun?.number ?? null
      }),
    end: (number, { rows: count, error }) =>
      transaction(async ({ rows }) => (await rows(END, [time(), number, count, error])).length === 1),
    runs: (since) => read<Run>(RUNS, [since]),
  }
}
