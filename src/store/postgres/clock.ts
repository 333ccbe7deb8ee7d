/** The server's clock: in a statement, or asked now and then and carried on by this machine's in between. */

import type { Instant } from '../../words/time.ts'
import type { Read } from './reader.ts'

/** How long one asking is good for, in milliseconds. */
const GOOD_FOR = 1_000

const NOW = { name: 'now', text: 'select (extract(epoch from clock_timestamp()) * 1000)::bigint as now' }

/** The time for one statement, as `now` of a table `clock`: that of the parameter, the server's where it is null. */
export function clockAt(parameter: string): string {
  return `clock as materialized (
    select coalesce(${parameter}::bigint, floor(extract(epoch from clock_timestamp()))::bigint) as now)`
}

/** Whole Unix seconds. Clocks that drift apart by a second in less than days are not thought of. */
export function clockOf(read: Read): () => Promise<Instant> {
  let asked = Number.NEGATIVE_INFINITY
  let ahead = 0
  return async () => {
    if (performance.now() - asked > GOOD_FOR) {
      const before = performance.now()
      const [row] = await read<{ now: number }>(NOW)
      asked = performance.now()
      ahead = row!.now - (before + asked) / 2
    }
    return Math.floor((performance.now() + ahead) / 1000)
  }
}
