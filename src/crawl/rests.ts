/** The rests of addresses: how long those that ask to be left alone are, by what they answered to the visits before. */

import type { Address } from '../words/address.ts'
import type { Reply } from './http-exchange.ts'
import type { Pace } from './pace.ts'
import { Recent } from './recent.ts'
import { restAsked } from './retry-after.ts'

export type Rests = { beginVisit(): VisitRests }

export type VisitRests = {
  /** An answer that came from an address. */
  heard(address: Address, reply: Pick<Reply, 'status' | 'field'>): void
  end(): void
}

/**
 * Milliseconds that an address may have us stay away, by how many visits in a row it asked before: one customer of a shared
 * address must not keep us from all the others.
 */
const MOST = [60_000, 60 * 60_000, 24 * 60 * 60_000] as const
/** Addresses of which that is remembered. */
const KEPT = 20_000

/** `now`: milliseconds since 1970. */
export function openRests(pace: Pick<Pace, 'rest'>, now: () => number): Rests {
  const inRow = new Recent<Address, number>(KEPT)
  return {
    beginVisit() {
      const asked = new Map<Address, boolean>()
      return {
        heard(address, reply) {
          const milliseconds = restAsked(reply, now())
          asked.set(address, milliseconds !== null || asked.get(address) === true)
          if (milliseconds === null) return
          pace.rest(address, Math.min(milliseconds, MOST[Math.min(inRow.get(address) ?? 0, MOST.length - 1)]!))
        },
        end() {
          for (const [address, isAsked] of asked) {
            if (isAsked) inRow.use(address, (inRow.get(address) ?? 0) + 1)
            else inRow.delete(address)
          }
        },
      }
    },
  }
}
