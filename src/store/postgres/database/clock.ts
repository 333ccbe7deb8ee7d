/** The server's clock: in a statement, or cached and extrapolated with this machine's clock. */

import type { Instant } from '../../../values/time.ts'
import type { ReadStatement } from './pipelined-reader.ts'

/** Milliseconds for which a reading is used. */
const CLOCK_CACHE_MS = 1_000

const READ_CLOCK = { name: 'now', text: 'select (extract(epoch from clock_timestamp()) * 1000)::bigint as now' }

/** The time of one statement, as `now` of a table `clock`: the parameter, or the server's time if it is null. */
export function clockTableSql(parameter: string): string {
  return `clock as materialized (
    select coalesce(${parameter}::bigint, floor(extract(epoch from clock_timestamp()))::bigint) as now)`
}

/** Whole Unix seconds. Ignores clock drift, which takes days to reach a second. */
export function serverClock(read: ReadStatement): () => Promise<Instant> {
  let readAt = Number.NEGATIVE_INFINITY
  let offset = 0
  return async () => {
    if (performance.now() - readAt > CLOCK_CACHE_MS) {
      const before = performance.now()
      const [row] = await read<{ now: number }>(READ_CLOCK)
      readAt = performance.now()
      offset = row!.now - (before + readAt) / 2
    }
    return Math.floor((performance.now() + offset) / 1000)
  }
}
