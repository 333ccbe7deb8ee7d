/** The lists of endpoints: the seven under `/v1.0/`, and the profiles. */

import { daily } from './daily.ts'
import { dnshistory } from './dnshistory.ts'
import { domain } from './domain.ts'
import type { Endpoint } from './endpoint.ts'
import { ip } from './ip.ts'
import { lookup } from './lookup.ts'
import { redirect } from './redirect.ts'
import { reverseip } from './reverseip.ts'
import { similar } from './similar.ts'
import { snapshot } from './snapshot.ts'

/** The seven endpoints. */
export const ENDPOINTS: readonly Endpoint[] = [lookup, redirect, reverseip, dnshistory, daily, snapshot, similar]

/** The profiles. The query is the last segment of the path. */
export const PROFILE_ROUTES: readonly { endpoint: Endpoint; path: string }[] = [
  { endpoint: domain, path: '/domain/:query' },
  { endpoint: ip, path: '/ip/:query' },
]
