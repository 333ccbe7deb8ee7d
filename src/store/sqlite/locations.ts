/** The locations of SQLite stores: `sqlite:` and the path of a file. The ledger is a second file. */

import { resolve } from 'node:path'
import type { LocationRules } from '../port/engine.ts'
import { maskedText, type StoreLocation, storeUrlOf } from '../port/url.ts'

const SCHEME = /^sqlite:/

export const SQLITE_LOCATIONS: LocationRules = {
  name: 'SQLite',
  scheme: SCHEME,
  urlFormat: 'sqlite:PATH',
  isValidUrl: (url) => /^sqlite:(?!:memory:)./s.test(url) && !url.includes('://'),
  redactUrl: (url) => (url.includes('://') ? maskedText(url) : url),
  paths: (location) => [factsPath(location)],
  takesLedgerPath: true,
}

/** Absolute paths. The ledger is beside the facts unless it has a path of its own. */
export type StoreFiles = { facts: string; ledger: string }

export function sqliteFilesOf(location: StoreLocation): StoreFiles {
  const facts = resolve(factsPath(location))
  return { facts, ledger: typeof location === 'string' ? defaultLedgerPath(facts) : resolve(location.ledger) }
}

/** The path of the ledger of a store without a separate ledger path. */
export function defaultLedgerPath(facts: string): string {
  return facts.replace(/(\.[^./]*)?$/, '-ledger$1')
}

function factsPath(location: StoreLocation): string {
  return storeUrlOf(location).replace(SCHEME, '')
}
