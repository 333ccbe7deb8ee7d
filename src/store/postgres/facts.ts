/** The facts on PostgreSQL: every answer is a look-up by key or a range of one key, in one statement. */

import { unpackHex } from '../../words/address.ts'
import { type Name, slotOf } from '../../words/name.ts'
import { type ClockRow, clockedOf, type LookupRow, lookupOf } from '../lookup.ts'
import type { Facts } from '../store.ts'
import type { Database } from './database.ts'
import { historyOf } from './history.ts'
import { neighboursOf, redirectsOf } from './pages.ts'
import { addressPart, partOf } from './part.ts'

const OF_NAME = 'v.part = $1 and v.slot = $2 and v.name = $3'
const LOOKUP = {
  name: 'facts.lookup',
  rowMode: 'array' as const,
  text: `select v.id, v.clock, v.late, f.ip, f.flags, f.ssl, f.redirects_to, f.networks, f.accounts,
      (select sources from target t where t.part = $1 and t.target = $3) as redirects,
      (select sum(a.names - 1)::bigint from unnest(f.addresses) x
        join address a on a.part = ${addressPart('x')} and a.address = x) as neighbours
    from visit v left join facts f on f.part = v.part and f.id = v.id where ${OF_NAME}`,
}
const CLOCKS = { name: 'facts.clocks', text: `select clock, late from visit v where ${OF_NAME}` }
const ADDRESSES = {
  name: 'facts.addresses',
  text: `select (select json_agg(encode(a, 'hex')) from unnest(f.addresses) a)::text as hexes
    from visit v join facts f on f.part = v.part and f.id = v.id where ${OF_NAME}`,
}

export function factsOf(database: Database): Facts {
  const { read } = database
  return {
    async lookup(name) {
      const [row] = await read<LookupRow>(LOOKUP, keyOf(name))
      return row ? lookupOf(row) : null
    },
    async clocks(name) {
      const [row] = await read<ClockRow>(CLOCKS, keyOf(name))
      return row ? clockedOf(row) : { dns: null, web: null }
    },
    async addresses(name) {
      const [row] = await read<{ hexes: string | null }>(ADDRESSES, keyOf(name))
      return (JSON.parse(row?.hexes ?? '[]') as string[]).map(unpackHex)
    },
    redirects: redirectsOf(database),
    neighbours: neighboursOf(database),
    history: historyOf(read),
  }
}

/** The key of a name's narrow row. */
export function keyOf(name: Name): [part: number, slot: number, name: Name] {
  return [partOf(name), slotOf(name), name]
}
