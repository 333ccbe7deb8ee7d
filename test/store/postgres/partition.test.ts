/** The partitions: PostgreSQL and TypeScript compute the same ones, and Citus spreads them evenly over shards. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, type TestContext, test } from 'node:test'
import pg from 'pg'
import { computePartValues, hashOfSmallint, PART_COUNT, shardOfHash } from '../../../scripts/part-values.ts'
import {
  addressPartitionSql,
  PART_VALUES,
  partitionOfAddress,
  partitionOfName,
  partitionOfSlot,
  slotPartitionSql,
} from '../../../src/store/postgres/database/partition.ts'
import { ADDRESSES_SQL } from '../../../src/store/postgres/database/row-statements.ts'
import { type DomainName, slotOf, slotRangeOf } from '../../../src/values/domain-name.ts'
import { type IpAddress, packToHex } from '../../../src/values/ip-address.ts'
import { noPostgres, postgresServer } from './server.ts'

test('the code holds the values that the script computes, in ascending order', () => {
  assert.deepEqual(PART_VALUES, computePartValues())
  assert.deepEqual(
    PART_VALUES,
    PART_VALUES.toSorted((a, b) => a - b),
  )
  assert.ok(PART_VALUES.at(-1)! <= 1512)
})

for (const migration of ['0009-part-values.sql', '0010-shard-writes.sql'])
  test(`the migration ${migration} holds the same values`, () => {
    const folder = new URL('../../../src/store/postgres/schema/facts/', import.meta.url)
    assert.ok(readFileSync(new URL(migration, folder), 'utf8').includes(`'{${PART_VALUES}}'`))
  })

for (const shards of [8, 16, 32, 64, 128, 256])
  test(`each of ${shards} shards has ${PART_COUNT / shards} partitions`, () => {
    const counts = new Array<number>(shards).fill(0)
    for (const part of PART_VALUES) counts[shardOfHash(hashOfSmallint(part), shards)]!++
    assert.deepEqual(counts, new Array(shards).fill(PART_COUNT / shards))
  })

test('a slot range is one partition, and partitions are in the order of slots', () => {
  const parts = Array.from({ length: 65_536 }, (_, slot) => partitionOfSlot(slot))
  for (let slot = 1; slot < parts.length; slot++) {
    if (slot >> 8 === (slot - 1) >> 8) assert.equal(parts[slot], parts[slot - 1])
    else assert.ok(parts[slot]! > parts[slot - 1]!)
  }
  for (const name of ['one.example', 'two.example', 'xn--bcher-kva.example'] as DomainName[]) {
    assert.equal(partitionOfName(name), parts[slotOf(name)])
    assert.equal(partitionOfName(name), PART_VALUES[slotRangeOf(name)])
  }
})

suite('the server', { skip: noPostgres }, () => {
  const valuesOf = async (t: TestContext, sql: string): Promise<unknown[]> => {
    const { url, drop } = await (await postgresServer()).schema()
    t.after(drop)
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      return (await client.query({ text: sql, rowMode: 'array' })).rows.map(([value]) => value)
    } finally {
      await client.end()
    }
  }

  test('hashes a smallint as the script does', async (t) => {
    const values = [...Array(2000).keys(), 32_767, -1, -32_768]
    const hashes = await valuesOf(t, `select hashint2(value::smallint) from unnest('{${values}}'::integer[]) value`)
    assert.deepEqual(values.map(hashOfSmallint), hashes)
  })

  test('computes what an update of facts writes without any setting, as Citus requires', async (t) => {
    const generated = (sql: string) =>
      valuesOf(t, `create table k (addresses text, written bytea[] generated always as (${sql}) stored)`)
    await generated(ADDRESSES_SQL)
    await assert.rejects(generated('k.addresses::bytea[]'), /immutable/)
  })

  test('computes the partitions of slots and addresses as TypeScript does', async (t) => {
    const slots = [0, 255, 256, 1234, 65_279, 65_280, 65_535]
    const bySlot = await valuesOf(t, `select ${slotPartitionSql('slot')} from unnest('{${slots}}'::integer[]) slot`)
    assert.deepEqual(bySlot, slots.map(partitionOfSlot))
    const addresses = ['192.0.2.1', '192.0.2.2', '198.51.100.7', '2001:db8::1', '2001:db8::2'] as IpAddress[]
    const bytes = addresses.map((address) => `('\\x${packToHex(address)}'::bytea)`)
    const byAddress = await valuesOf(t, `select ${addressPartitionSql('a')} from (values ${bytes}) k(a)`)
    assert.deepEqual(byAddress, addresses.map(partitionOfAddress))
  })
})
