/** Derives `ip` and `only_dns_no_web` of /lookup from the states of the record types. */

import { RECORD_TYPES } from '../values/records/dns-record.ts'
import type { CurrentFacts, IpStatus } from './crawl-state.ts'

/** `resolved`: A or AAAA was queried, now or before. A type that was never queried counts as empty. */
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

/** Returns true if the name has DNS records but no address. */
export function isOnlyDns(ip: IpStatus | null, states: CurrentFacts['states']): boolean {
  return ip === 'noip' && RECORD_TYPES.some((type) => hasStoredRecords(states[type]?.records))
}

function hasStoredRecords(records: string | undefined): boolean {
  return records !== undefined && records !== '[]'
}
