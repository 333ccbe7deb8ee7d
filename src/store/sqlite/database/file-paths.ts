/** Where the two files of a store lie. */

import { resolve } from 'node:path'
import { type StoreLocation, storeUrlOf } from '../../port/url.ts'

/** Absolute paths. The ledger lies beside the facts, unless it has a place of its own. */
export type StoreFiles = { facts: string; ledger: string }

/** The files of a store whose URL begins with `sqlite:`. */
export function sqliteFilesOf(location: StoreLocation): StoreFiles {
  const facts = resolve(storeUrlOf(location).slice('sqlite:'.length))
  return { facts, ledger: typeof location === 'string' ? defaultLedgerPath(facts) : resolve(location.ledger) }
}

/** Where the ledger of a store lies that has no place of its own. */
export function defaultLedgerPath(facts: string): string {
  return facts.replace(/(\.[^./]*)?$/, '-ledger$1')
}
