/** The probe system of a crawl: resolver, prober, politeness and self-check. */

import { makeFamilyGuard } from '../probe/address-families.ts'
import { type MultiServerResolver, openResolver } from '../probe/dns/resolver.ts'
import { type DnsServer, formatDnsServer } from '../probe/dns/server.ts'
import { DnsServerPaths } from '../probe/dns/server-path.ts'
import type { Guard } from '../probe/guard.ts'
import type { WebLimits } from '../probe/http/limits.ts'
import type { OptOutList } from '../probe/policy/opt-out.ts'
import { makePolitenessLimiter, type PolitenessLimiter } from '../probe/policy/politeness-limiter.ts'
import { createProber, type Prober } from '../probe/probe.ts'
import { openNetworkSelfCheck, type SelfCheckResult } from '../probe/self-check/network-self-check.ts'
import type { SelfCheckPlan } from '../probe/self-check/plan.ts'
import { createWebProber } from '../probe/web.ts'
import type { IpAddress } from '../values/ip-address.ts'
import type { Instant } from '../values/time.ts'
import type { SelfCheckOutcome } from './session.ts'

/** The resolvers that a crawl queries, the addresses that it may connect to, and its User-Agent. */
export type CrawlAccess = { servers: readonly DnsServer[]; guard: Guard; userAgent: string }

export type ProbeSystem = {
  probe: Prober['probe']
  isOwn(address: IpAddress): boolean
  runSelfCheck(): Promise<SelfCheckOutcome>
  politeness: PolitenessLimiter
  /** What each resolver replies for the root: `timeout` if it does not reply. Any other reply shows that it is up. */
  rootReplies: MultiServerResolver['rootReplies']
  /** How often resolvers disagreed. */
  disagreements(): number
  exclusions(): SelfCheckExclusions
  close(): Promise<void>
}

/** The number of excluded resolvers, and 1 for an excluded address family, as of the last self-check. */
type SelfCheckExclusions = Readonly<Record<'resolvers' | 'ipv4' | 'ipv6', number>>

type ProbeSystemOptions = CrawlAccess & {
  plan: SelfCheckPlan
  optOut: Pick<OptOutList, 'hasName'>
  /** The time of a probe result. */
  now: () => Instant
  /** Receives a message whenever the exclusions change. */
  log?: (message: string) => void
  /** PEM, trusted in addition to Node's roots. */
  roots?: readonly string[]
  limits?: Partial<WebLimits>
  /** Milliseconds per attempt of a query of a probe. */
  timeoutMs?: number
  /** Milliseconds before a failed server is queried again. */
  retryDelayMs?: number
  selfCheckTimeoutMs?: number
}

const HTTPS = 443
const EDNS_DROPPED = 'queries with EDNS get no answer from'
const EDNS_ADVICE =
  'queries go without it, and long answers come over TCP; let UDP packets with EDNS (RFC 6891) through, or configure another resolver'

const monotonicMs = (): number => performance.now()

export async function openProbeSystem(options: ProbeSystemOptions): Promise<ProbeSystem> {
  const { servers, plan, optOut, userAgent, now, roots, limits, timeoutMs, retryDelayMs, selfCheckTimeoutMs, log } =
    options
  const paths = new DnsServerPaths()
  const dnsTimes = { ...(timeoutMs && { timeoutMs }), ...(retryDelayMs && { retryDelayMs }) }
  const resolver = await openResolver({ servers, paths, ...dnsTimes })
  const guard = makeFamilyGuard(options.guard)
  const selfCheckOptions = { servers, plan, resolver, guard, paths }
  const networkSelfCheck = openNetworkSelfCheck({
    ...selfCheckOptions,
    ...(selfCheckTimeoutMs !== undefined && { timeoutMs: selfCheckTimeoutMs }),
  })
  const politeness = makePolitenessLimiter({ nowMs: monotonicMs })
  const webOptions = { resolver, guard, politeness, optOut, userAgent }
  const web = createWebProber({ ...webOptions, ...(roots && { roots }), ...(limits && { limits }) })
  const prober = createProber({ resolver, web, now })
  let exclusions: SelfCheckExclusions = { resolvers: 0, ipv4: 0, ipv6: 0 }
  const logExclusions = createExclusionLogger(log)
  const runSelfCheck = async (): Promise<SelfCheckOutcome> => {
    const result = await networkSelfCheck.check()
    if (!result.passed) return result
    const { excluded, families } = result
    exclusions = { resolvers: excluded.length, ipv4: Number(!families[4]), ipv6: Number(!families[6]) }
    logExclusions(result, resolver.withoutEdns())
    return result
  }
  return {
    probe: prober.probe,
    isOwn: (address) => options.guard.vet(address, HTTPS)?.isOwn === true,
    runSelfCheck,
    politeness,
    rootReplies: () => resolver.rootReplies(),
    disagreements: () => resolver.disagreements(),
    exclusions: () => exclusions,
    async close() {
      await Promise.all([networkSelfCheck.close(), prober.close()])
    },
  }
}

/** Logs changes of the exclusions, and of the resolvers that queries with EDNS do not reach. */
function createExclusionLogger(log: ((message: string) => void) | undefined) {
  let [lastLogged, withoutEdns] = ['', '']
  return (result: SelfCheckResult & { passed: true }, servers: readonly DnsServer[]): void => {
    const description = describeExclusions(result)
    if (description !== lastLogged)
      log?.(description === '' ? 'all resolvers and address families are in use again' : `excluded: ${description}`)
    lastLogged = description
    const dropped = servers.map(formatDnsServer).join(' and ')
    if (dropped !== '' && dropped !== withoutEdns) log?.(`${EDNS_DROPPED} resolver ${dropped}: ${EDNS_ADVICE}`)
    withoutEdns = dropped
  }
}

/** Returns '' if nothing is excluded. */
function describeExclusions({ excluded, families }: SelfCheckResult & { passed: true }): string {
  const closed = ([4, 6] as const).filter((family) => !families[family])
  return [...excluded, ...closed.map((family) => `no control address can be reached over IPv${family}`)].join('; ')
}
