/** Artificial shards: a plain PostgreSQL is read as if Citus had distributed its tables. */

import type { Database } from '../../../../src/store/postgres/database/database.ts'
import { PART_VALUES } from '../../../../src/store/postgres/database/partition.ts'
import { type Shards, shardsOf } from '../../../../src/store/postgres/database/shards.ts'

/**
 * Each shard has several runs of so many successive partitions. A read of all shards takes one statement for each run.
 */
const RUN_LENGTH = 8

/** Shards with runs of partitions in turn. */
function artificialShards(count: number): Shards {
  const groupOf = (position: number): number => Math.floor(position / RUN_LENGTH) % count
  return shardsOf(
    Array.from({ length: count }, (_, group) => PART_VALUES.filter((_, position) => groupOf(position) === group)),
  )
}

/** The database with so many shards. `rows()`: how many rows its reads have returned. */
export function withShards(database: Database, count: number): Database & { rows(): number } {
  let moved = 0
  const counted =
    (read: Database['read']): Database['read'] =>
    async (statement, values) => {
      const rows = await read(statement, values)
      moved += rows.length
      return rows as never
    }
  return {
    ...database,
    hasCitus: true,
    read: counted(database.read),
    readLong: counted(database.readLong),
    snapshot: (work) => database.snapshot((session) => work({ ...session, rows: counted(session.rows) })),
    shards: async () => artificialShards(count),
    rows: () => moved,
  }
}
