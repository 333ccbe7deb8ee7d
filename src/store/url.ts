/** The URL of a store: which engine's it is, and what of it may be shown. */

/** True for a URL that is PostgreSQL's. */
export function isPostgres(url: string): boolean {
  return /^postgres(ql)?:\/\//.test(url)
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
  return text.replace(/\?.*$/s, '?…').replace(/^.*@/s, '…@')
}
