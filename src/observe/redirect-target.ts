/** Derives a redirect target from the final host of the redirects and the public suffix list. */

import { type DomainName, registrableDomain } from '../values/domain-name.ts'
import type { WebPart } from './observation.ts'

export type RedirectTarget = Pick<WebPart, 'redirects_to' | 'redirect_host'>

/** The domain does not redirect to another domain. */
export const NO_REDIRECT_TARGET: RedirectTarget = { redirects_to: null }

/** Returns the target for a final host: its registrable domain, or null if that is the domain's own. */
export function redirectTargetFor(
  host: DomainName,
  domain: DomainName,
  registrableOf: (name: DomainName) => DomainName = registrableDomain,
): RedirectTarget {
  const target = registrableOf(host)
  const redirects_to = target === registrableOf(domain) ? null : target
  const stays = host === domain || host === `www.${domain}`
  return { redirects_to, ...((redirects_to !== null || !stays) && { redirect_host: host }) }
}
