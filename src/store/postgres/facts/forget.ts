/** Forgets a name: deletes its own rows, updates counters and writes a tombstone. */

import { NO_CLOCKS } from '../../../apply/crawl-state.ts'
import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import { unpackHex } from '../../../values/ip-address.ts'
import { packClocks, TOMBSTONE_ID } from '../../shared/columns.ts'
import { partitionOfName } from '../database/partition.ts'
import type { Shards } from '../database/shards.ts'
import type { Session } from '../database/transaction.ts'
import { removeFiledPages } from './page-removal.ts'
import { PostgresSharedRows } from './shared-rows.ts'

type OwnRows = { hexes: string; redirects_to: DomainName | null }

/** From here on no other transaction writes the name. Its version is incremented, so that a late write is rejected. */
const TAKE_NAME = {
  name: 'forget.take',
  text: `insert into crawl_state (part, slot, name, id, version, clock, other_clocks, dns_fingerprint, web_fingerprint)
    values ($1, $2, $3, ${TOMBSTONE_ID}, 1, $4, null, 0, 0)
    on conflict (part, slot, name) do update set version = crawl_state.version + 1 returning id`,
}
const READ_OWN_ROWS = {
  name: 'forget.own',
  text: `select redirects_to, coalesce((select json_agg(encode(a, 'hex')) from unnest(addresses) a), '[]')::text as hexes
    from facts where part = $1 and id = $2`,
}
const WRITE_TOMBSTONE = {
  name: 'forget.tombstone',
  text: `update crawl_state set id = ${TOMBSTONE_ID}, clock = $4, other_clocks = null, dns_fingerprint = 0, web_fingerprint = 0,
    due = 0, failures = 0 where part = $1 and slot = $2 and name = $3`,
}
const DELETE_OWN_ROWS = ['facts', 'dns_state', 'dns_interruption', 'address_first_seen', 'pending_page'].map(
  (table) => ({
    name: `forget.${table}`,
    text: `delete from ${table} where part = $1 and id = $2`,
  }),
)

/** Returns true if there was more than a tombstone. */
export async function forgetName(session: Session, shards: Shards, name: DomainName): Promise<boolean> {
  const key = [partitionOfName(name), slotOf(name), name, packClocks(NO_CLOCKS).clock]
  const [locked] = await session.rows<{ id: number | null }>(TAKE_NAME, key)
  const { id } = locked!
  if (id === TOMBSTONE_ID) return false
  await session.run(WRITE_TOMBSTONE, key)
  if (id === null) return true
  const [own] = await session.rows<OwnRows>(READ_OWN_ROWS, [key[0], id])
  for (const removal of DELETE_OWN_ROWS) await session.run(removal, [key[0], id])
  const shared = new PostgresSharedRows()
  for (const hex of JSON.parse(own?.hexes ?? '[]') as string[]) shared.leave(unpackHex(hex), name)
  if (own?.redirects_to) shared.removeRedirect(own.redirects_to, name)
  await shared.write(session, shards)
  await removeFiledPages(session, [{ part: key[0] as number, id }])
  return true
}
