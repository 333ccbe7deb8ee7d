/** What the web servers of a domain show: the chains from its bare name and from `www.`, and the certificate. */

import type { Address } from '../words/address.ts'
import { type Name, parseName, registrable } from '../words/name.ts'
import { type Scene, walk } from './chain.ts'
import type { Resolver } from './dns.ts'
import type { Guard } from './guard.ts'
import { Http } from './http.ts'
import type { OptOut } from './opt-out.ts'
import type { Pace } from './pace.ts'
import { waitFor } from './patience.ts'
import { openRests, type Rests } from './rests.ts'
import { openRobots, type Robots } from './robots.ts'
import { makeTrust, type Trust } from './tls.ts'
import { Turns } from './turns.ts'
import type { Chain, WebSeen } from './visit.ts'
import { HostAddresses } from './web-addresses.ts'
import { WEB_LIMITS, type WebLimits } from './web-limits.ts'

/**
 * What is known of a domain that is looked at: its own addresses, `unknown`: a family was not asked for a reason of ours;
 * `turns`: the addresses where the visit has its turn already. `onHeld` is told where it waited too long for one.
 */
export type Known = {
  addresses: readonly Address[]
  unknown?: boolean
  turns?: readonly Address[]
  onHeld?(address: Address): void
}

export type Web = {
  /**
   * Null: no server answered and at least one could not be looked at for a reason of ours, or the visit was held, or the
   * domain is opted out. Never rejects for what the internet does.
   */
  look(domain: Name, known: Known): Promise<WebSeen | null>
  /** Ends all connections; a `look` that is under way answers null. */
  close(): Promise<void>
}

/** `roots`: PEM, trusted beside Node's own. The ranges of the opt-out list are the guard's. Without a pace nobody is waited for. */
export type WebOptions = {
  resolver: Resolver
  guard: Guard
  pace?: Pace
  optOut?: Pick<OptOut, 'hasName'>
  roots?: readonly string[]
  userAgent: string
  limits?: Partial<WebLimits>
}

/** What all visits share. */
type Shared = Omit<WebOptions, 'limits' | 'roots'> & {
  trust: Trust
  robots: Robots
  rests: Rests | null
  limits: WebLimits
}

export function openWeb(options: WebOptions): Web {
  const limits = { ...WEB_LIMITS, ...options.limits }
  const robots = openRobots({ userAgent: options.userAgent, limits })
  const rests = options.pace === undefined ? null : openRests(options.pace, Date.now)
  const shared: Shared = { ...options, limits, robots, rests, trust: makeTrust(options.roots ?? []) }
  const cuts = new Set<() => void>()
  let closed = false

  return {
    async look(domain, known) {
      if (closed || options.optOut?.hasName(domain)) return null
      const { turns, addresses, http, end, cut } = beginVisit(domain, known, shared)
      cuts.add(cut)
      const stop = waitFor(limits.visit, cut)
      try {
        const seen = await lookWith(http, addresses, domain, shared)
        if (turns.held !== null) known.onHeld?.(turns.held)
        return closed || turns.held !== null ? null : seen
      } finally {
        stop()
        end()
        cuts.delete(cut)
      }
    },
    async close() {
      closed = true
      for (const cut of cuts) cut()
    },
  }
}

/** What one visit has of its own. `cut`: its time is up, whoever waits hears nothing more. */
function beginVisit(domain: Name, known: Known, shared: Shared) {
  const { resolver, guard, limits, pace = null, optOut = null } = shared
  const addresses = new HostAddresses({ resolver, guard, most: limits.addresses, optOut })
  addresses.know(domain, known.addresses, known.unknown === true)
  const turns = new Turns({ pace, limits, given: known.turns ?? [] })
  const rests = shared.rests?.beginVisit()
  const http = new Http({ ...shared, turns, rests, reach: (host, port) => addresses.reach(host, port) })
  const cut = (): void => {
    turns.cut()
    http.close()
  }
  const end = (): void => {
    http.close()
    rests?.end()
  }
  return { turns, addresses, http, cut, end }
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
