/** The manners of a crawl of a list: who is left out of it, and where a visit has to wait for its turn. */

import type { OptOut } from '../../crawl/opt-out.ts'
import type { Pace, Places } from '../../crawl/pace.ts'
import type { Observation } from '../../observe/observation.ts'
import { serversSeen } from '../../schedule/admission.ts'
import type { Address } from '../../words/address.ts'
import type { Held } from './beside.ts'

export type Manners = {
  pace: Pick<Pace, 'wait' | 'take'>
  /** Milliseconds of the pace's clock. */
  ticks: () => number
  optOut: Pick<OptOut, 'hasName'>
  /** Whether an address is the operator's own, where nobody has to wait. */
  isOwn(address: Address): boolean
}

/** Addresses of a name that are waited for together. */
const MOST_ADDRESSES = 4

export const NO_MANNERS: Manners = {
  pace: { wait: () => 0, take: () => 0 },
  ticks: () => 0,
  optOut: { hasName: () => false },
  isOwn: () => true,
}

/** Where a name has to wait after a visit that was held at an address: there, and where visits before were held. */
export function placesAfter(before: Held | undefined, at: Address, seen: Observation): Places {
  const addresses = new Set([...(before?.times ? (before.places.addresses ?? []) : []), at])
  const servers = serversSeen(seen) || before?.places.servers
  const places = { addresses: [...addresses].slice(-MOST_ADDRESSES) }
  return servers === undefined ? places : { ...places, servers }
}
