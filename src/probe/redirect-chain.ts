/** Follows a redirect chain, by Location and by meta refresh, to the page at its end. */

import { type DomainName, registrableDomain } from '../values/domain-name.ts'
import type { ConnectFailure } from './http/connect.ts'
import type { HttpResponse } from './http/exchange.ts'
import type { WebLimits } from './http/limits.ts'
import { isProbeable, redirectLocation, resolveRedirect } from './http/redirect-location.ts'
import { createPageReader, type ParsedPage } from './page/page.ts'
import { MAX_REDIRECT_HOPS, type RedirectChain, type RedirectHop } from './probe-result.ts'

/** What a chain needs of its probe. */
export type ChainContext = {
  /** The registrable domain whose pages are read. */
  ownDomain: DomainName
  get(url: URL): Promise<HttpResponse | ConnectFailure>
  /** Whether robots.txt allows reading the page of this origin. */
  mayFetch(origin: string): Promise<boolean>
  limits: WebLimits
}

const PAGE_TYPES = new Set(['', 'text/html', 'application/xhtml+xml'])

/** Follows at most MAX_REDIRECT_HOPS redirects. Reads pages only on the own registrable domain. */
export async function followRedirects(start: URL, context: ChainContext): Promise<RedirectChain> {
  const hops: RedirectHop[] = []
  for (let url = start; ; ) {
    const answer = await requestHop(url, context)
    if (typeof answer === 'string') return { hops, end: answer, page: null }
    const { status, to, by, page } = answer
    hops.push({ url: url.href, status, to: to?.href ?? null, by })
    if (to === null) return { hops, end: 'answered', page }
    if (hops.length > MAX_REDIRECT_HOPS) return { hops, end: 'too_many_redirects', page: null }
    if (!isProbeable(to)) return { hops, end: 'not_allowed', page: null }
    url = to
  }
}

type HopResult = { status: number; to: URL | null; by: RedirectHop['by']; page: ParsedPage['page'] | null }

async function requestHop(url: URL, context: ChainContext): Promise<HopResult | ConnectFailure> {
  const isOwn = registrableDomain(url.hostname as DomainName) === context.ownDomain
  // Over TLS, robots.txt comes first. A second connection while the page waits would cost a handshake.
  let allowed = isOwn && url.protocol === 'https:' ? await context.mayFetch(url.origin) : null
  const reply = await context.get(url)
  if (typeof reply === 'string') return reply
  const { status } = reply
  const to = status >= 300 && status < 400 ? redirectLocation(reply, url) : null
  if (to !== null || !isOwn || !isPage(reply)) {
    reply.discard()
    return { status, to, by: to === null ? null : 'location', page: null }
  }
  if (allowed === null) {
    reply.pause()
    allowed = await context.mayFetch(url.origin)
  }
  const read = allowed ? await readPage(reply, url, context.limits) : null
  if (!allowed) reply.discard()
  return hopAfterRefresh(status, url, read)
}

/** Drops the page if its refresh leads elsewhere. */
function hopAfterRefresh(status: number, url: URL, read: ParsedPage | null): HopResult {
  const to = typeof read?.refresh === 'string' ? resolveRedirect(read.refresh, url) : null
  if (to === null) return { status, to: null, by: null, page: read?.page ?? null }
  return { status, to, by: 'refresh', page: null }
}

function isPage(reply: HttpResponse): boolean {
  const [type = ''] = (reply.header('content-type') ?? '').split(';', 1)
  return reply.status < 300 && PAGE_TYPES.has(type.trim().toLowerCase())
}

async function readPage(reply: HttpResponse, url: URL, limits: WebLimits): Promise<ParsedPage | null> {
  const reader = createPageReader({ contentType: reply.header('content-type'), url: url.href })
  const reading = await reply.read((chunk) => reader.write(chunk), limits)
  return reading === 'unreadable' ? null : reader.end()
}
