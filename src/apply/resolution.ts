/** What the states of the record types say of a name's addresses: `ip` and `only_dns_no_web` of /lookup. */

import { RECORD_TYPES } from '../words/record.ts'
import type { Current, Ip } from './known.ts'

/** `resolved`: a part asked A or AAAA, now or before; a type that was never asked counts as empty. */
export function ipOf({ status, states }: Pick<Current, 'status' | 'states'>, resolved: boolean): Ip | null {
  if (status === 'nxdomain' || status === 'servfail') return status
  if (!resolved) return null
  const v4 = hasRecords(states.A?.records)
  const v6 = hasRecords(states.AAAA?.records)
  if (v4 && v6) return 'both'
  if (v4) return 'v4only'
  return v6 ? 'v6only' : 'noip'
}

/** DNS entries exist, but no address. */
export function onlyDns(ip: Ip | null, states: Current['states']): boolean {
  return ip === 'noip' && RECORD_TYPES.some((type) => hasRecords(states[type]?.records))
}

function hasRecords(records: string | undefined): boolean {
  return records !== undefined && records !== '[]'
}
