/** The families of addresses that are open to the crawler: one that goes away is closed, and nothing is said of what has no other. */

import { addressFamily } from '../values/ip-address.ts'
import type { Guard } from './guard.ts'

/** By family of addresses. */
export type AddressFamilies = Readonly<Record<4 | 6, boolean>>

export type FamilyGuard = Guard & {
  /** What is vetted from now on passes in these families alone. */
  setOpenFamilies(families: AddressFamilies): void
}

/** A guard whose families can be closed; both are open at first. */
export function makeFamilyGuard(guard: Guard): FamilyGuard {
  let families: AddressFamilies = { 4: true, 6: true }
  return {
    vet(address, port) {
      const vetted = guard.vet(address, port)
      return vetted !== null && families[addressFamily(vetted.address)] ? vetted : null
    },
    setOpenFamilies(next) {
      families = next
    },
  }
}
