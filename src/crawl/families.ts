/** The families of addresses that are open to the crawler: one that goes away is closed, and nothing is said of what has no other. */

import { family } from '../words/address.ts'
import type { Guard } from './guard.ts'

/** By family of addresses. */
export type Families = Readonly<Record<4 | 6, boolean>>

export type FamilyGuard = Guard & {
  /** What is vetted from now on passes in these families alone. */
  open(families: Families): void
}

/** A guard whose families can be closed; both are open at first. */
export function guardFamilies(guard: Guard): FamilyGuard {
  let families: Families = { 4: true, 6: true }
  return {
    vet(address, port) {
      const vetted = guard.vet(address, port)
      return vetted !== null && families[family(vetted.address)] ? vetted : null
    },
    open(next) {
      families = next
    },
  }
}
