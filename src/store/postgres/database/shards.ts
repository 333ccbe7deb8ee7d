/** Which partitions are in one shard. On PostgreSQL without Citus all are in one. */

import { plainArray } from './arrays.ts'
import { PART_VALUES } from './partition.ts'
import type { ReadStatement } from './pipelined-reader.ts'

/** The partitions of a shard as the parameter of `inShardSql`; null for all. */
export type ShardParts = string | null

/** Rows of one shard. */
export type ShardBatch<Row> = { parts: ShardParts; rows: readonly Row[] }

export type Shards = {
  /** The partitions of each shard, ascending, in the order of their first ones. All tables are cut alike. */
  readonly groups: readonly (readonly number[])[]
  /** The same as parameters. */
  readonly parts: readonly ShardParts[]
  /** Groups rows by shard, and keeps their order in each. Returns one batch for all rows if there is one shard. */
  batches<Row>(rows: readonly Row[], partOf: (row: Row) => number): ShardBatch<Row>[]
}

/** All partitions in one shard. */
export const ONE_SHARD: Shards = {
  groups: [PART_VALUES],
  parts: [null],
  batches: (rows) => (rows.length === 0 ? [] : [{ parts: null, rows }]),
}

/**
 * The condition that a row is in the shard of a batch. `parameter`: the number of the parameter with its `parts`. Citus
 * sends a statement to one shard if each distributed table has this condition. The parameter is null without Citus,
 * where the planner must not use the condition with an index.
 */
export function inShardSql(column: string, parameter: number): string {
  return `($${parameter}::smallint[] is null or ${column} = any($${parameter}))`
}

/** `groups`: as in `Shards`, each partition in one of them. */
export function shardsOf(groups: readonly (readonly number[])[]): Shards {
  if (groups.length === 1) return ONE_SHARD
  const parts = groups.map(plainArray)
  const groupOf = new Map(groups.flatMap((parts, group) => parts.map((part) => [part, group] as const)))
  return {
    groups,
    parts,
    batches(rows, partOf) {
      const byGroup = new Map<number, (typeof rows)[number][]>()
      for (const row of rows) {
        const group = groupOf.get(partOf(row))!
        const batch = byGroup.get(group)
        if (batch) batch.push(row)
        else byGroup.set(group, [row])
      }
      return [...byGroup].sort(([a], [b]) => a - b).map(([group, batch]) => ({ parts: parts[group]!, rows: batch }))
    },
  }
}

const CHECK_CITUS = {
  name: 'shards.citus',
  text: `select exists (select 1 from pg_extension where extname = 'citus') as "isThere"`,
}
const READ_SHARDS = {
  name: 'shards.groups',
  text: `select array_agg(part order by part)::text as parts from unnest($1::smallint[]) part
    join pg_dist_shard s on hashint2(part) between s.shardminvalue::integer and s.shardmaxvalue::integer
    where s.logicalrelid = to_regclass('crawl_state') group by s.shardid order by min(part)`,
}

/** Whether the database has the extension Citus. */
export async function hasCitus(read: ReadStatement): Promise<boolean> {
  const [row] = await read<{ isThere: boolean }>(CHECK_CITUS)
  return row!.isThere
}

/**
 * Reads the shards of a database that has Citus. If the tables are not distributed, all partitions are in one shard.
 */
export async function readShards(read: ReadStatement): Promise<Shards> {
  const rows = await read<{ parts: string }>(READ_SHARDS, [plainArray(PART_VALUES)])
  const groups = rows.map(({ parts }) => parts.slice(1, -1).split(',').map(Number))
  return groups.length === 0 ? ONE_SHARD : shardsOf(groups)
}
