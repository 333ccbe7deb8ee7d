/** The jobs on PostgreSQL: whoever has a duty's row locked decides whose it is. */

import type { Instant } from '../../../values/time.ts'
import { PROCESS_DIED_MESSAGE, LOCK_SECONDS, type LockHold, type LockHolder, type Jobs, RUN_RETENTION_SECONDS, type JobRun } from '../../port/jobs.ts'
import { clockTableSql } from '../database/clock.ts'
import type { Database } from '../database/database.ts'

/** `$1` the time, null for the server's. */
const LOCK_CLOCK = clockTableSql('$1')
/** `$2` HOLD_SECONDS. Whoever has it was heard of in time; one that ends later than any was made before the clock was set back. */
const LOCK_IS_HELD = 'd.holder is not null and d.until > now and d.until <= now + $2::bigint'
const HOLD_IS_VALID = 'd.holder is not null and d.duty = $2 and d.fence = $3::bigint'

const TAKE_LOCK = {
  name: 'duty.take',
  text: `with ${LOCK_CLOCK} update duty d set holder = $4, fence = d.fence + 1, until = now + $2::bigint from clock
    where d.duty = $3 and not coalesce(${LOCK_IS_HELD}, false) returning d.duty, d.fence`,
}
const END_DEAD_RUNS = {
  name: 'duty.bury',
  text: `with ${LOCK_CLOCK}, held as (select d.duty from duty d, clock where ${LOCK_IS_HELD})
    update run set ended = now, error = $3 from clock
    where ended is null and (run.duty = $4 or not exists (select 1 from held where held.duty = run.duty))`,
}
const RENEW_LOCK = {
  name: 'duty.renew',
  text: `with ${LOCK_CLOCK} update duty d set until = now + $4::bigint from clock where ${HOLD_IS_VALID} returning d.duty`,
}
const RELEASE_LOCK = {
  name: 'duty.release',
  text: 'update duty set holder = null, until = null where duty = $1 and fence = $2 and holder is not null',
}
const READ_LOCK_HOLDERS = {
  name: 'duty.holders',
  text: `with ${LOCK_CLOCK} select d.duty, d.fence, d.holder, d.until from duty d, clock where ${LOCK_IS_HELD} order by d.duty`,
}
/** The duty's row is locked, so that nobody takes it while a run begins. */
const START_RUN = {
  name: 'run.begin',
  text: `with ${LOCK_CLOCK}, held as (select d.duty, d.holder from duty d where ${HOLD_IS_VALID} for share of d)
    insert into run (duty, job, date, holder, began) select duty, $4, $5, holder, now from held, clock
    returning number`,
}
const DELETE_OLD_RUNS = { name: 'run.drop', text: `with ${LOCK_CLOCK} delete from run using clock where began < now - $2::bigint` }
const END_RUN = {
  name: 'run.end',
  text: `with ${LOCK_CLOCK} update run set ended = now, rows = $3, error = $4 from clock
    where number = $2 and ended is null returning number`,
}
const READ_RUNS = {
  name: 'run.since',
  text: 'select number, job, date, holder, began, ended, rows, error from run where began >= $1 order by number',
}

/** `now`: the server's clock by default. */
export function postgresJobs({ read, transaction }: Database, now?: () => Instant): Jobs {
  const time = (): number | null => now?.() ?? null
  return {
    acquireLock: (name, holder) =>
      transaction(async ({ rows, run }) => {
        const [taken] = await rows<LockHold>(TAKE_LOCK, [time(), LOCK_SECONDS, name, holder])
        if (taken === undefined) return null
        await run(END_DEAD_RUNS, [time(), LOCK_SECONDS, PROCESS_DIED_MESSAGE, name])
        return taken
      }),
    renewLock: ({ name, fence }) =>
      transaction(async ({ rows }) => (await rows(RENEW_LOCK, [time(), name, fence, LOCK_SECONDS])).length === 1),
    releaseLock: ({ name, fence }) => transaction(async ({ run }) => void (await run(RELEASE_LOCK, [name, fence]))),
    lockHolders: () => read<LockHolder>(READ_LOCK_HOLDERS, [time(), LOCK_SECONDS]),
    startRun: ({ name, fence }, job, date) =>
      transaction(async ({ rows, run }) => {
        await run(DELETE_OLD_RUNS, [time(), RUN_RETENTION_SECONDS])
        const [startedRun] = await rows<{ number: number }>(START_RUN, [time(), name, fence, job, date])
        return startedRun?.number ?? null
      }),
    endRun: (number, { rows: count, error }) =>
      transaction(async ({ rows }) => (await rows(END_RUN, [time(), number, count, error])).length === 1),
    runs: (since) => read<JobRun>(READ_RUNS, [since]),
  }
}
