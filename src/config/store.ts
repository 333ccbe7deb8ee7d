/** The settings of the store and its disks. */

import { resolve } from 'node:path'
import { isUrl } from '../jobs/file-store/location.ts'
import { ENGINES, engineOf, redactedStoreUrl, STORE_URL_FORMAT } from '../store/engines.ts'
import { type StoreLocation, storeUrlOf } from '../store/port/url.ts'
import type { FreeSpace } from '../store/shared/disk.ts'
import { parseStoreUrl, type Setting } from './parse.ts'

export type StoreSettings = {
  /** A URL, which may contain a password, with the path of a separate ledger. */
  store: StoreLocation
  /** The store to which `domaindex copy` copies. */
  storeTo: StoreLocation | null
  /** The paths of separate ledgers. `store` and `storeTo` already include them. */
  ledger: string | null
  ledgerTo: string | null
  /** The space that stays free on a disk. Null: none. */
  diskFree: FreeSpace | null
}

const BYTE_UNITS: Readonly<Record<string, number>> = { M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 }

export const STORE_SETTINGS: { readonly [Key in keyof StoreSettings]: Setting<StoreSettings[Key]> } = {
  store: {
    name: 'DOMAINDEX_STORE',
    defaultText: 'sqlite:data/domaindex.db',
    meaning:
      'The store. ' +
      'With SQLite, accounts and usage are in a second file next to it, `…-ledger.db`, or in the file that ' +
      'DOMAINDEX_LEDGER names.',
    allowed: STORE_URL_FORMAT,
    show: redactedStoreUrl,
    parse: parseStoreUrl,
  },
  storeTo: {
    name: 'DOMAINDEX_STORE_TO',
    defaultText: '',
    meaning: 'The store that `domaindex copy` creates, or continues to fill.',
    allowed: STORE_URL_FORMAT,
    show: redactedStoreUrl,
    parse: (text) => (text === '' ? null : parseStoreUrl(text)),
  },
  ledger: {
    name: 'DOMAINDEX_LEDGER',
    defaultText: '',
    meaning:
      'SQLite: the file of accounts, tokens and usage, so that it can have a disk of its own. ' +
      'By default it is next to the facts.',
    allowed: 'a file path, not a URL',
    parse: parseLedgerPath,
  },
  ledgerTo: {
    name: 'DOMAINDEX_LEDGER_TO',
    defaultText: '',
    meaning: 'SQLite: the same file of the store that `domaindex copy` creates.',
    allowed: 'a file path, not a URL',
    parse: parseLedgerPath,
  },
  diskFree: {
    name: 'DOMAINDEX_MIN_DISK_FREE',
    defaultText: '5%,1G',
    meaning:
      'The free space that imports, crawls and builds leave on the disks they write to. ' +
      'If a disk has less, they pause. They resume when there is space again. ' +
      'If two values are given, the smaller one counts.',
    allowed: 'a share such as 5%, a size such as 500M, 1G or 1T, both separated by a comma, or off',
    parse: (text) => (text === 'off' ? null : parseFreeSpace(text)),
  },
}

/** A path with the scheme of a URL would create a folder of that name. */
function parseLedgerPath(text: string): string | null | undefined {
  return isUrl(text) ? undefined : text || null
}

function parseFreeSpace(text: string): FreeSpace | undefined {
  const [, percent, , digits, unit] = /^(?:(\d{1,2}(?:\.\d)?)%)?(^|,|$)(?:(\d{1,6})([MGT]))?$/.exec(text) ?? []
  if (percent === undefined && digits === undefined) return undefined
  return {
    share: percent === undefined ? Number.POSITIVE_INFINITY : Number(percent) / 100,
    bytes: digits === undefined ? Number.POSITIVE_INFINITY : Number(digits) * BYTE_UNITS[unit!]!,
  }
}

/** Adds the paths of separate ledgers to the locations of their stores. Returns one line for each fault. */
export function applyLedgerPaths(settings: StoreSettings): string[] {
  const faults: string[] = []
  for (const [store, ledger] of [
    ['store', 'ledger'],
    ['storeTo', 'ledgerTo'],
  ] as const) {
    const [location, path] = [settings[store], settings[ledger]]
    if (!location || !path) continue
    const { takesLedgerPath, paths } = engineOf(location)
    if (!takesLedgerPath)
      faults.push(`${STORE_SETTINGS[ledger].name} is for a store in ${ledgerPathEngines()}: leave it unset`)
    else if (paths(location).some((used) => resolve(used) === resolve(path)))
      faults.push(
        `${STORE_SETTINGS[ledger].name} and ${STORE_SETTINGS[store].name} are the same file: set another path for the ledger`,
      )
    settings[store] = { url: storeUrlOf(location), ledger: path }
  }
  return faults
}

function ledgerPathEngines(): string {
  return ENGINES.filter(({ takesLedgerPath }) => takesLedgerPath)
    .map(({ name }) => name)
    .join(' or ')
}
