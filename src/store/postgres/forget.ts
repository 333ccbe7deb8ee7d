/** Forgetting a name: every row that is its own goes, counters follow, and a tombstone stays. */

import { NO_CLOCKS } from '../../apply/known.ts'
import { unpackHex } from '../../words/address.ts'
import { type Name, slotOf } from '../../words/name.ts'
import { packClocks, TOMBSTONE } from '../columns.ts'
import { partOf } from './part.ts'
import { SharedRows } from './shared-rows.ts'
import type { Session } from './writer.ts'

type Own = { hexes: string; redirects_to: Name | null }

/** From here on no one else writes the name; its version is raised, so that a late write is turned away. */
const TAKE = {
  name: 'forget.take',
  text: `insert into visit (part, slot, name, id, version, clock, late, dns_print, web_print) values ($1, $2, $3, ${TOMBSTONE}, 1, $4, null, 0, 0)
    on conflict (part, slot, name) do update set version = visit.version + 1 returning id`,
}
const OWN = {
  name: 'forget.own',
  text: `select redirects_to, coalesce((select json_agg(encode(a, 'hex')) from unnest(addresses) a), '[]')::text as hexes
    from facts where part = $1 and id = $2`,
}
const BURY = {
  name: 'forget.bury',
  text: `update visit set id = ${TOMBSTONE}, clock = $4, late = null, dns_print = 0, web_print = 0, due = 0, failures = 0 where part = $1 and slot = $2 and name = $3`,
}
/** The row of reading goes with the facts, by a trigger. */
const REMOVALS = ['facts', 'state', 'ever', 'page'].map((table) => ({
  name: `forget.${table}`,
  text: `delete from ${table} where part = $1 and id = $2`,
}))

/** True where something besides a tombstone was there. */
export async function forget(session: Session, name: Name): Promise<boolean> {
  const key = [partOf(name), slotOf(name), name, packClocks(NO_CLOCKS).clock]
  const [taken] = await session.rows<{ id: number | null }>(TAKE, key)
  const { id } = taken!
  if (id === TOMBSTONE) return false
  await session.run(BURY, key)
  if (id === null) return true
  const [own] = await session.rows<Own>(OWN, [key[0], id])
  for (const removal of REMOVALS) await session.run(removal, [key[0], id])
  const shared = new SharedRows()
  for (const hex of JSON.parse(own?.hexes ?? '[]') as string[]) shared.leave(unpackHex(hex), name)
  if (own?.redirects_to) shared.endRedirect(own.redirects_to, name)
  await shared.write(session)
  return true
}
