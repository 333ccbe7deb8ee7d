/**
 * The profile of a domain in a database with shards: the rows of the name are in its shard, those of its addresses may be
 * in others. If the name was written between these reads, they are repeated.
 */

import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import type { FactsReader } from '../../port/store.ts'
import { type ProfileRow, unpackDomainProfile } from '../../shared/profiles.ts'
import { bytesArray, plainArray } from '../database/arrays.ts'
import type { Database } from '../database/database.ts'
import { partitionOfName, partitionOfPackedAddress } from '../database/partition.ts'
import { inShardSql } from '../database/shards.ts'
import { FACTS_COLUMNS, STATES_AND_ADDRESSES } from './profiles.ts'

/** Maximum reads of a name that is written again and again. The fields may then be of several moments. */
const MAX_PROFILE_READS = 5

const READ_PROFILE_IN_SHARD = {
  name: 'facts.profile-in-shard',
  rowMode: 'array' as const,
  text: `select ${FACTS_COLUMNS}, t.sources as redirects, null::bigint as neighbours, ${STATES_AND_ADDRESSES}, null::text, v.version
    from crawl_state v left join facts f on f.part = $1 and f.id = v.id
    left join redirect_count t on t.part = $1 and t.target = $3 where v.part = $1 and v.slot = $2 and v.name = $3`,
}
const READ_ON_ADDRESSES = {
  name: 'facts.on-addresses',
  text: `select encode(p.address, 'hex') as hex, p.since, a.names from unnest($1::smallint[], $2::bytea[]) as k(part, address)
    join presence p on p.part = k.part and p.address = k.address and p.name = $3 and ${inShardSql('p.part', 4)}
    join address_count a on a.part = k.part and a.address = k.address and ${inShardSql('a.part', 4)}`,
}

const [NEIGHBOURS, ADDRESSES, ON_ADDRESSES, VERSION] = [10, 12, 13, 14] as const

type ProfileDatabase = Pick<Database, 'read' | 'shards'>
type OnAddress = { hex: string; since: string; names: number }

export function shardedDomainProfile(database: ProfileDatabase): FactsReader['domainProfile'] {
  return async (name, maxAddresses) => {
    const readRow = async (): Promise<ProfileRow | undefined> =>
      (await database.read<ProfileRow>(READ_PROFILE_IN_SHARD, [partitionOfName(name), slotOf(name), name]))[0]
    let row = await readRow()
    for (let reads = 1; row !== undefined; reads++) {
      const hexes: string[] = JSON.parse(row[ADDRESSES] ?? '[]')
      if (hexes.length === 0) return unpackDomainProfile(row)
      const onAddresses = await readOnAddresses(database, name, hexes)
      const again = await readRow()
      if (again?.[VERSION] === row[VERSION] || reads === MAX_PROFILE_READS)
        return unpackDomainProfile(withAddresses(row, onAddresses, hexes.slice(0, maxAddresses)))
      row = again
    }
    return null
  }
}

/** The rows of the name on its addresses, with the counters of these. */
async function readOnAddresses(
  { read, shards }: ProfileDatabase,
  name: DomainName,
  hexes: readonly string[],
): Promise<OnAddress[]> {
  const addresses = hexes.map((hex) => Buffer.from(hex, 'hex'))
  const reads = (await shards()).batches(addresses, partitionOfPackedAddress).map(({ parts, rows }) => {
    const columns = [plainArray(rows.map(partitionOfPackedAddress)), bytesArray(rows)]
    return read<OnAddress>(READ_ON_ADDRESSES, [...columns, name, parts])
  })
  return (await Promise.all(reads)).flat()
}

function withAddresses(row: ProfileRow, found: readonly OnAddress[], listed: readonly string[]): ProfileRow {
  const neighbours = found.reduce((sum, { names }) => sum + names - 1, 0)
  const onAddresses = found
    .filter(({ hex }) => listed.includes(hex))
    .map(({ hex, since, names }) => [hex, since, names])
  return row.with(NEIGHBOURS, neighbours).with(ON_ADDRESSES, JSON.stringify(onAddresses)) as unknown as ProfileRow
}
