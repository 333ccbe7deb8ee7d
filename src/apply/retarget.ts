/** The redirect target of a name by another public suffix list than the one that it was stored under. Pure. */

import { redirectTargetFor } from '../observe/redirect-target.ts'
import { type DomainName, registrableDomain } from '../values/domain-name.ts'
import type { Change } from './change.ts'
import type { CrawlState, CurrentFacts, WebFacts } from './crawl-state.ts'

/** Returns the registrable domain of a host. */
export type RegistrableDomainOf = (host: DomainName) => DomainName

/**
 * Returns the change that brings a stored target in line with `registrableOf`, or null if it is in line. If the host is
 * not known, as in rows of older releases, the target itself stands for it. The name becomes due at once, because what
 * else follows from the target (a website of its own, its accounts and text) only a visit can say.
 */
export function retargetChange(
  state: CrawlState,
  current: CurrentFacts,
  registrableOf: RegistrableDomainOf = registrableDomain,
): Change | null {
  const { web } = current
  const host = web?.redirect_host ?? web?.redirects_to ?? null
  if (web === null || host === null || state.forgotten) return null
  const { redirects_to } = redirectTargetFor(host, state.name, registrableOf)
  if (redirects_to === web.redirects_to) return null
  const hadText = redirects_to !== null && web.digest !== null
  return {
    state: { ...state, webFingerprint: 0, due: 0 },
    facts: {
      current: { ...current, web: withTarget(web, redirects_to) },
      superseded: [],
      firstSeen: [],
      arrived: [],
      left: [],
      redirectBefore: web.redirects_to,
      redirectAfter: redirects_to,
      terms: hadText ? null : undefined,
    },
  }
}

/** A name that redirects to another domain has no website, and so neither accounts nor text. */
function withTarget(web: WebFacts, redirects_to: DomainName | null): WebFacts {
  if (redirects_to === null) return { ...web, redirects_to }
  return { ...web, redirects_to, has_website: false, social_networks: [], social_accounts: [], digest: null }
}
