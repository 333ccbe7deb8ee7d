/** The self-check of the network: whether the crawler can trust its resolvers, IPv4 and IPv6. */

import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { addressFamily, type IpAddress } from '../../values/ip-address.ts'
import type { RecordType } from '../../values/records/dns-record.ts'
import type { AddressFamilies, FamilyGuard } from '../address-families.ts'
import type { MultiServerResolver } from '../dns/resolver.ts'
import { type DnsServer, formatDnsServer } from '../dns/server.ts'
import { DnsServerPaths } from '../dns/server-path.ts'
import { DnsServerPool } from '../dns/server-pool.ts'
import { setStallTolerantTimeout } from '../stall-timer.ts'
import type { SelfCheckPlan } from './plan.ts'

/** The outcome of a control question. `silent`: no readable answer, or no server there. */
type ControlQueryOutcome = 'records' | 'empty' | 'nxdomain' | 'failed' | 'silent'

/** After these attempts, one last query shows whether the resolver answers at all. */
const CONTROL_QUERY_ATTEMPTS = 3

/** The control questions to one resolver. Describes its fault for operators. */
class ResolverCheck {
  readonly server: DnsServer
  readonly #plan: SelfCheckPlan
  readonly #servers: DnsServerPool

  /** `timeoutMs`: of one attempt; `paths`: those that probes use. */
  constructor(server: DnsServer, plan: SelfCheckPlan, timeoutMs: number, paths: DnsServerPaths) {
    this.server = server
    this.#plan = plan
    this.#servers = new DnsServerPool([server], {
      timeoutMs,
      attempts: CONTROL_QUERY_ATTEMPTS,
      sockets: 1,
      retryDelayMs: timeoutMs / 4,
      paths,
      isSelfCheck: true,
    })
  }

  /**
   * Describes what is wrong in one sentence without its full stop. Returns null if nothing is wrong. Sends all
   * questions at once. Never rejects.
   */
  async findFault(): Promise<string | null> {
    const { zones, missingUnder, ipv4only } = this.#plan
    const [soas, madeUpName, synthesized] = await Promise.all([
      Promise.all(zones.map((zone) => this.#query(zone, 'SOA'))),
      missingUnder === null ? null : this.#query(randomNameUnder(missingUnder), 'A'),
      ipv4only === null ? null : this.#query(ipv4only, 'AAAA'),
    ])
    const subject = `resolver ${formatDnsServer(this.server)}`
    const outcomes = [...soas, madeUpName, synthesized].filter((outcome) => outcome !== null)
    if (outcomes.length > 0 && outcomes.every((outcome) => outcome === 'silent')) return `${subject} does not answer`
    const zoneWithoutSoa = zones.find((_, index) => soas[index] !== 'records')
    if (zoneWithoutSoa !== undefined)
      return `${subject} returns no SOA for ${zoneWithoutSoa === '.' ? 'the root' : zoneWithoutSoa}`
    if (madeUpName === 'records' || madeUpName === 'empty')
      return `${subject} reports that a made-up name under ${missingUnder} exists`
    if (madeUpName !== null && madeUpName !== 'nxdomain')
      return `${subject} does not report a made-up name under ${missingUnder} as missing`
    if (synthesized === 'records') return `${subject} synthesizes AAAA records (DNS64): use another resolver`
    return null
  }

  close(): void {
    this.#servers.close()
  }

  async #query(host: string, type: RecordType): Promise<ControlQueryOutcome> {
    const response = await this.#servers.query(host, type, { deadline: this.#servers.deadline() })
    if (response === null) return 'silent'
    const { reply } = response
    if (reply.outcome === 'failed') return reply.why === 'timeout' ? 'silent' : 'failed'
    return reply.outcome === 'nxdomain' ? 'nxdomain' : reply.records.length > 0 ? 'records' : 'empty'
  }
}

type ControlEndpoint = { address: IpAddress; port: number }

/**
 * Each check makes one connection, each to another address. If it fails and the previous check passed, up to this many
 * follow.
 */
const EXTRA_ATTEMPTS = 2
const CONTROL_CONNECT_TIMEOUT_MS = 1500

/** The control connections: whether the internet is reachable over an address family. */
class ReachabilityCheck {
  readonly #endpoints: readonly ControlEndpoint[]
  readonly #open = new Set<Socket>()
  #nextIndex = 0
  #reached = true

  /** Uses only the endpoints of this family. */
  constructor(endpoints: readonly ControlEndpoint[], family: 4 | 6) {
    this.#endpoints = endpoints.filter(({ address }) => addressFamily(address) === family)
  }

  /**
   * Whether one of the addresses accepts a TCP connection within 4.5 s. Returns null if there is no address. Never
   * rejects.
   */
  async isReachable(): Promise<boolean | null> {
    const { length } = this.#endpoints
    if (length === 0) return null
    let attemptsLeft = Math.min(this.#reached ? 1 + EXTRA_ATTEMPTS : 1, length)
    this.#reached = false
    for (; attemptsLeft > 0 && !this.#reached; attemptsLeft--) {
      this.#reached = await this.#connects(this.#endpoints[this.#nextIndex++ % length]!)
    }
    return this.#reached
  }

  close(): void {
    for (const socket of this.#open) socket.destroy()
  }

  #connects({ address, port }: ControlEndpoint): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect({ host: address, port })
      this.#open.add(socket)
      const stop = setStallTolerantTimeout(CONTROL_CONNECT_TIMEOUT_MS, () => socket.destroy())
      socket.on('error', () => {})
      socket.once('connect', () => {
        resolve(true)
        socket.destroy()
      })
      socket.once('close', () => {
        stop()
        this.#open.delete(socket)
        resolve(false)
      })
    })
  }
}

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

const CONTROL_QUERY_TIMEOUT_MS = 1200
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

/** A host that is almost certainly not registered: 80 random bits. */
function randomNameUnder(suffix: string): string {
  const label = randomBytes(10).toString('hex')
  return suffix === '.' ? label : `${label}.${suffix}`
}
