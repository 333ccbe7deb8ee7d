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
const READ_COUNTERS = {
  name: 'facts.counters',
  text: `select a.address, a.names from unnest($1::smallint[], $2::bytea[]) as k(part, address)
    join address_count a on a.part = k.part and a.address = k.address and ${inShardSql('a.part', 3)}`,
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
    const counters = await readCounters(database, rows.flatMap(addressesOf))
    for (const row of rows) found.set(row[NAME], withNeighbours(row, counters))
    const uncertain = rows.filter((row) => row[ADDRESSES] !== null)
    if (uncertain.length === 0 || reads === MAX_READS) break
    const versions = new Map(uncertain.map((row) => [row[NAME], row[VERSION]]))
    rows = (await readRows([...versions.keys()])).filter((row) => row[VERSION] !== versions.get(row[NAME]))
  }
  return found
}

/** The number of names on each address that has any, by the address in hexadecimal. */
async function readCounters({ read, shards }: LookupDatabase, hexes: readonly string[]): Promise<Map<string, number>> {
  const addresses = [...new Set(hexes)].map((hex) => Buffer.from(hex, 'hex'))
  const reads = (await shards()).batches(addresses, partitionOfPackedAddress).map(({ parts, rows }) => {
    const columns = [plainArray(rows.map(partitionOfPackedAddress)), bytesArray(rows)]
    return read<{ address: Buffer; names: number }>(READ_COUNTERS, [...columns, parts])
  })
  const counters = (await Promise.all(reads)).flat()
  return new Map(counters.map(({ address, names }) => [address.toString('hex'), names]))
}

function addressesOf(row: ShardRow): string[] {
  return JSON.parse(row[ADDRESSES] ?? '[]')
}

function withNeighbours(row: ShardRow, counters: ReadonlyMap<string, number>): LookupRow {
  const neighbours = addressesOf(row).reduce((sum, hex) => sum + (counters.get(hex) ?? 1) - 1, 0)
  return row.slice(0, NAME).with(NEIGHBOURS, neighbours) as unknown as LookupRow
}
