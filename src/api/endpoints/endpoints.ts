/** The lists of endpoints: the seven under `/v1.0/`, the profiles, the search and the lookalikes. */

import { daily } from './daily.ts'
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

/** The profiles, whose query is what follows the name in the path, and the search and the lookalikes. */
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
  { endpoint: lookalikes, path: '/lookalikes' },
]
