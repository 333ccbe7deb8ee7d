/** Reads in the order of the partitions, from shard to shard: Citus would otherwise move the rows of all shards. */

import { PART_VALUES } from '../partition.ts'
import { inShardSql, type ShardParts, type Shards } from '../shards.ts'

/** Successive partitions that are in one shard, from `first` to `last`. */
export type PartRun = { first: number; last: number; parts: ShardParts }

/** All values of the column, so that the check also finds rows of wrong partitions. */
const [MIN_PART, MAX_PART] = [-(2 ** 15), 2 ** 15 - 1]

/** The runs from one partition to another one, both inclusive, ascending. One without shards. */
export function partRuns({ groups, parts }: Shards, from = MIN_PART, to = MAX_PART): PartRun[] {
  const groupOf = new Map(groups.flatMap((group, index) => group.map((part) => [part, index] as const)))
  const runs: PartRun[] = []
  for (const part of PART_VALUES) {
    const group = parts[groupOf.get(part)!]!
    const run = runs.at(-1)
    if (run !== undefined && run.parts === group) run.last = part
    else runs.push({ first: part, last: part, parts: group })
  }
  runs[0]!.first = MIN_PART
  runs.at(-1)!.last = MAX_PART
  return runs
    .filter(({ first, last }) => last >= from && first <= to)
    .map((run) => ({ ...run, first: Math.max(run.first, from), last: Math.min(run.last, to) }))
}

/** The condition that a row is in a run. `parameter`: the number of the first of its three parameters. */
export function inRunSql(column: string, parameter: number): string {
  return `${column} between $${parameter} and $${parameter + 1} and ${inShardSql(column, parameter + 2)}`
}

/** The parameters of that condition. */
export function runValues({ first, last, parts }: PartRun): [first: number, last: number, parts: ShardParts] {
  return [first, last, parts]
}

/** Reads run after run until there are `limit` rows. `from`: the partition to begin with; null for the first one. */
export async function readRuns<Row>(
  shards: Shards,
  from: number | null,
  limit: number,
  read: (run: ReturnType<typeof runValues>, limit: number) => Promise<Row[]>,
): Promise<Row[]> {
  const rows: Row[] = []
  for (const run of partRuns(shards, from ?? undefined)) {
    rows.push(...(await read(runValues(run), limit - rows.length)))
    if (rows.length >= limit) break
  }
  return rows
}
