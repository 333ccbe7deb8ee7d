/** The URL of a store: its engine, and the part of it that may be shown. */

/** The location of a store: its URL, or its URL and the path of a separate ledger file (SQLite). */
export type StoreLocation = string | { url: string; ledger: string }

export function storeUrlOf(location: StoreLocation): string {
  return typeof location === 'string' ? location : location.url
}

/** True for a URL of PostgreSQL. */
export function isPostgres(location: StoreLocation): boolean {
  return /^postgres(ql)?:\/\//.test(storeUrlOf(location))
}

/**
 * Whether the parts of a PostgreSQL URL are unambiguous. If a password contains an unencoded `/`, `?`, `#` or `%`, its
 * rest would be parsed, and shown, as port or database.
 */
export function isValidPostgresUrl(url: string): boolean {
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

/** The URL of a store without its password. */
export function redactedStoreUrl(location: StoreLocation): string {
  const url = storeUrlOf(location)
  if (/^sqlite:/.test(url) && !url.includes('://')) return url
  if (!isPostgres(url)) return maskedText(url)
  if (!isValidPostgresUrl(url)) return maskedText(url)
  const safe = new URL(url)
  safe.password = ''
  const isPlace = (key: string, value: string): boolean => /^(host|port)$/.test(key) && /^[\w./,-]*$/.test(value)
  for (const [key, value] of [...safe.searchParams]) if (!isPlace(key, value)) safe.searchParams.delete(key)
  return safe.href
}

/**
 * The part of an invalid URL that may be shown: its scheme only, or everything if it can only be a file path. The rest
 * may contain a password in an unknown place, as in `postgres:app:SECRET`, `host=db password=SECRET` and
 * `app:SECRET@db`.
 */
export function maskedText(text: string): string {
  if (/^([\w./~-]+\.(db|sqlite3?)|sqlite:(:memory:)?)$/i.test(text)) return text
  const [scheme = ''] = /^(postgres|postgresql|mysql|mariadb|sqlite3?|https?|file):(\/\/)?/i.exec(text) ?? []
  return scheme === text ? text : `${scheme}…`
}
