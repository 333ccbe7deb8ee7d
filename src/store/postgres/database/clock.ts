/** The server's clock: in a statement, or asked now and then and carried on by this machine's in between. */

import type { Instant } from '../../../values/time.ts'
import type { ReadStatement } from './pipelined-reader.ts'

/** How long one asking is good for, in milliseconds. */
const CLOCK_CACHE_MS = 1_000

const READ_CLOCK = { name: 'now', text: 'select (extract(epoch from clock_timestamp()) * 1000)::bigint as now' }

/** The time for one statement, as `now` of a table `clock`: that of the parameter, the server's where it is null. */
export function clockTableSql(parameter: string): string {
  return `clock as materialized (
    select coalesce(${parameter}::bigint, floor(extract(epoch from clock_timestamp()))::bigint) as now)`
}

/** Whole Unix seconds. Clocks that drift apart by a second in less than days are not thought of. */
export function serverClock(read: ReadStatement): () => Promise<Instant> {
  let readAt = Number.NEGATIVE_INFINITY
  let ahead = 0
  return async () => {
    if (performance.now() - readAt > CLOCK_CACHE_MS) {
      const before = performance.now()
      const [row] = await read<{ now: number }>(READ_CLOCK)
      readAt = performance.now()
      ahead = row!.now - (before + readAt) / 2
    }
    return Math.floor((performance.now() + ahead) / 1000)
  }
}
