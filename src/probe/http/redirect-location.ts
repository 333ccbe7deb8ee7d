/** Resolves the target of a redirect and decides whether the crawler follows it. */

import { parseName } from '../../values/domain-name.ts'
import type { HttpResponse } from './exchange.ts'

const SCHEMES = new Set(['http:', 'https:'])

/**
 * The absolute URL of a redirect without fragment and credentials. Its host is in canonical form if it is a name.
 * Returns null if the text is invalid or has another scheme (`mailto:`, `javascript:`). Then there is no redirect.
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

/**
 * The target of a Location field, or null if there is none. Node decodes fields as Latin-1. Bytes outside ASCII are
 * UTF-8 here, as in browsers.
 */
export function redirectLocation(reply: HttpResponse, url: URL): URL | null {
  const location = reply.header('location')
  return location === null ? null : resolveRedirect(Buffer.from(location, 'latin1').toString(), url)
}

/** Whether the host is a name and the port is the default of its scheme. The crawler requests nothing else. */
export function isProbeable(url: URL): boolean {
  return url.port === '' && parseName(url.hostname) !== null
}
