/** Discovery: the domains that a probe reveals and that the crawl may add to the store. */

import { type RevealingSource, revealedDomains } from '../observe/revealed-domains.ts'
import type { DomainName } from '../values/domain-name.ts'
import type { ObservedProbe } from './request-source.ts'

/** Returns what `revealedBy` of a scheduler needs: the revealed domains of `sources` whose owners did not opt out. */
export function discoveryOf(
  sources: readonly RevealingSource[],
  optOut: { hasName(name: DomainName): boolean },
): { revealedBy?: (probed: ObservedProbe) => readonly DomainName[] } {
  if (sources.length === 0) return {}
  return {
    revealedBy: ({ result, observation }) =>
      revealedDomains(result, observation, sources).filter((domain) => !optOut.hasName(domain)),
  }
}
