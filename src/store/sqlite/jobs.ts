/** The jobs on SQLite: a write transaction at a time, so that two never get the same duty. */

import type { DatabaseSync } from 'node:sqlite'
import type { Instant } from '../../words/time.ts'
import {
  DIED,
  type Duty,
  type Ending,
  HOLD_SECONDS,
  type Hold,
  type Holder,
  type Job,
  type Jobs,
  RUN_SECONDS,
  type Run,
} from '../jobs.ts'
import { transaction } from './connection.ts'
import type { Log } from './log.ts'

/** Whoever has it was heard of in time; one that ends later than any was made before the clock was set back. */
const HELD = 'holder is not null and until > ?1 and until <= ?1 + ?2'
const STANDS = 'duty = ? and fence = ? and holder is not null'

export function jobsOf(database: DatabaseSync, log: Log, now: () => Instant): Jobs {
  const { take, renew, release, holders } = holds(database)
  const { begin, end, runs } = runBook(database)
  const write = <Result>(work: (now: Instant) => Result): Promise<Result> =>
    log.bounded(() => transaction(database, () => work(now())))
  return {
    take: (duty, holder) => write((now) => take(now, duty, holder)),
    renew: (hold) => write((now) => renew(now, hold)),
    release: (hold) => write(() => release(hold)),
    holders: async () => holders(now()),
    begin: (hold, job, date) => write((now) => begin(now, hold, job, date)),
    end: (run, ending) => write((now) => end(now, run, ending)),
    runs: async (since) => runs(since),
  }
}

function holds(database: DatabaseSync) {
  const take = database.prepare(
    `update duty set holder = ?3, fence = fence + 1, until = ?1 + ?2 where duty = ?4 and not (${HELD}) returning duty, fence`,
  )
  const bury = database.prepare(
    `update run set ended = ?1, error = ?3 where ended is null
       and (duty = ?4 or duty not in (select duty from duty where ${HELD}))`,
  )
  const prolong = database.prepare(`update duty set until = ? where ${STANDS}`)
  const release = database.prepare(`update duty set holder = null, until = null where ${STANDS}`)
  const all = database.prepare(`select duty, fence, holder, until from duty where ${HELD} order by duty`)
  return {
    take(now: Instant, duty: Duty, holder: string): Hold | null {
      const taken = take.get(now, HOLD_SECONDS, holder, duty) as Hold | undefined
      if (taken === undefined) return null
      bury.run(now, HOLD_SECONDS, DIED, duty)
      return { ...taken }
    },
    renew: (now: Instant, { duty, fence }: Hold): boolean => prolong.run(now + HOLD_SECONDS, duty, fence).changes === 1,
    release: ({ duty, fence }: Hold): void => void release.run(duty, fence),
    holders: (now: Instant): Holder[] => (all.all(now, HOLD_SECONDS) as Holder[]).map((row) => ({ ...row })),
  }
}

function runBook(database: DatabaseSync) {
  const insert = database.prepare(
    `insert into run (duty, job, date, holder, began)
     select duty, ?, ?, holder, ? from duty where ${STANDS} returning number`,
  )
  const drop = database.prepare('delete from run where began < ?')
  const end = database.prepare('update run set ended = ?, rows = ?, error = ? where number = ? and ended is null')
  const since = database.prepare(
    'select number, job, date, holder, began, ended, rows, error from run where began >= ? order by number',
  )
  return {
    begin(now: Instant, { duty, fence }: Hold, job: Job, date: Run['date']): number | null {
      drop.run(now - RUN_SECONDS)
      return (insert.get(job, date, now, duty, fence) as { number: number } | undefined)?.number ?? null
    },
    end: (now: Instant, number: number, { rows, error }: Ending): boolean =>
      end.run(now, rows, error, number).changes === 1,
    runs: (from: Instant): Run[] => (since.all(from) as Run[]).map((row) => ({ ...row })),
  }
}
