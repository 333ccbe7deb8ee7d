/** The manners of a crawl of a list: who is left out of it, and where a visit has to wait for its turn. */

import type { Observation } from '../../observe/observation.ts'
import type { OptOutList } from '../../probe/policy/opt-out.ts'
import type { PolitenessLimiter, RateLimitTargets } from '../../probe/policy/politeness-limiter.ts'
import type { IpAddress } from '../../values/ip-address.ts'
import { observedNameServers } from '../queue/admission.ts'
import type { DelayedName } from './delay-queue.ts'

export type Politeness = {
  limiter: Pick<PolitenessLimiter, 'wait' | 'acquire'>
  /** Milliseconds of the pace's clock. */
  nowMs: () => number
  optOut: Pick<OptOutList, 'hasName'>
  /** Whether an address is the operator's own, where nobody has to wait. */
  isOwn(address: IpAddress): boolean
}

/** Addresses of a name that are waited for together. */
const MAX_DELAY_ADDRESSES = 4

export const NO_POLITENESS: Politeness = {
  limiter: { wait: () => 0, acquire: () => 0 },
  nowMs: () => 0,
  optOut: { hasName: () => false },
  isOwn: () => true,
}

/** Where a name has to wait after a visit that was held at an address: there, and where visits before were held. */
export function targetsAfterDelay(
  previous: DelayedName | undefined,
  at: IpAddress,
  observation: Observation,
): RateLimitTargets {
  const addresses = new Set([...(previous?.delays ? (previous.targets.addresses ?? []) : []), at])
  const nameServers = observedNameServers(observation) || previous?.targets.nameServers
  const targets = { addresses: [...addresses].slice(-MAX_DELAY_ADDRESSES) }
  return nameServers === undefined ? targets : { ...targets, nameServers }
}
