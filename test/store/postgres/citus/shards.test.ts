/** Shards: rows are grouped by the shard that has their partition. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PART_VALUES } from '../../../../src/store/postgres/database/partition.ts'
import { inShardSql, ONE_SHARD, shardsOf } from '../../../../src/store/postgres/database/shards.ts'

const ROWS = [5, 0, 1, 0].map((position, row) => ({ row, part: PART_VALUES[position]! }))
const partOf = ({ part }: { part: number }): number => part

test('without Citus all rows are one batch that names no partition', () => {
  assert.deepEqual(ONE_SHARD.batches(ROWS, partOf), [{ parts: null, rows: ROWS }])
  assert.deepEqual(ONE_SHARD.groups, [PART_VALUES])
  assert.equal(shardsOf([PART_VALUES]), ONE_SHARD)
})

test('with shards there is a batch for each shard of a row, in the order of the shards, and rows keep their order', () => {
  const [even, odd] = [0, 1].map((rest) => PART_VALUES.filter((_, position) => position % 2 === rest))
  assert.deepEqual(shardsOf([even!, odd!]).batches(ROWS, partOf), [
    { parts: `{${even}}`, rows: [ROWS[1], ROWS[3]] },
    { parts: `{${odd}}`, rows: [ROWS[0], ROWS[2]] },
  ])
  assert.deepEqual(shardsOf([even!, odd!]).batches(ROWS.slice(1, 2), partOf).length, 1)
})

test('no rows are no batch', () => {
  assert.deepEqual(ONE_SHARD.batches([], partOf), [])
  assert.deepEqual(shardsOf([PART_VALUES.slice(0, 9), PART_VALUES.slice(9)]).batches([], partOf), [])
})

test('the condition of a batch names its parameter twice, so that null means all partitions', () => {
  assert.equal(inShardSql('v.part', 3), '($3::smallint[] is null or v.part = any($3))')
})
