/** The table of engines. Only this file knows which engines exist. It loads the code of an engine when it is used. */

import type { LocationRules, StoreEngine } from './port/engine.ts'
import { StoreFault } from './port/fault.ts'
import { maskedText, type StoreLocation, storeUrlOf } from './port/url.ts'
import { POSTGRES_LOCATIONS } from './postgres/locations.ts'
import { SQLITE_LOCATIONS } from './sqlite/locations.ts'

type EngineRow = LocationRules & { load(): Promise<StoreEngine> }

export const ENGINES: readonly EngineRow[] = [
  { ...SQLITE_LOCATIONS, load: async () => (await import('./sqlite/engine.ts')).sqliteEngine },
  { ...POSTGRES_LOCATIONS, load: async () => (await import('./postgres/engine.ts')).postgresEngine },
]

/** How to write the URL of a store, for messages. */
export const STORE_URL_FORMAT: string = ENGINES.map(({ urlFormat }) => urlFormat).join(', or ')

/** The engine of a location. Throws StoreFault if the URL is not valid. */
export function engineOf(location: StoreLocation): EngineRow {
  const url = storeUrlOf(location)
  const engine = engineWithScheme(url)
  if (engine?.isValidUrl(url)) return engine
  throw new StoreFault(`DOMAINDEX_STORE is ${JSON.stringify(maskedText(url))}: write ${STORE_URL_FORMAT}`)
}

export function isValidStoreUrl(url: string): boolean {
  return engineWithScheme(url)?.isValidUrl(url) ?? false
}

/** The URL of a store without its password. */
export function redactedStoreUrl(location: StoreLocation): string {
  const url = storeUrlOf(location)
  return engineWithScheme(url)?.redactUrl(url) ?? maskedText(url)
}

function engineWithScheme(url: string): EngineRow | undefined {
  return ENGINES.find(({ scheme }) => scheme.test(url))
}
