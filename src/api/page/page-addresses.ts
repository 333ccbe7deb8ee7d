/** The addresses of the web page, and which requests want a page. */

import type { ApiRequest } from '../http/exchange.ts'

/** The addresses as routes, for the access log. `:name` matches one segment. */
const PAGE_ROUTES = [
  '/',
  '/domain/:name',
  '/domain/:name/history',
  '/domain/:name/neighbours',
  '/domain/:name/redirects',
  '/domain/:name/similar',
  '/ip/:address',
  '/sign-in',
  '/sign-up',
  '/setup',
  '/verify',
  '/reset',
  '/account',
  '/account/tokens',
  '/account/usage',
  '/account/files',
  '/operator',
  '/operator/accounts/:id',
  '/operator/audit',
  '/operator/crawl',
  '/operator/usage',
  '/docs',
  '/docs/:operation',
]

const PATTERNS = PAGE_ROUTES.map((route) => ({
  route,
  pattern: new RegExp(`^${route.replace(/:\w+/g, '[^/]+')}$`),
}))

/** The route of a page address; null if the path is none. `path`: without query string and trailing slash. */
export function pageRouteOf(path: string): string | null {
  return PATTERNS.find(({ pattern }) => pattern.test(path))?.route ?? null
}

/** A version of the API, a folder of its paths, or a file: a browser gets an error of the API there. */
const API_PATH = /^\/(?:v\d[^/]*|app|admin|assets)(?:\/|$)|\.\w+$/

/** Whether an unknown path belongs to the API. */
export function isApiPath(path: string): boolean {
  return API_PATH.test(path)
}

/**
 * Whether a request wants a page: it names `text/html` and does not prefer JSON (RFC 9110, section 12.5.1). A request
 * with a token is one of a program.
 */
export function prefersHtml({ headers }: Pick<ApiRequest, 'headers'>): boolean {
  if (headers.authorization !== undefined) return false
  const types = (headers.accept ?? '').toLowerCase().split(',').map(parseMediaRange)
  const html = types.find(({ type }) => type === 'text/html')
  if (html === undefined || html.weight === 0) return false
  const json = types.find(({ type }) => type === 'application/json')
  return json === undefined || html.weight > json.weight || (html.weight === json.weight && html.index < json.index)
}

function parseMediaRange(text: string, index: number): { type: string; weight: number; index: number } {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))
  return { type, weight: weight === undefined ? 1 : Number(weight.slice(2)) || 0, index }
}
