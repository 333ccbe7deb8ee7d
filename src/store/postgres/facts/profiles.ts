/** The profiles of domains and addresses on PostgreSQL: one statement each, or several in a database with shards. */

import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import type { FactsReader } from '../../port/store.ts'
import { LOOKUP_COLUMNS } from '../../shared/lookup.ts'
import {
  type AddressProfileRow,
  type ProfileRow,
  unpackAddressProfile,
  unpackDomainProfile,
} from '../../shared/profiles.ts'
import { addressArray } from '../database/arrays.ts'
import type { Database } from '../database/database.ts'
import {
  addressPartitionSql,
  partitionOfAddress,
  partitionOfName,
  partitionOfPackedAddress,
} from '../database/partition.ts'
import type { ReadStatement } from '../database/pipelined-reader.ts'
import { readForRows, rowStatement } from '../database/row-statements.ts'

const STATES_AND_ADDRESSES = `f.states, (select json_agg(encode(x, 'hex')) from unnest(f.addresses) x)::text as addresses`

const COUNTER_OF_ADDRESS = `address_count a on a.part = ${addressPartitionSql('x')} and a.address = x`
const READ_PROFILE = {
  name: 'facts.profile',
  rowMode: 'array' as const,
  text: `select ${LOOKUP_COLUMNS},
      (select sources from redirect_count t where t.part = $1 and t.target = $3) as redirects,
      (select sum(a.names - 1)::bigint from unnest(f.addresses) x join ${COUNTER_OF_ADDRESS}) as neighbours,
      ${STATES_AND_ADDRESSES},
      (select json_agg(json_build_array(encode(x, 'hex'), p.since, a.names)) from unnest(f.addresses[1:$4::integer]) x
        join ${COUNTER_OF_ADDRESS} join presence p on p.part = a.part and p.address = x and p.name = $3)::text
    from crawl_state v left join facts f on f.part = $1 and f.id = v.id where v.part = $1 and v.slot = $2 and v.name = $3`,
}
/** Both tables have the partition of the address. */
const READ_ADDRESS_PROFILE = {
  name: 'facts.address-profile',
  text: `select (select c.names from address_count c where c.part = $1 and c.address = ($2::bytea[])[1]) as count,
      (select json_agg(json_build_object('target', name, 'since', since) order by name) from (
        select p.name, p.since from presence p where p.part = $1 and p.address = ($2::bytea[])[1] order by p.name limit $3) r
      )::text as domains`,
}

/** Maximum reads of a name that is written again and again. The fields may then be of several moments. */
const MAX_PROFILE_READS = 5

/**
 * The rows of the name are in its shard, those of its addresses may be in others. If the name was written between these
 * reads, they are repeated.
 */
const READ_PROFILE_IN_SHARD = {
  name: 'facts.profile-in-shard',
  rowMode: 'array' as const,
  text: `select ${LOOKUP_COLUMNS}, t.sources as redirects, null::bigint as neighbours, ${STATES_AND_ADDRESSES}, null::text, v.version
    from crawl_state v left join facts f on f.part = $1 and f.id = v.id
    left join redirect_count t on t.part = $1 and t.target = $3 where v.part = $1 and v.slot = $2 and v.name = $3`,
}
const READ_ON_ADDRESSES = rowStatement<PackedAddress>(
  'facts.on-addresses',
  { part: 'smallint', address: 'bytes' },
  ({ rows, inShard, parameter }) =>
    `select encode(p.address, 'hex') as hex, p.since, a.names from ${rows}
    join presence p on p.part = k.part and p.address = k.address and p.name = ${parameter(1)} and ${inShard('p.part')}
    join address_count a on a.part = k.part and a.address = k.address and ${inShard('a.part')}`,
)
type PackedAddress = { part: number; address: Uint8Array }

const [NEIGHBOURS, ADDRESSES, ON_ADDRESSES, VERSION] = [10, 12, 13, 14] as const

type ProfileDatabase = Pick<Database, 'read' | 'shards'>
type OnAddress = { hex: string; since: string; names: number }

export function postgresDomainProfile(read: ReadStatement): FactsReader['domainProfile'] {
  return async (name, maxAddresses) => {
    const [row] = await read<ProfileRow>(READ_PROFILE, [partitionOfName(name), slotOf(name), name, maxAddresses])
    return row ? unpackDomainProfile(row) : null
  }
}

export function postgresAddressProfile(read: ReadStatement): FactsReader['addressProfile'] {
  return async (address, limit) => {
    const values = [partitionOfAddress(address), addressArray([address]), limit]
    const [row] = await read<AddressProfileRow>(READ_ADDRESS_PROFILE, values)
    return unpackAddressProfile(row!)
  }
}

/**
 * The profile of a domain in a database with shards: the rows of the name are in its shard, those of its addresses may be
 * in others. If the name was written between these reads, they are repeated.
 */
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
  const addresses = hexes.map((hex): PackedAddress => {
    const address = Buffer.from(hex, 'hex')
    return { part: partitionOfPackedAddress(address), address }
  })
  return readForRows<OnAddress, PackedAddress>(read, await shards(), READ_ON_ADDRESSES, addresses, name)
}

function withAddresses(row: ProfileRow, found: readonly OnAddress[], listed: readonly string[]): ProfileRow {
  const neighbours = found.reduce((sum, { names }) => sum + names - 1, 0)
  const onAddresses = found
    .filter(({ hex }) => listed.includes(hex))
    .map(({ hex, since, names }) => [hex, since, names])
  return row.with(NEIGHBOURS, neighbours).with(ON_ADDRESSES, JSON.stringify(onAddresses)) as unknown as ProfileRow
}
