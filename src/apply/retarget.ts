/** Derives the redirect target of a name again after the public suffix list has changed. Pure. */

import { redirectTargetFor } from '../observe/redirect-target.ts'
import { type DomainName, registrableDomain } from '../values/domain-name.ts'
import type { Change } from './change.ts'
import type { CrawlState, CurrentFacts, WebFacts } from './crawl-state.ts'
import { CLOCK_INDEX } from './stored-numbers.ts'
import { webStateChange, webStateOf } from './web-state.ts'

/** Returns the registrable domain of a host. */
export type RegistrableDomainOf = (host: DomainName) => DomainName

/**
 * Returns the change that brings a stored target in line with `registrableOf`, or null if it is in line. Rows of older
 * releases have no redirect host, so the target itself is used. The name becomes due immediately, because only a probe can provide
 * the website, accounts and text that follow from the new target. The new verdict begins a second after the former one
 * was last observed.
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
  const retargeted = withTarget(web, redirects_to)
  const clock = state.clocks[CLOCK_INDEX.web]!
  const known = webStateOf(current, clock)
  const begin = Math.max(clock, known?.first_seen ?? 0) + 1
  const change = webStateChange(current, clock, retargeted, begin)
  const states = change === null ? current.states : { ...current.states, web: change.state }
  const hadText = redirects_to !== null && web.digest !== null
  return {
    state: { ...state, webFingerprint: 0, due: 0 },
    facts: {
      current: { ...current, states, web: retargeted },
      superseded: change?.superseded ?? [],
      interruptions: [],
      firstSeen: [],
      arrived: [],
      left: [],
      redirectBefore: web.redirects_to,
      redirectAfter: redirects_to,
      terms: hadText ? null : undefined,
      certificates: [],
      setChanges: change?.sets ?? [],
      transitions: [],
    },
  }
}

/** A name that redirects to another domain has no website, and therefore no accounts and no text. */
function withTarget(web: WebFacts, redirects_to: DomainName | null): WebFacts {
  if (redirects_to === null) return { ...web, redirects_to }
  return { ...web, redirects_to, has_website: false, social_networks: [], social_accounts: [], digest: null }
}
