/**
 * The usable address families. The guard rejects the addresses of a closed family. A host that has no other address
 * then counts as not probed.
 */

import { addressFamily } from '../values/ip-address.ts'
import type { Guard } from './guard.ts'

export type AddressFamilies = Readonly<Record<4 | 6, boolean>>

export type FamilyGuard = Guard & {
  /** From now on, the guard accepts only addresses of these families. */
  setOpenFamilies(families: AddressFamilies): void
}

/** Adds closable families to a guard. Both are open at first. */
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
