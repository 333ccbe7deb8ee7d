/** The rate limit targets of a probe, by earlier observations of the name. Pure. */

import type { CurrentFacts } from '../apply/crawl-state.ts'
import type { Observation } from '../observe/observation.ts'
import type { RateLimitTargets } from '../probe/policy/politeness-limiter.ts'
import type { IpAddress } from '../values/ip-address.ts'

/** The addresses and name servers of a name as of its last observation. */
export function targetsOf({ addresses, states }: Pick<CurrentFacts, 'addresses' | 'states'>): RateLimitTargets {
  const nameServers = states.NS === undefined ? '' : (JSON.parse(states.NS.records) as string[]).join(' ')
  return nameServers === '' ? { addresses } : { addresses, nameServers }
}

/** The name servers in an observation, in the form of `targetsOf`. Returns '' if there are none. */
export function observedNameServers({ dns }: Observation): string {
  return (dns?.records.NS ?? []).map(({ nameserver }) => nameserver).join(' ')
}

/**
 * Removes the operator's own addresses, and the name servers of a name that has only such addresses. They have no rate
 * limit.
 */
export function withoutOwnAddresses(
  { addresses = [], nameServers }: RateLimitTargets,
  isOwn: (address: IpAddress) => boolean,
): RateLimitTargets {
  const others = addresses.filter((address) => !isOwn(address))
  const isFree = nameServers === undefined || (addresses.length > 0 && others.length === 0)
  return isFree ? { addresses: others } : { addresses: others, nameServers }
}
