/** What the states of the record types say of a name's addresses: `ip` and `only_dns_no_web` of /lookup. */

import { RECORD_TYPES } from '../values/dns-record.ts'
import type { CurrentFacts, IpStatus } from './crawl-state.ts'

/** `resolved`: a part asked A or AAAA, now or before; a type that was never asked counts as empty. */
export function ipStatusOf(
  { status, states }: Pick<CurrentFacts, 'status' | 'states'>,
  resolved: boolean,
): IpStatus | null {
  if (status === 'nxdomain' || status === 'servfail') return status
  if (!resolved) return null
  const v4 = hasStoredRecords(states.A?.records)
  const v6 = hasStoredRecords(states.AAAA?.records)
  if (v4 && v6) return 'both'
  if (v4) return 'v4only'
  return v6 ? 'v6only' : 'noip'
}

/** DNS entries exist, but no address. */
export function isOnlyDns(ip: IpStatus | null, states: CurrentFacts['states']): boolean {
  return ip === 'noip' && RECORD_TYPES.some((type) => hasStoredRecords(states[type]?.records))
}

function hasStoredRecords(records: string | undefined): boolean {
  return records !== undefined && records !== '[]'
}
