/** Runs of partitions: which reads in the order of partitions a database with shards needs. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { partRuns, readRuns } from '../../../../src/store/postgres/database/citus/part-runs.ts'
import { PART_VALUES } from '../../../../src/store/postgres/database/partition.ts'
import { ONE_SHARD, shardsOf } from '../../../../src/store/postgres/database/shards.ts'

const HALVES = shardsOf([PART_VALUES.slice(0, 100), PART_VALUES.slice(100)])
const MIXED = shardsOf([0, 1].map((half) => PART_VALUES.filter((_, position) => position % 2 === half)))
const [LAST_OF_FIRST, FIRST_OF_SECOND] = [PART_VALUES[99]!, PART_VALUES[100]!]

test('one shard is one run, which also has partitions that no row should have', () => {
  assert.deepEqual(partRuns(ONE_SHARD), [{ first: -32_768, last: 32_767, parts: null }])
  assert.deepEqual(partRuns(ONE_SHARD, 3, 5), [{ first: 3, last: 5, parts: null }])
})

test('a run ends where the shard changes, and each partition is in one run', () => {
  assert.deepEqual(
    partRuns(HALVES).map(({ first, last }) => [first, last]),
    [
      [-32_768, LAST_OF_FIRST],
      [FIRST_OF_SECOND, 32_767],
    ],
  )
  assert.equal(partRuns(MIXED).length, 256)
  const [run, ...others] = partRuns(MIXED, PART_VALUES[7]!, PART_VALUES[7]!)
  assert.deepEqual(others, [])
  assert.deepEqual([run!.first, run!.last, run!.parts], [PART_VALUES[7], PART_VALUES[7], MIXED.parts[1]])
})

test('runs are read in order until there are enough rows', async () => {
  const read = async ([first]: [number, number, string | null], limit: number) =>
    Array.from({ length: Math.min(limit, 2) }, () => first)
  const firsts = PART_VALUES.slice(4, 7)
  assert.deepEqual(await readRuns(MIXED, firsts[0]!, 5, read), [firsts[0], firsts[0], firsts[1], firsts[1], firsts[2]])
  assert.equal((await readRuns(HALVES, null, 9, read)).length, 4)
})
