/** The URLs of PostgreSQL stores. */

import type { LocationRules } from '../port/engine.ts'
import { maskedText } from '../port/url.ts'

export const POSTGRES_LOCATIONS: LocationRules = {
  name: 'PostgreSQL',
  scheme: /^postgres(ql)?:\/\//,
  urlFormat: 'postgres://USER:PASSWORD@HOST:PORT/DATABASE with %40 %2F %3F %23 %25 for @ / ? # % in the password',
  isValidUrl,
  redactUrl: redactPostgresUrl,
  paths: () => [], // the disks of the server are not visible from here
  takesLedgerPath: false,
}

/**
 * Whether the parts of a URL are unambiguous. If a password contains an unencoded `/`, `?`, `#` or `%`, its rest would
 * be parsed, and shown, as port or database.
 */
function isValidUrl(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { username, password, pathname, search, hash } = new URL(url)
  const isWhole = /^(\/[^/@:]*)?$/.test(pathname) && hash === '' && !(username === '' && search.includes('@'))
  const isUser = !/:|%3a/i.test(username) // an encoded colon hides a password in the user
  return isWhole && isUser && isDecodable(username + password + pathname)
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** The URL without its password. */
export function redactPostgresUrl(url: string): string {
  if (!isValidUrl(url)) return maskedText(url)
  const safe = new URL(url)
  safe.password = ''
  const isPlace = (key: string, value: string): boolean => /^(host|port)$/.test(key) && /^[\w./,-]*$/.test(value)
  for (const [key, value] of [...safe.searchParams]) if (!isPlace(key, value)) safe.searchParams.delete(key)
  return safe.href
}
