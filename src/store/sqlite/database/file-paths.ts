/** The paths of the two files of a store. */

import { resolve } from 'node:path'
import { type StoreLocation, storeUrlOf } from '../../port/url.ts'

/** Absolute paths. The ledger is beside the facts unless it has a path of its own. */
export type StoreFiles = { facts: string; ledger: string }

/** The files of a store whose URL starts with `sqlite:`. */
export function sqliteFilesOf(location: StoreLocation): StoreFiles {
  const facts = resolve(storeUrlOf(location).slice('sqlite:'.length))
  return { facts, ledger: typeof location === 'string' ? defaultLedgerPath(facts) : resolve(location.ledger) }
}

/** The path of the ledger of a store without a separate ledger path. */
export function defaultLedgerPath(facts: string): string {
  return facts.replace(/(\.[^./]*)?$/, '-ledger$1')
}
