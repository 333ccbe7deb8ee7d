/**
 * The web part of a probe: the redirect chains (Location and meta refresh) from the bare name and from `www.`, and the
 * certificate.
 */

import { type DomainName, parseName, registrableDomain } from '../values/domain-name.ts'
import type { IpAddress } from '../values/ip-address.ts'
import type { Resolver } from './dns/resolver.ts'
import type { Guard } from './guard.ts'
import { HostAddresses } from './host-addresses.ts'
import { HttpClient } from './http/client.ts'
import type { ConnectFailure } from './http/connect.ts'
import type { HttpResponse } from './http/exchange.ts'
import { WEB_LIMITS, type WebLimits } from './http/limits.ts'
import { isProbeable, redirectLocation, resolveRedirect } from './http/redirect-location.ts'
import { createPageReader, type ParsedPage } from './page/page.ts'
import { type BackoffTracker, createBackoffTracker } from './policy/backoff.ts'
import type { OptOutList } from './policy/opt-out.ts'
import type { PolitenessLimiter } from './policy/politeness-limiter.ts'
import { ProbeRateLimiter } from './policy/probe-rate-limiter.ts'
import { createRobotsCache, type RobotsCache } from './policy/robots.ts'
import { MAX_REDIRECT_HOPS, type RedirectChain, type RedirectHop, type WebProbeResult } from './probe-result.ts'
import { setStallTolerantTimeout } from './stall-timer.ts'
import { createTlsContexts, type TlsContexts } from './tls/handshake.ts'

/** What a chain needs of its probe. */
type ChainContext = {
  /** The registrable domain whose pages are read. */
  ownDomain: DomainName
  get(url: URL): Promise<HttpResponse | ConnectFailure>
  /** Whether robots.txt allows reading the page of this origin. */
  mayFetch(origin: string): Promise<boolean>
  limits: WebLimits
}

const PAGE_TYPES = new Set(['', 'text/html', 'application/xhtml+xml'])

type HopResult = { status: number; to: URL | null; by: RedirectHop['by']; page: ParsedPage['page'] | null }

/**
 * `addresses`: those of the domain. `isIncomplete`: a family is unknown for a local reason. `granted`: addresses at
 * which the probe already has a grant. `onDeferred` receives the address at which the wait was too long.
 */
export type WebProbeInput = {
  addresses: readonly IpAddress[]
  isIncomplete?: boolean
  granted?: readonly IpAddress[]
  onDeferred?(address: IpAddress): void
}

export type WebProber = {
  /**
   * Returns null if no server responded and at least one could not be probed for a local reason. Also if the probe was
   * deferred, or the domain is opted out. Never rejects because of the network.
   */
  probe(domain: DomainName, input: WebProbeInput): Promise<WebProbeResult | null>
  /** Closes all connections. A probe in progress returns null. */
  close(): Promise<void>
}

/**
 * `roots`: PEM, trusted in addition to Node's. The guard applies the ranges of the opt-out list. Without `politeness`
 * there are no rate limits.
 */
type WebProberOptions = {
  resolver: Resolver
  guard: Guard
  politeness?: PolitenessLimiter
  optOut?: Pick<OptOutList, 'hasName'>
  roots?: readonly string[]
  userAgent: string
  limits?: Partial<WebLimits>
}

/** The state that all probes share. */
type WebProberState = Omit<WebProberOptions, 'limits' | 'roots'> & {
  tlsContexts: TlsContexts
  robots: RobotsCache
  backoff: BackoffTracker | null
  limits: WebLimits
}

export function createWebProber(options: WebProberOptions): WebProber {
  const limits = { ...WEB_LIMITS, ...options.limits }
  const robots = createRobotsCache({ userAgent: options.userAgent, limits })
  const backoff = options.politeness === undefined ? null : createBackoffTracker(options.politeness, Date.now)
  const shared: WebProberState = {
    ...options,
    limits,
    robots,
    backoff,
    tlsContexts: createTlsContexts(options.roots ?? []),
  }
  const cancels = new Set<() => void>()
  let closed = false

  return {
    async probe(domain, input) {
      if (closed || options.optOut?.hasName(domain)) return null
      const { rateLimiter, addresses, http, end, cancel } = beginWebProbe(domain, input, shared)
      cancels.add(cancel)
      const cancelTimeout = setStallTolerantTimeout(limits.probeMs, cancel)
      try {
        const result = await probeChains(http, addresses, domain, shared)
        if (rateLimiter.deferredAt !== null) input.onDeferred?.(rateLimiter.deferredAt)
        return closed || rateLimiter.deferredAt !== null ? null : result
      } finally {
        cancelTimeout()
        end()
        cancels.delete(cancel)
      }
    },
    async close() {
      closed = true
      for (const cancel of cancels) cancel()
    },
  }
}

/** The state of one probe. `cancel`: its time is up. Open requests get no response. */
function beginWebProbe(domain: DomainName, input: WebProbeInput, shared: WebProberState) {
  const { resolver, guard, limits, politeness = null, optOut = null } = shared
  const addresses = new HostAddresses({ resolver, guard, maxAddresses: limits.maxAddresses, optOut })
  addresses.set(domain, input.addresses, input.isIncomplete === true)
  const rateLimiter = new ProbeRateLimiter({ politeness, limits, granted: input.granted ?? [] })
  const probeBackoff = shared.backoff?.beginProbe()
  const http = new HttpClient({
    ...shared,
    rateLimiter,
    responseObserver: probeBackoff,
    endpointsOf: (host, port) => addresses.endpoints(host, port),
  })
  const cancel = (): void => {
    rateLimiter.cancel()
    http.close()
  }
  const end = (): void => {
    http.close()
    probeBackoff?.end()
  }
  return { rateLimiter, addresses, http, cancel, end }
}

async function probeChains(
  http: HttpClient,
  addresses: HostAddresses,
  domain: DomainName,
  shared: WebProberState,
): Promise<WebProbeResult | null> {
  const { robots, limits } = shared
  const get = (url: URL) => http.get(url)
  const context: ChainContext = {
    ownDomain: registrableDomain(domain),
    get,
    mayFetch: (origin) => robots.mayFetch(origin, get),
    limits,
  }
  const bare = await followFromHost(domain, context)
  const wwwHost = parseName(`www.${domain}`)
  const needsWww = bare.hops.length === 0 && wwwHost !== null && (await addresses.has(wwwHost))
  const www = needsWww ? await followFromHost(wwwHost, context) : null
  const served = www === null || www.hops.length === 0 ? domain : wwwHost!
  if (served === domain && bare.hops.length === 0 && [bare, www].some((chain) => chain?.end === 'not_allowed'))
    return null
  return { bare, www, certificate: await http.certificate(served) }
}

/** The chain from http, or from https if http does not respond. */
async function followFromHost(host: DomainName, context: ChainContext): Promise<RedirectChain> {
  const plain = await followFromUrl(`http://${host}/`, host, context)
  if (plain.hops.length > 0) return plain
  const secure = await followFromUrl(`https://${host}/`, host, context)
  return secure.hops.length > 0 || plain.end === 'no_response' ? secure : plain
}

/** Skips a name that no URL can contain, such as an undecodable `xn--` or a last label such as 0x10. */
async function followFromUrl(text: string, host: DomainName, context: ChainContext): Promise<RedirectChain> {
  const url = URL.parse(text)
  return url?.hostname === host ? followRedirects(url, context) : { hops: [], end: 'not_allowed', page: null }
}

/** Follows at most MAX_REDIRECT_HOPS redirects. Reads pages only on the own registrable domain. */
async function followRedirects(start: URL, context: ChainContext): Promise<RedirectChain> {
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
