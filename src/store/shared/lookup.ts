/** Builds the response of /lookup from the columns that an engine has read. */

import { type Clocks, type IpStatus, NO_CLOCKS } from '../../apply/crawl-state.ts'
import { CLOCK_INDEX } from '../../apply/stored-numbers.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { Ssl } from '../../values/web-verdict.ts'
import type { LastObserved, Lookup } from '../port/store.ts'
import { FACTS_FLAG, TOMBSTONE_ID, unpackClocks } from './columns.ts'

/** The first columns of a LookupRow, of a crawl state `v` and its facts `f`. */
export const LOOKUP_COLUMNS: readonly string[] = [
  ...['v.id', 'v.clock', 'v.other_clocks', 'f.ip', 'f.flags', 'f.ssl', 'f.redirects_to'],
  ...['f.social_networks', 'f.social_accounts'],
]

/** The columns of a LookupRow: these and the two counters. */
export const LOOKUP_ROW_COLUMNS = LOOKUP_COLUMNS.length + 2

/** The clocks of a crawl state. */
export type ClockRow = { clock: number; other_clocks: Uint8Array | null }
/** LOOKUP_COLUMNS and the two counters. An array, because creating an object takes twice as long. */
export type LookupRow = [
  id: number | null,
  clock: number,
  otherClocks: Uint8Array | null,
  ip: IpStatus | null,
  flags: number | null,
  ssl: Ssl | null,
  redirects_to: string | null,
  networks: string | null,
  accounts: string | null,
  redirects: number | null,
  neighbours: number | null,
]

/**
 * The clock of the DNS part is the newest of all clocks except those of the web and its certificate. Without a row, the
 * name is unknown.
 */
export function lastObservedOf(row?: ClockRow): LastObserved {
  if (row === undefined) return { dns: null, web: null }
  const { clock, other_clocks: otherClocks } = row
  if (otherClocks === null) return { dns: clock || null, web: clock || null }
  const clocks = unpackClocks(clock, otherClocks)
  const dns = Math.max(...clocks.filter((_, part) => part !== CLOCK_INDEX.web && part !== CLOCK_INDEX.certificate))
  return { web: clocks[CLOCK_INDEX.web] || null, dns: dns || null }
}

/** When each part was last observed; `NO_CLOCKS` without a row. */
export function partClocksOf(row: ClockRow | undefined): Clocks {
  return row === undefined ? NO_CLOCKS : unpackClocks(row.clock, row.other_clocks)
}

/** Null for a forgotten name. Further columns are ignored. */
export function unpackLookup(row: readonly [...LookupRow, ...unknown[]]): Lookup | null {
  const [id, clock, otherClocks, ip, flagBits, ssl, redirects_to, networks, accounts, redirects, neighbours] = row
  if (id === TOMBSTONE_ID) return null
  const flags = flagBits ?? 0
  const { dns, web } = lastObservedOf({ clock, other_clocks: otherClocks })
  return {
    dns,
    web,
    ip,
    only_dns_no_web: (flags & FACTS_FLAG.only_dns_no_web) !== 0,
    has_website: (flags & FACTS_FLAG.has_website) !== 0,
    redirect_to_https: (flags & FACTS_FLAG.redirect_to_https) !== 0,
    redirect_to_www: (flags & FACTS_FLAG.redirect_to_www) !== 0,
    redirect_to_domain: redirects_to !== null,
    only_with_www: (flags & FACTS_FLAG.only_with_www) !== 0,
    ssl: ssl ?? 'nocert',
    social_networks: networks ?? '[]',
    social_accounts: accounts ?? '[]',
    redirect_count: redirects ?? 0,
    reverse_ip_count: neighbours ?? 0,
  }
}

export function redirectTargetOf([, , , , , , target]: readonly [...LookupRow, ...unknown[]]): DomainName | null {
  return target as DomainName | null
}
