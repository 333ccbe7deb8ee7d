/** Forgets a name: deletes its own rows, updates counters and writes a tombstone. */

import type { DatabaseSync } from 'node:sqlite'
import { NO_CLOCKS } from '../../../apply/crawl-state.ts'
import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import { unpackHex } from '../../../values/ip-address.ts'
import { packClocks, TOMBSTONE_ID } from '../../shared/columns.ts'
import { sharedRowWriter } from './shared-rows.ts'

type OwnRow = { id: number | null; addresses: string | null; redirects_to: DomainName | null }

/** Returns true if there was more than a tombstone. The version is incremented, so that a late write is rejected. */
export function nameForgetter(database: DatabaseSync): (name: DomainName) => boolean {
  const own = database.prepare(
    'select v.id, f.addresses, f.redirects_to from crawl_state v left join facts f on f.id = v.id where v.slot = ? and v.name = ?',
  )
  const writeTombstone = database.prepare(
    `insert into crawl_state (slot, name, id, version, clock, other_clocks, dns_fingerprint, web_fingerprint) values (?, ?, ${TOMBSTONE_ID}, 1, ?, null, 0, 0)
     on conflict do update set id = ${TOMBSTONE_ID}, version = version + 1, clock = excluded.clock, other_clocks = null, dns_fingerprint = 0, web_fingerprint = 0,
       due = 0, failures = 0`,
  )
  const removals = [
    'delete from facts where id = ?',
    'delete from dns_state where id = ?',
    'delete from dns_interruption where id = ?',
    'delete from address_first_seen where id = ?',
    'delete from pending_page where id = ?',
  ].map((sql) => database.prepare(sql))
  const prepareSharedRows = sharedRowWriter(database)
  return (name) => {
    const row = own.get(slotOf(name), name) as OwnRow | undefined
    writeTombstone.run(slotOf(name), name, packClocks(NO_CLOCKS).clock)
    if (!row || row.id === TOMBSTONE_ID) return false
    const shared = prepareSharedRows()
    for (const hex of JSON.parse(row.addresses ?? '[]') as string[]) shared.leave(unpackHex(hex), name)
    if (row.redirects_to !== null) shared.removeRedirect(row.redirects_to, name)
    shared.finish()
    if (row.id !== null) for (const removal of removals) removal.run(row.id)
    return true
  }
}
