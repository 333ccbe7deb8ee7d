/** Where the two files of a store lie. */

import { resolve } from 'node:path'
import { type StorePlace, urlOf } from '../url.ts'

/** Absolute paths. The ledger lies beside the facts, unless it has a place of its own. */
export type StoreFiles = { facts: string; ledger: string }

/** The files of a store whose URL begins with `sqlite:`. */
export function filesOf(place: StorePlace): StoreFiles {
  const facts = resolve(urlOf(place).slice('sqlite:'.length))
  return { facts, ledger: typeof place === 'string' ? ledgerBeside(facts) : resolve(place.ledger) }
}

/** Where the ledger of a store lies that has no place of its own. */
export function ledgerBeside(facts: string): string {
  return facts.replace(/(\.[^./]*)?$/, '-ledger$1')
}
