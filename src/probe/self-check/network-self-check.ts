/** The controls: whether the crawler can trust its own eyes, and which of its eyes are left out while it cannot. */

import type { AddressFamilies, FamilyGuard } from '../address-families.ts'
import type { MultiServerResolver, Server } from '../dns/resolver.ts'
import { DnsServerPaths } from '../dns/server-path.ts'
import type { SelfCheckPlan } from './plan.ts'
import { ReachabilityCheck } from './reachability-check.ts'
import { ResolverCheck } from './resolver-check.ts'

/**
 * `sees`: nothing was lost since the check before, so that what was seen meanwhile is to be believed. `families`: over which
 * the internet is looked at. `without`: what is wrong with each resolver that is left out. `why`: for operators, as in
 * "resolver 192.0.2.1 gives no SOA of com".
 */
export type SelfCheckResult =
  | { passed: true; families: AddressFamilies; excluded: readonly string[] }
  | { passed: false; reason: string }

export type NetworkSelfCheck = {
  /**
   * Asks every resolver on its own, and connects to one address of each family; over within 5 s, checks one after another.
   * A resolver that fails is left out until a check finds it well, a family that is not reached is closed. Where there was a
   * check before and one more is lost now, this one check does not see, the next one may: what was seen since then may be
   * the fault's. Never rejects.
   */
  check(): Promise<SelfCheckResult>
  close(): Promise<void>
}

export type SelfCheckOptions = {
  servers: readonly Server[]
  plan: SelfCheckPlan
  /** Told of the resolvers that are left out, and of the families that are open. */
  resolver: Pick<MultiServerResolver, 'exclude'>
  guard: Pick<FamilyGuard, 'setOpenFamilies'>
  /** Milliseconds until an attempt to ask a resolver is given up; a check takes four times that, and 4.5 s at least where no address is reached. */
  timeoutMs?: number
  /** Those of the resolver, so that questions of both are counted together. */
  paths?: DnsServerPaths
}

/** What a check came upon: of each resolver what is wrong with it, by its number, and the families; null: not asked. */
type CheckFindings = { faults: readonly (string | null)[]; reachable: Readonly<Record<4 | 6, boolean | null>> }

const CONTROL_QUERY_TIMEOUT_MS = 1200
const NO_FAMILY_REACHABLE =
  'no control address of any family can be reached: where TCP to port 53 of the root servers is closed to this machine, let it through, or set DOMAINDEX_CRAWL_SELF_CHECK to addresses that take a TCP connection whenever the internet is there, such as addresses=ADDRESS:443,[ADDRESS]:443, or to addresses=none to do without'

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
      Promise.all(resolverChecks.map((examiner) => examiner.findFault())),
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
  const { faults, reachable: reached } = findings
  const without = faults.filter((fault) => fault !== null)
  if (without.length === faults.length) return { passed: false, reason: without.join('; ') || 'no resolver is named' }
  if (!reached[4] && !reached[6] && (reached[4] ?? reached[6]) !== null)
    return { passed: false, reason: NO_FAMILY_REACHABLE }
  const lost = previous === null ? [] : newLosses(findings, previous)
  return lost.length > 0
    ? { passed: false, reason: lost.join('; ') }
    : { passed: true, families: usableFamilies(findings), excluded: without }
}

/** What was well at the check before, and is not any more. */
function newLosses({ faults, reachable: reached }: CheckFindings, previous: CheckFindings): string[] {
  const resolvers = faults.filter((fault, index) => fault !== null && previous.faults[index] === null)
  const families = ([4, 6] as const)
    .filter((family) => previous.reachable[family] === true && reached[family] === false)
    .map((family) => `no control address can be reached over IPv${family} any more`)
  return [...resolvers.filter((fault) => fault !== null), ...families]
}

/** A family that is not asked for is as open as ever. */
function usableFamilies({ reachable: reached }: CheckFindings): AddressFamilies {
  return { 4: reached[4] !== false, 6: reached[6] !== false }
}
