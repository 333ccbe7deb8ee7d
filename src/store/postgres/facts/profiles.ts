/** The profiles of domains and addresses on PostgreSQL, in a database without shards: one statement each. */

import { slotOf } from '../../../values/domain-name.ts'
import type { FactsReader } from '../../port/store.ts'
import {
  type AddressProfileRow,
  type ProfileRow,
  unpackAddressProfile,
  unpackDomainProfile,
} from '../../shared/profiles.ts'
import { addressArray } from '../database/arrays.ts'
import { addressPartitionSql, partitionOfAddress, partitionOfName } from '../database/partition.ts'
import type { ReadStatement } from '../database/pipelined-reader.ts'

/** Columns of a ProfileRow, of the crawl state `v` of a name and its facts `f`. */
export const FACTS_COLUMNS =
  'v.id, v.clock, v.other_clocks, f.ip, f.flags, f.ssl, f.redirects_to, f.social_networks, f.social_accounts'
export const STATES_AND_ADDRESSES = `f.states, (select json_agg(encode(x, 'hex')) from unnest(f.addresses) x)::text as addresses`

const COUNTER_OF_ADDRESS = `address_count a on a.part = ${addressPartitionSql('x')} and a.address = x`
const READ_PROFILE = {
  name: 'facts.profile',
  rowMode: 'array' as const,
  text: `select ${FACTS_COLUMNS},
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
