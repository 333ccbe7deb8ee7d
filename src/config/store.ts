/** The settings of the store and its disks: a part of the table of all settings. */

import { resolve } from 'node:path'
import { isPostgres, redactedStoreUrl, type StoreLocation, storeUrlOf } from '../store/port/url.ts'
import type { FreeSpace } from '../store/shared/disk.ts'
import { parseStoreUrl, type Setting } from './parse.ts'

export type StoreSettings = {
  /** `sqlite:PATH`, or a URL of PostgreSQL, which may hold a password; with the path of the ledger if that lies apart. */
  store: StoreLocation
  /** Another store, which this one is copied to. */
  storeTo: StoreLocation | null
  /** The paths of ledgers that lie apart, which are in `store` and `storeTo` already. */
  ledger: string | null
  ledgerTo: string | null
  /** What stays free on a disk. Null: nothing is kept free. */
  diskFree: FreeSpace | null
}

const STORE_URL_FORMAT =
  'sqlite:PATH, the path of a file, or postgres://USER:PASSWORD@HOST:PORT/DATABASE with %40 %2F %3F %23 %25 for @ / ? # % in the password'
const BYTE_UNITS: Readonly<Record<string, number>> = { M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 }

export const STORE_SETTINGS: { readonly [Key in keyof StoreSettings]: Setting<StoreSettings[Key]> } = {
  store: {
    name: 'DOMAINDEX_STORE',
    defaultText: 'sqlite:data/domaindex.db',
    meaning:
      'Where the data lies. With SQLite, accounts and usage lie in a second file beside it, `…-ledger.db`, or where DOMAINDEX_LEDGER says.',
    allowed: STORE_URL_FORMAT,
    show: redactedStoreUrl,
    parse: parseStoreUrl,
  },
  storeTo: {
    name: 'DOMAINDEX_STORE_TO',
    defaultText: '',
    meaning: 'The store that `domaindex copy` makes, or goes on with.',
    allowed: STORE_URL_FORMAT,
    show: redactedStoreUrl,
    parse: (text) => (text === '' ? null : parseStoreUrl(text)),
  },
  ledger: {
    name: 'DOMAINDEX_LEDGER',
    defaultText: '',
    meaning:
      'SQLite: the file of accounts, tokens and usage, so that it can have a disk of its own. Unset, it lies beside the facts.',
    allowed: 'the path of a file',
    parse: (text) => text || null,
  },
  ledgerTo: {
    name: 'DOMAINDEX_LEDGER_TO',
    defaultText: '',
    meaning: 'The same for the store that `domaindex copy` makes.',
    allowed: 'the path of a file',
    parse: (text) => text || null,
  },
  diskFree: {
    name: 'DOMAINDEX_MIN_DISK_FREE',
    defaultText: '5%,1G',
    meaning:
      'What imports, crawls and builds leave free on the disks that they write to: below it they pause, and go on by themselves. Of two values the smaller one counts.',
    allowed: 'a share such as 5%, a size such as 500M, 1G or 1T, both separated by a comma, or off',
    parse: (text) => (text === 'off' ? null : parseFreeSpace(text)),
  },
}

function parseFreeSpace(text: string): FreeSpace | undefined {
  const [, percent, , digits, unit] = /^(?:(\d{1,2}(?:\.\d)?)%)?(^|,|$)(?:(\d{1,6})([MGT]))?$/.exec(text) ?? []
  if (percent === undefined && digits === undefined) return undefined
  return {
    share: percent === undefined ? Number.POSITIVE_INFINITY : Number(percent) / 100,
    bytes: digits === undefined ? Number.POSITIVE_INFINITY : Number(digits) * BYTE_UNITS[unit!]!,
  }
}

/** Puts the ledgers that lie apart into the places of their stores; returns what is wrong, a line for each. */
export function applyLedgerPaths(settings: StoreSettings): string[] {
  const faults: string[] = []
  for (const [store, ledger] of [
    ['store', 'ledger'],
    ['storeTo', 'ledgerTo'],
  ] as const) {
    const [place, path] = [settings[store], settings[ledger]]
    if (!place || !path) continue
    if (isPostgres(place)) faults.push(`${STORE_SETTINGS[ledger].name} is for a store in SQLite: leave it unset`)
    else if (resolve(storeUrlOf(place).slice('sqlite:'.length)) === resolve(path))
      faults.push(
        `${STORE_SETTINGS[ledger].name} and ${STORE_SETTINGS[store].name} name the same file: give the ledger one of its own`,
      )
    settings[store] = { url: storeUrlOf(place), ledger: path }
  }
  return faults
}
