/** The web part of a probe: the redirect chains from the bare name and from `www.`, and the certificate. */

import { type DomainName, parseName, registrableDomain } from '../values/domain-name.ts'
import type { IpAddress } from '../values/ip-address.ts'
import type { Resolver } from './dns/resolver.ts'
import type { Guard } from './guard.ts'
import { HostAddresses } from './host-addresses.ts'
import { HttpClient } from './http/client.ts'
import { WEB_LIMITS, type WebLimits } from './http/limits.ts'
import { type BackoffTracker, createBackoffTracker } from './policy/backoff.ts'
import type { OptOutList } from './policy/opt-out.ts'
import type { PolitenessLimiter } from './policy/politeness-limiter.ts'
import { ProbeRateLimiter } from './policy/probe-rate-limiter.ts'
import { createRobotsCache, type RobotsCache } from './policy/robots.ts'
import type { RedirectChain, WebProbeResult } from './probe-result.ts'
import { type ChainContext, followRedirects } from './redirect-chain.ts'
import { setStallTolerantTimeout } from './stall-timer.ts'
import { createTlsContexts, type TlsContexts } from './tls/handshake.ts'

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
export type WebProberOptions = {
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
