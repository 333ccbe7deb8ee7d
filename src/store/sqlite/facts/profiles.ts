/** The profiles of domains and addresses on SQLite: one statement each, of look-ups and ranges by key. */

import type { DatabaseSync } from 'node:sqlite'
import { slotOf } from '../../../values/domain-name.ts'
import { packAddress } from '../../../values/ip-address.ts'
import type { FactsReader } from '../../port/store.ts'
import { LOOKUP_COLUMNS } from '../../shared/lookup.ts'
import {
  type AddressProfileRow,
  type ProfileRow,
  unpackAddressProfile,
  unpackDomainProfile,
} from '../../shared/profiles.ts'
import type { BeginRead } from '../database/read-turn.ts'

/** The columns of a LookupRow, of the crawl state `v` of the name `?2` and its facts `f`. */
export const LOOKUP_ROW_SQL = `${LOOKUP_COLUMNS},
  (select sources from redirect_count where target = ?2) as redirects,
  (select sum(a.names - 1) from json_each(f.addresses) j join address_count a on a.address = unhex(j.value)) as neighbours`

/** `beginRead`: called before each read. */
export function sqliteProfiles(
  database: DatabaseSync,
  beginRead: BeginRead,
): Pick<FactsReader, 'domainProfile' | 'addressProfile'> {
  const ofDomain = database.prepare(
    `select ${LOOKUP_ROW_SQL}, f.states, f.addresses,
       (select json_group_array(json_array(j.value, p.since, a.names)) from json_each(f.addresses) j
        join presence p on p.address = unhex(j.value) and p.name = ?2
        join address_count a on a.address = p.address where j.key < ?3) as onAddresses
     from crawl_state v left join facts f on f.id = v.id where v.slot = ?1 and v.name = ?2`,
  )
  ofDomain.setReturnArrays(true)
  const ofAddress = database.prepare(
    `select (select names from address_count where address = ?1) as count,
       (select json_group_array(json_object('target', name, 'since', since) order by name)
        from (select name, since from presence where address = ?1 order by name limit +?2)) as domains`,
  )
  return {
    async domainProfile(name, maxAddresses) {
      beginRead()
      const row = ofDomain.get(slotOf(name), name, maxAddresses) as unknown as ProfileRow | undefined
      return row ? unpackDomainProfile(row) : null
    },
    async addressProfile(address, limit) {
      beginRead()
      return unpackAddressProfile(ofAddress.get(packAddress(address), limit) as AddressProfileRow)
    },
  }
}
