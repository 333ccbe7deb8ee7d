/** The URL of a store: which engine's it is, and what of it may be shown. */

/** Where a store lies: its URL, or with it the path of the ledger where that lies apart from the facts (SQLite). */
export type StoreLocation = string | { url: string; ledger: string }

export function storeUrlOf(location: StoreLocation): string {
  return typeof location === 'string' ? location : location.url
}

/** True for a URL that is PostgreSQL's. */
export function isPostgres(location: StoreLocation): boolean {
  return /^postgres(ql)?:\/\//.test(storeUrlOf(location))
}

/**
 * True for a URL of PostgreSQL whose parts are what they look like: where `/`, `?`, `#` or `%` stands in a password as it is,
 * the rest of the password would be read, and shown, as port or database.
 */
export function isValidPostgresUrl(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { username, password, pathname, search, hash } = new URL(url)
  const isWhole = /^(\/[^/@:]*)?$/.test(pathname) && hash === '' && !(username === '' && search.includes('@'))
  const isUser = !/:|%3a/i.test(username) // a colon that is encoded hides a password in the user
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
 * What may be shown of a text that is not a URL of a store: its scheme alone, or all of what can only be the path of a file. The rest may hold a password, and nobody can tell
 * where: in `postgres:app:SECRET`, `host=db password=SECRET` and `app:SECRET@db` it stands in three places.
 */
export function maskedText(text: string): string {
  if (/^([\w./~-]+\.(db|sqlite3?)|sqlite:(:memory:)?)$/i.test(text)) return text
  const [scheme = ''] = /^(postgres|postgresql|mysql|mariadb|sqlite3?|https?|file):(\/\/)?/i.exec(text) ?? []
  return scheme === text ? text : `${scheme}…`
}
