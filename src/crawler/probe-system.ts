/** The probe system of a crawl: resolver, prober, politeness and self-check. */

import { makeFamilyGuard } from '../probe/address-families.ts'
import { openResolver, type Resolver, type Server } from '../probe/dns/resolver.ts'
import { DnsServerPaths } from '../probe/dns/server-path.ts'
import type { Guard } from '../probe/guard.ts'
import type { WebLimits } from '../probe/http/limits.ts'
import type { OptOutList } from '../probe/policy/opt-out.ts'
import { makePolitenessLimiter, type PolitenessLimiter } from '../probe/policy/politeness-limiter.ts'
import { createProber, type Prober } from '../probe/probe.ts'
import { openNetworkSelfCheck, type SelfCheckResult } from '../probe/self-check/network-self-check.ts'
import type { SelfCheckPlan } from '../probe/self-check/plan.ts'
import { formatServer } from '../probe/self-check/resolver-check.ts'
import { createWebProber } from '../probe/web.ts'
import type { IpAddress } from '../values/ip-address.ts'
import type { Instant } from '../values/time.ts'
import type { SelfCheckOutcome } from './dependencies.ts'

/** The resolvers that a crawl queries, the addresses that it may connect to, and its User-Agent. */
export type CrawlAccess = { servers: readonly Server[]; guard: Guard; userAgent: string }

export type ProbeSystem = {
  probe: Prober['probe']
  isOwn(address: IpAddress): boolean
  /** Asks the control questions. */
  runSelfCheck(): Promise<SelfCheckOutcome>
  politeness: PolitenessLimiter
  /** Whether any resolver answers a question, whatever it says. */
  isAnyResolverUp(): Promise<boolean>
  /** How often resolvers disagreed. */
  disagreements(): number
  exclusions(): SelfCheckExclusions
  close(): Promise<void>
}

/** How many resolvers are not asked, and 1 for a family of addresses that is not connected to, as of the last look. */
export type SelfCheckExclusions = Readonly<Record<'resolvers' | 'ipv4' | 'ipv6', number>>

type ProbeSystemOptions = CrawlAccess & {
  plan: SelfCheckPlan
  optOut: Pick<OptOutList, 'hasName'>
  /** The time that visits carry. */
  now: () => Instant
  /** Told of what is looked at without, whenever that changes. */
  log?: (message: string) => void
  /** PEM, trusted beside Node's own. */
  roots?: readonly string[]
  limits?: Partial<WebLimits>
  /** Milliseconds until a question of a visit, and one of the controls, is given up. */
  timeout?: number
  /** Milliseconds before a server is asked again that failed. */
  pause?: number
  selfCheckTimeoutMs?: number
}

const HTTPS = 443
const EDNS_DROPPED = 'questions with EDNS get no answer from'
const EDNS_ADVICE =
  'they are asked without it, and long answers come over TCP; let UDP packets with EDNS (RFC 6891) through, or name another resolver'

const monotonicMs = (): number => performance.now()

export async function openProbeSystem(options: ProbeSystemOptions): Promise<ProbeSystem> {
  const { servers, plan, optOut, userAgent, now, roots, limits, timeout, pause, selfCheckTimeoutMs, log } = options
  const paths = new DnsServerPaths()
  const resolver = await openResolver({ servers, paths, ...(timeout && { timeout }), ...(pause && { pause }) })
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
    isAnyResolverUp: () => isAnyResolverUp(resolver),
    disagreements: () => resolver.disagreements(),
    exclusions: () => exclusions,
    async close() {
      await Promise.all([networkSelfCheck.close(), prober.close()])
    },
  }
}

async function isAnyResolverUp(resolver: Resolver): Promise<boolean> {
  const answer = await resolver.resolve('.', 'NS')
  return answer !== null && !(answer.outcome === 'failed' && answer.why === 'timeout')
}

/** Tells what is left out, and to whom EDNS does not get through, whenever that changes. */
function createExclusionLogger(log: ((news: string) => void) | undefined) {
  let [lastLogged, withoutEdns] = ['', '']
  return (result: SelfCheckResult & { passed: true }, servers: readonly Server[]): void => {
    const description = describeExclusions(result)
    if (description !== lastLogged)
      log?.(description === '' ? 'no resolver or address family is excluded any more' : `excluded: ${description}`)
    lastLogged = description
    const dropped = servers.map(formatServer).join(' and ')
    if (dropped !== '' && dropped !== withoutEdns) log?.(`${EDNS_DROPPED} resolver ${dropped}: ${EDNS_ADVICE}`)
    withoutEdns = dropped
  }
}

/** '' where nothing is left out. */
function describeExclusions({ excluded: without, families }: SelfCheckResult & { passed: true }): string {
  const closed = ([4, 6] as const).filter((family) => !families[family])
  return [...without, ...closed.map((family) => `no control address can be reached over IPv${family}`)].join('; ')
}
