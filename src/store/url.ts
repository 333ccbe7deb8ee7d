/** The URL of a store: which engine's it is, and what of it may be shown. */

/** True for a URL that is PostgreSQL's. */
export function isPostgres(url: string): boolean {
  return /^postgres(ql)?:\/\//.test(url)
}

/**
 * True for a URL of PostgreSQL whose parts are what they look like: where `/`, `?`, `#` or `%` stands in a password as it is,
 * the rest of the password would be read, and shown, as port or database.
 */
export function isSound(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { username, password, pathname, search, hash } = new URL(url)
  const isWhole = /^(\/[^/@]*)?$/.test(pathname) && hash === '' && !(username === '' && search.includes('@'))
  return isWhole && isDecodable(username + password + pathname)
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
export function shown(url: string): string {
  if (!isPostgres(url)) return url
  if (!URL.canParse(url)) return masked(url)
  const place = new URL(url)
  place.password = ''
  for (const key of [...place.searchParams.keys()]) if (key !== 'host' && key !== 'port') place.searchParams.delete(key)
  return place.href
}

/** What may be shown of a text that was meant to be a URL. */
export function masked(text: string): string {
  if (/\?.*@|^[^@]*:\/\/[^@/]*:[^@]*$/s.test(text)) return text.replace(/:.*$/s, ':…')
  return text.replace(/\?.*$/s, '?…').replace(/^.*@/s, '…@')
}
