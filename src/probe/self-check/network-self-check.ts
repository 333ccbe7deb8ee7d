/** The self-check of the network: whether the crawler can trust its resolvers, IPv4 and IPv6. */

import type { AddressFamilies, FamilyGuard } from '../address-families.ts'
import type { MultiServerResolver } from '../dns/resolver.ts'
import type { DnsServer } from '../dns/server.ts'
import { DnsServerPaths } from '../dns/server-path.ts'
import type { SelfCheckPlan } from './plan.ts'
import { ReachabilityCheck } from './reachability-check.ts'
import { CONTROL_QUERY_TIMEOUT_MS, ResolverCheck } from './resolver-check.ts'

/**
 * `passed`: nothing failed since the previous check, so the probes in between are valid. `families`: the usable address
 * families. `excluded`: what is wrong with each excluded resolver. `reason`: for operators, such as "resolver 192.0.2.1
 * returns no SOA for com".
 */
export type SelfCheckResult =
  | { passed: true; families: AddressFamilies; excluded: readonly string[] }
  | { passed: false; reason: string }

export type NetworkSelfCheck = {
  /**
   * Checks every resolver on its own and connects to one address of each family. Takes up to 5 s. Checks run one after
   * another. A failed resolver is excluded until it passes a check. An unreachable family is closed. If something fails
   * that worked in the previous check, this check fails, because it may have affected the probes in between. The next
   * check may pass. Never rejects.
   */
  check(): Promise<SelfCheckResult>
  close(): Promise<void>
}

type SelfCheckOptions = {
  servers: readonly DnsServer[]
  plan: SelfCheckPlan
  /** Receives the resolvers to exclude, and the usable families. */
  resolver: Pick<MultiServerResolver, 'exclude'>
  guard: Pick<FamilyGuard, 'setOpenFamilies'>
  /**
   * The timeout of a query to a resolver in milliseconds. A check takes at most four times as long, and at least 4.5 s
   * if no address can be reached.
   */
  timeoutMs?: number
  /** The paths of the resolver, so that its concurrency limits also count control questions. */
  paths?: DnsServerPaths
}

/** The findings of a check: the fault of each resolver, and whether each family is reachable. Null if not checked. */
type CheckFindings = { faults: readonly (string | null)[]; reachable: Readonly<Record<4 | 6, boolean | null>> }

const NO_FAMILY_REACHABLE =
  'no control address of any family can be reached: ' +
  'allow TCP from this machine to port 53 of the root servers, or set DOMAINDEX_CRAWL_SELF_CHECK to ' +
  'addresses that always accept TCP connections, such as addresses=ADDRESS:443,[ADDRESS]:443, or to ' +
  'addresses=none to skip this check'

export function openNetworkSelfCheck(options: SelfCheckOptions): NetworkSelfCheck {
  const { servers, plan, resolver, guard, timeoutMs = CONTROL_QUERY_TIMEOUT_MS, paths = new DnsServerPaths() } = options
  const resolverChecks = servers.map((server) => new ResolverCheck(server, plan, timeoutMs, paths))
  const reachabilityChecks = {
    4: new ReachabilityCheck(plan.addresses, 4),
    6: new ReachabilityCheck(plan.addresses, 6),
  }
  let previous: CheckFindings | null = null
  let last: Promise<unknown> = Promise.resolve()

  const runCheck = async (): Promise<SelfCheckResult> => {
    const [faults, ipv4Reachable, ipv6Reachable] = await Promise.all([
      Promise.all(resolverChecks.map((check) => check.findFault())),
      reachabilityChecks[4].isReachable(),
      reachabilityChecks[6].isReachable(),
    ])
    const findings: CheckFindings = { faults, reachable: { 4: ipv4Reachable, 6: ipv6Reachable } }
    resolver.exclude(servers.filter((_, index) => faults[index] !== null))
    guard.setOpenFamilies(usableFamilies(findings))
    const verdict = evaluateFindings(findings, previous)
    previous = findings
    return verdict
  }

  return {
    check() {
      const checked = last.then(runCheck)
      last = checked
      return checked
    },
    async close() {
      for (const each of [...resolverChecks, reachabilityChecks[4], reachabilityChecks[6]]) each.close()
    },
  }
}

function evaluateFindings(findings: CheckFindings, previous: CheckFindings | null): SelfCheckResult {
  const { faults, reachable } = findings
  const excluded = faults.filter((fault) => fault !== null)
  if (excluded.length === faults.length)
    return { passed: false, reason: excluded.join('; ') || 'no resolver is configured' }
  if (!reachable[4] && !reachable[6] && (reachable[4] ?? reachable[6]) !== null)
    return { passed: false, reason: NO_FAMILY_REACHABLE }
  const lost = previous === null ? [] : newLosses(findings, previous)
  return lost.length > 0
    ? { passed: false, reason: lost.join('; ') }
    : { passed: true, families: usableFamilies(findings), excluded }
}

/** What worked in the previous check and fails now. */
function newLosses({ faults, reachable }: CheckFindings, previous: CheckFindings): string[] {
  const resolvers = faults.filter((fault, index) => fault !== null && previous.faults[index] === null)
  const families = ([4, 6] as const)
    .filter((family) => previous.reachable[family] === true && reachable[family] === false)
    .map((family) => `control addresses over IPv${family} are no longer reachable`)
  return [...resolvers.filter((fault) => fault !== null), ...families]
}

/** A family without control addresses counts as usable. */
function usableFamilies({ reachable }: CheckFindings): AddressFamilies {
  return { 4: reachable[4] !== false, 6: reachable[6] !== false }
}
