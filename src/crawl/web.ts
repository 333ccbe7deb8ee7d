/** What the web servers of a domain show: the chains from its bare name and from `www.`, and the certificate. */

import type { Address } from '../words/address.ts'
import { type Name, parseName, registrable } from '../words/name.ts'
import { type Scene, walk } from './chain.ts'
import type { Resolver } from './dns.ts'
import type { Guard } from './guard.ts'
import { Http } from './http.ts'
import { openRobots, type Robots } from './robots.ts'
import { makeTrust, type Trust } from './tls.ts'
import type { Chain, WebSeen } from './visit.ts'
import { HostAddresses } from './web-addresses.ts'
import { WEB_LIMITS, type WebLimits } from './web-limits.ts'

export type Web = {
  /**
   * Looks at a domain whose own addresses are known; `unknown`: a family was not asked for a reason of ours. Null: no server
   * answered, and at least one could not be looked at for a reason of ours. Never rejects for what the internet does.
   */
  look(domain: Name, known: { addresses: readonly Address[]; unknown?: boolean }): Promise<WebSeen | null>
  /** Ends all connections; a `look` that is under way answers null. */
  close(): Promise<void>
}

/** `roots`: PEM, trusted beside Node's own. */
export type WebOptions = {
  resolver: Resolver
  guard: Guard
  roots?: readonly string[]
  userAgent: string
  limits?: Partial<WebLimits>
}

/** What all visits share. */
type Shared = Omit<WebOptions, 'limits' | 'roots'> & { trust: Trust; robots: Robots; limits: WebLimits }

export function openWeb(options: WebOptions): Web {
  const limits = { ...WEB_LIMITS, ...options.limits }
  const robots = openRobots({ userAgent: options.userAgent, limits })
  const shared: Shared = { ...options, limits, robots, trust: makeTrust(options.roots ?? []) }
  const visits = new Set<Http>()
  let closed = false

  return {
    async look(domain, known) {
      if (closed) return null
      const addresses = new HostAddresses(options.resolver, options.guard, limits.addresses)
      addresses.know(domain, known.addresses, known.unknown === true)
      const http = new Http({ ...shared, reach: (host, port) => addresses.reach(host, port) })
      visits.add(http)
      const timer = setTimeout(() => http.close(), limits.visit)
      try {
        const seen = await lookWith(http, addresses, domain, shared)
        return closed ? null : seen
      } finally {
        clearTimeout(timer)
        http.close()
        visits.delete(http)
      }
    },
    async close() {
      closed = true
      for (const http of visits) http.close()
    },
  }
}

async function lookWith(http: Http, addresses: HostAddresses, domain: Name, shared: Shared): Promise<WebSeen | null> {
  const { robots, limits } = shared
  const get = (url: URL) => http.get(url)
  const scene: Scene = {
    own: registrable(domain),
    get,
    mayFetch: (origin) => robots.mayFetch(origin, get),
    limits,
  }
  const bare = await walkFrom(domain, scene)
  const other = parseName(`www.${domain}`)
  const alone = bare.hops.length === 0 && other !== null && (await addresses.has(other))
  const www = alone ? await walkFrom(other, scene) : null
  const served = www === null || www.hops.length === 0 ? domain : other!
  if (served === domain && bare.hops.length === 0 && [bare, www].some((chain) => chain?.end === 'closed')) return null
  return { bare, www, certificate: await http.certificate(served) }
}

/** The chain from http, or where that answers nothing from https. */
async function walkFrom(host: Name, scene: Scene): Promise<Chain> {
  const plain = await walkFromUrl(`http://${host}/`, host, scene)
  if (plain.hops.length > 0) return plain
  const secure = await walkFromUrl(`https://${host}/`, host, scene)
  return secure.hops.length > 0 || plain.end === 'silent' ? secure : plain
}

/** A name that no URL can carry (an undecodable `xn--`, a last label such as 0x10) is not looked at. */
async function walkFromUrl(text: string, host: Name, scene: Scene): Promise<Chain> {
  const url = URL.parse(text)
  return url?.hostname === host ? walk(url, scene) : { hops: [], end: 'closed', page: null }
}
