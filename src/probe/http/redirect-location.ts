/** Where a redirect leads: the address it spells, and whether the crawler goes there. */

import { parseName } from '../../values/domain-name.ts'
import type { HttpResponse } from './exchange.ts'

const SCHEMES = new Set(['http:', 'https:'])

/**
 * The absolute address that a redirect spells, without fragment and credentials, its host in canonical spelling where that is
 * a name. Null where it cannot be read or is not of the web (`mailto:`, `javascript:`): as if there were no redirect.
 */
export function resolveRedirect(text: string, from: URL): URL | null {
  const url = URL.parse(text, from.href)
  if (url === null || !SCHEMES.has(url.protocol)) return null
  url.hash = ''
  url.username = ''
  url.password = ''
  const name = parseName(url.hostname)
  if (name !== null && name !== url.hostname) url.hostname = name
  return url
}

/** Where the Location of an answer leads, null for nowhere. A field comes byte by byte; what is outside ASCII in this one is UTF-8, as browsers take it. */
export function redirectLocation(reply: HttpResponse, url: URL): URL | null {
  const location = reply.header('location')
  return location === null ? null : resolveRedirect(Buffer.from(location, 'latin1').toString(), url)
}

/** Whether an address of the web is a name at its scheme's own port; nothing else is looked at. */
export function isProbeable(url: URL): boolean {
  return url.port === '' && parseName(url.hostname) !== null
}
