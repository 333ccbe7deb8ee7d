/** The table of engines. Only this file knows which engines exist. It loads the code of an engine when it is used. */

import type { LocationRules, StoreEngine } from './port/engine.ts'
import { StoreFault } from './port/fault.ts'
import { maskedText, type StoreLocation, storeUrlOf } from './port/url.ts'
import { POSTGRES_LOCATIONS } from './postgres/locations.ts'
import { fileMessageOf } from './shared/disk.ts'
import { sqliteMessageOf } from './sqlite/database/errors.ts'
import { SQLITE_LOCATIONS } from './sqlite/locations.ts'

/** `userMessage`: the message for an error of the engine's client that a user can fix; null for any other. */
type EngineRow = LocationRules & { userMessage(error: unknown): string | null; load(): Promise<StoreEngine> }

export const ENGINES: readonly EngineRow[] = [
  {
    ...SQLITE_LOCATIONS,
    userMessage: sqliteMessageOf,
    load: async () => (await import('./sqlite/engine.ts')).sqliteEngine,
  },
  {
    ...POSTGRES_LOCATIONS,
    userMessage: () => null, // every such error is a StoreFault
    load: async () => (await import('./postgres/engine.ts')).postgresEngine,
  },
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

/** The message for an error of an engine or of the file system that a user can fix; null for any other. */
export function userMessageOf(error: unknown): string | null {
  const messages = ENGINES.map(({ userMessage }) => userMessage(error))
  return messages.find((message) => message !== null) ?? fileMessageOf(error)
}

function engineWithScheme(url: string): EngineRow | undefined {
  return ENGINES.find(({ scheme }) => scheme.test(url))
}
