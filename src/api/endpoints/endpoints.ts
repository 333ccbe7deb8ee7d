/** The lists of endpoints: the seven under `/v1.0/`, the profiles, the search, the lookalikes, and the names of a day. */

import { daily } from './daily.ts'
import { dropped, registered } from './day-names.ts'
import { dnshistory } from './dnshistory.ts'
import type { Endpoint } from './endpoint.ts'
import { lookup } from './lookup.ts'
import { certificate } from './profiles/certificate.ts'
import { certificatehistory } from './profiles/certificatehistory.ts'
import { domain } from './profiles/domain.ts'
import { ip } from './profiles/ip.ts'
import { namedcertificates } from './profiles/namedcertificates.ts'
import { redirecthistory } from './profiles/redirecthistory.ts'
import { webhistory } from './profiles/webhistory.ts'
import { redirect } from './redirect.ts'
import { reverseip } from './reverseip.ts'
import { lookalikes } from './search/lookalikes.ts'
import { search } from './search/search.ts'
import { similar } from './similar.ts'
import { snapshot } from './snapshot.ts'

/** The seven endpoints. */
export const ENDPOINTS: readonly Endpoint[] = [lookup, redirect, reverseip, dnshistory, daily, snapshot, similar]

/** The profiles, whose query is what follows the name in the path, the search, the lookalikes, and the names of a day. */
export const PROFILE_ROUTES: readonly { endpoint: Endpoint; path: string }[] = [
  { endpoint: domain, path: '/domain/:query' },
  { endpoint: webhistory, path: '/domain/:query/web' },
  { endpoint: redirecthistory, path: '/domain/:query/redirects' },
  { endpoint: certificatehistory, path: '/domain/:query/certificates' },
  { endpoint: namedcertificates, path: '/domain/:query/named-certificates' },
  { endpoint: certificate, path: '/certificate/:query' },
  { endpoint: ip, path: '/ip/:query' },
  { endpoint: ip, path: '/ip/:query/:prefix' },
  { endpoint: search, path: '/search' },
  { endpoint: registered, path: '/registered' },
  { endpoint: dropped, path: '/dropped' },
  { endpoint: lookalikes, path: '/lookalikes' },
]

/** The endpoints of which a batch takes calls, by name: those that send no files. */
export const BATCH_ENDPOINTS: ReadonlyMap<string, Endpoint> = new Map(
  [...ENDPOINTS, ...PROFILE_ROUTES.map(({ endpoint }) => endpoint)]
    .filter(({ file }) => file === null)
    .map((each) => [each.name, each]),
)
