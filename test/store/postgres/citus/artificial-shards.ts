/** Artificial shards: a plain PostgreSQL is read as if Citus had distributed its tables. */

import type { Database } from '../../../../src/store/postgres/database/database.ts'
import { PART_VALUES } from '../../../../src/store/postgres/database/partition.ts'
import { type Shards, shardsOf } from '../../../../src/store/postgres/database/shards.ts'

/** Shards with partitions in turn. */
function artificialShards(count: number): Shards {
  return shardsOf(
    Array.from({ length: count }, (_, group) => PART_VALUES.filter((_, position) => position % count === group)),
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
