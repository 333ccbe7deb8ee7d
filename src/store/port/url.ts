/** The location of a store, and the part of an invalid URL that may be shown. */

/** The URL of a store, or its URL and the path of a separate ledger file. */
export type StoreLocation = string | { url: string; ledger: string }

export function storeUrlOf(location: StoreLocation): string {
  return typeof location === 'string' ? location : location.url
}

/** Schemes of files, web addresses and common databases. Any other word before a colon could be a user. */
const HARMLESS_SCHEME = /^(postgres|postgresql|mysql|mariadb|sqlite3?|https?|file):(\/\/)?/i
const FILE_PATH = /^([\w./~-]+\.(db|sqlite3?)|(\w+:)?:memory:)$/i

/**
 * The part of an invalid URL that may be shown: its scheme only, or everything if it can only be a file path. The rest
 * may contain a password in an unknown place, as in `scheme:app:SECRET`, `host=db password=SECRET` and `app:SECRET@db`.
 */
export function maskedText(text: string): string {
  if (FILE_PATH.test(text)) return text
  const [scheme = ''] = HARMLESS_SCHEME.exec(text) ?? []
  return scheme === text ? text : `${scheme}…`
}
