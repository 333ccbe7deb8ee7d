/**
 * Look-ups in a database with shards: the rows of a name are in its shard, the counters of its addresses may be in
 * others. If the name was written between these reads, they are repeated.
 */

import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import type { Lookup } from '../../port/store.ts'
import type { LookupRow } from '../../shared/lookup.ts'
import { bytesArray, plainArray } from '../database/arrays.ts'
import type { Database } from '../database/database.ts'
import { partitionOfName, partitionOfPackedAddress, slotPartitionSql } from '../database/partition.ts'
import { inShardSql, type ShardParts } from '../database/shards.ts'
import { sharedLookups } from './lookups.ts'

/** Maximum reads of a name that is written again and again. The fields may then be of several moments. */
const MAX_READS = 5

/** `addresses`: JSON array in hexadecimal. */
type ShardRow = [...LookupRow, name: DomainName, version: number, addresses: string | null]
const [NAME, VERSION, ADDRESSES, NEIGHBOURS] = [11, 12, 13, 10] as const

const READ_LOOKUPS_IN_SHARD = {
  name: 'facts.lookups-in-shard',
  rowMode: 'array' as const,
  text: `select v.id, v.clock, v.other_clocks, f.ip, f.flags, f.ssl, f.redirects_to, f.social_networks, f.social_accounts,
      t.sources as redirects, null::bigint as neighbours, v.name, v.version,
      (select json_agg(encode(x, 'hex')) from unnest(f.addresses) x)::text as addresses
    from unnest($1::integer[], $2::text[]) as k(slot, name)
    join crawl_state v on v.part = ${slotPartitionSql('k.slot')} and v.slot = k.slot and v.name = k.name and ${inShardSql('v.part', 3)}
    left join facts f on f.part = v.part and f.id = v.id and ${inShardSql('f.part', 3)}
    left join redirect_count t on t.part = v.part and t.target = v.name and ${inShardSql('t.part', 3)}`,
}
/**
 * The names on an address without one of them. The list of the address is in the same shard as its counter, so the
 * number is that of the rows of /reverseip, also while the shard has not yet committed what the shard of the name has.
 */
const READ_COUNTERS = {
  name: 'facts.counters',
  text: `select k.position, a.names - (select count(*) from presence p
        where p.part = a.part and p.address = a.address and p.name = k.name and ${inShardSql('p.part', 4)}) as others
    from unnest($1::smallint[], $2::bytea[], $3::text[]) with ordinality as k(part, address, name, position)
    join address_count a on a.part = k.part and a.address = k.address and ${inShardSql('a.part', 4)}`,
}

type LookupDatabase = Pick<Database, 'read' | 'shards'>

/** As `postgresLookups`. Look-ups wait only for others of their shard. */
export function shardedLookups(database: LookupDatabase): (name: DomainName) => Promise<Lookup | null> {
  const lookups = new Map<ShardParts, (name: DomainName) => Promise<Lookup | null>>()
  return async (name) => {
    const { parts } = (await database.shards()).batches([name], partitionOfName)[0]!
    const lookup = lookups.get(parts) ?? sharedLookups((names) => readInShard(database, parts, names))
    lookups.set(parts, lookup)
    return lookup(name)
  }
}

async function readInShard(database: LookupDatabase, parts: ShardParts, names: readonly DomainName[]) {
  const readRows = (some: readonly DomainName[]) =>
    database.read<ShardRow>(READ_LOOKUPS_IN_SHARD, [plainArray(some.map(slotOf)), plainArray(some), parts])
  const found = new Map<DomainName, LookupRow>()
  let rows = await readRows(names)
  for (let reads = 1; rows.length > 0; reads++) {
    const neighbours = await countNeighbours(database, rows)
    for (const row of rows)
      found.set(row[NAME], row.slice(0, NAME).with(NEIGHBOURS, neighbours.get(row[NAME]) ?? 0) as unknown as LookupRow)
    const uncertain = rows.filter((row) => row[ADDRESSES] !== null)
    if (uncertain.length === 0 || reads === MAX_READS) break
    const versions = new Map(uncertain.map((row) => [row[NAME], row[VERSION]]))
    rows = (await readRows([...versions.keys()])).filter((row) => row[VERSION] !== versions.get(row[NAME]))
  }
  return found
}

/** The number of other names on the addresses of each name. */
async function countNeighbours(
  { read, shards }: LookupDatabase,
  rows: readonly ShardRow[],
): Promise<Map<DomainName, number>> {
  const keys = rows.flatMap((row) =>
    addressesOf(row).map((hex) => ({ name: row[NAME], address: Buffer.from(hex, 'hex') })),
  )
  const counts = new Map<DomainName, number>()
  const batches = (await shards()).batches(keys, ({ address }) => partitionOfPackedAddress(address))
  const reads = batches.map(async ({ parts, rows: batch }) => {
    const addresses = batch.map(({ address }) => address)
    const columns = [plainArray(addresses.map(partitionOfPackedAddress)), bytesArray(addresses)]
    const names = plainArray(batch.map(({ name }) => name))
    const found = await read<{ position: number; others: number }>(READ_COUNTERS, [...columns, names, parts])
    for (const { position, others } of found) {
      const { name } = batch[position - 1]!
      counts.set(name, (counts.get(name) ?? 0) + others)
    }
  })
  await Promise.all(reads)
  return counts
}

function addressesOf(row: ShardRow): string[] {
  return JSON.parse(row[ADDRESSES] ?? '[]')
}
