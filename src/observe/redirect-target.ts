/** The target of a redirect by the public suffix list, from the host at which the redirects of a domain ended. */

import { type DomainName, registrableDomain } from '../values/domain-name.ts'
import type { WebPart } from './observation.ts'

export type RedirectTarget = Pick<WebPart, 'redirects_to' | 'redirect_host'>

/** The domain redirects nowhere. */
export const NO_REDIRECT_TARGET: RedirectTarget = { redirects_to: null }

/**
 * The target that a host stands for by a public suffix list: its registrable domain, or null if that is the domain's
 * own.
 */
export function redirectTargetFor(
  host: DomainName,
  domain: DomainName,
  registrableOf: (name: DomainName) => DomainName = registrableDomain,
): RedirectTarget {
  const found = registrableOf(host)
  const redirects_to = found === registrableOf(domain) ? null : found
  const stays = host === domain || host === `www.${domain}`
  return { redirects_to, ...((redirects_to !== null || !stays) && { redirect_host: host }) }
}
