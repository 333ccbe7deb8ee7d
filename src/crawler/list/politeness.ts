/** The politeness of a list crawl: who is skipped, and where a probe has to wait. */

import type { Observation } from '../../observe/observation.ts'
import type { OptOutList } from '../../probe/policy/opt-out.ts'
import type { PolitenessLimiter, RateLimitTargets } from '../../probe/policy/politeness-limiter.ts'
import type { IpAddress } from '../../values/ip-address.ts'
import { observedNameServers } from '../probe-targets.ts'
import type { DelayedName } from './delay-queue.ts'

export type Politeness = {
  limiter: Pick<PolitenessLimiter, 'wait' | 'acquire'>
  /** Milliseconds of the limiter's clock. */
  nowMs: () => number
  optOut: Pick<OptOutList, 'hasName'>
  /** Whether an address is the operator's own, without rate limits. */
  isOwn(address: IpAddress): boolean
}

/** The maximum of addresses that a delayed name waits for. */
const MAX_DELAY_ADDRESSES = 4

export const NO_POLITENESS: Politeness = {
  limiter: { wait: () => 0, acquire: () => 0 },
  nowMs: () => 0,
  optOut: { hasName: () => false },
  isOwn: () => true,
}

/**
 * The targets that a name waits for after its probe was deferred at an address: that address and those of earlier
 * delays.
 */
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
