/** The facts on SQLite: every answer is a look-up by key or a range of one key. */

import type { DatabaseSync } from 'node:sqlite'
import type { Ip } from '../../apply/known.ts'
import type { Ssl } from '../../observe/observation.ts'
import { unpackHex } from '../../words/address.ts'
import { slotOf } from '../../words/name.ts'
import type { Clocked, Facts, Lookup } from '../store.ts'
import { FLAG, unpackClocks } from './columns.ts'
import { TOMBSTONE } from './frontier.ts'
import { historyOf } from './history.ts'
import { neighboursOf, redirectsOf } from './pages.ts'

type ClockRow = { clock: number; late: Uint8Array | null }
/** An array, because the one statement of /lookup is asked so often: an object takes twice as long to make. */
type LookupRow = [
  id: number | null,
  clock: number,
  late: Uint8Array | null,
  ip: Ip | null,
  flags: number | null,
  ssl: Ssl | null,
  redirects_to: string | null,
  networks: string | null,
  accounts: string | null,
  redirects: number | null,
  neighbours: number | null,
]

export function factsOf(database: DatabaseSync): Facts {
  const lookup = database.prepare(
    `select v.id, v.clock, v.late, f.ip, f.flags, f.ssl, f.redirects_to, f.networks, f.accounts,
       (select sources from target where target = ?2) as redirects,
       (select sum(a.names - 1) from json_each(f.addresses) j join address a on a.address = unhex(j.value)) as neighbours
     from visit v left join facts f on f.id = v.id where v.slot = ?1 and v.name = ?2`,
  )
  lookup.setReturnArrays(true)
  const clocks = database.prepare('select clock, late from visit where slot = ? and name = ?')
  const addresses = database.prepare(
    'select f.addresses from visit v join facts f on f.id = v.id where v.slot = ? and v.name = ?',
  )
  return {
    async lookup(name) {
      const row = lookup.get(slotOf(name), name) as unknown as LookupRow | undefined
      return row && row[0] !== TOMBSTONE ? lookupOf(row) : null
    },
    async clocks(name) {
      const row = clocks.get(slotOf(name), name) as ClockRow | undefined
      return row ? clockedOf(row) : { dns: null, web: null }
    },
    async addresses(name) {
      const row = addresses.get(slotOf(name), name) as { addresses: string | null } | undefined
      return (JSON.parse(row?.addresses ?? '[]') as string[]).map(unpackHex)
    },
    redirects: redirectsOf(database),
    neighbours: neighboursOf(database),
    history: historyOf(database),
  }
}

/** Status and the seven record types are the dns part's clocks; the last is the web part's. */
function clockedOf({ clock, late }: ClockRow): Clocked {
  if (late === null) return { dns: clock || null, web: clock || null }
  const clocks = unpackClocks(clock, late)
  return { web: clocks.pop() || null, dns: Math.max(...clocks) || null }
}

function lookupOf(row: LookupRow): Lookup {
  const [, clock, late, ip, bits, ssl, redirects_to, networks, accounts, redirects, neighbours] = row
  const flags = bits ?? 0
  const { dns, web } = clockedOf({ clock, late })
  return {
    dns,
    web,
    ip,
    only_dns_no_web: (flags & FLAG.only_dns_no_web) !== 0,
    has_website: (flags & FLAG.has_website) !== 0,
    redirect_to_https: (flags & FLAG.redirect_to_https) !== 0,
    redirect_to_www: (flags & FLAG.redirect_to_www) !== 0,
    redirect_to_domain: redirects_to !== null,
    only_with_www: (flags & FLAG.only_with_www) !== 0,
    ssl: ssl ?? 'nocert',
    social_networks: networks ?? '[]',
    social_accounts: accounts ?? '[]',
    redirect_count: redirects ?? 0,
    reverse_ip_count: neighbours ?? 0,
  }
}
