/** The lab: a small internet on loopback with its own names, name servers, web servers and certificates. */

import type { DnsServer } from '../src/probe/dns/server.ts'
import type { PortMapping } from '../src/probe/guard.ts'
import type { SelfCheckPlan } from '../src/probe/self-check/plan.ts'
import { type DomainName, parseName } from '../src/values/domain-name.ts'
import { type Identity, type Kind, makeAuthority } from './authority.ts'
import { type LabDnsServer, startDnsServer } from './dns.ts'
import type { DnsTable } from './dns-table.ts'
import { HARBOUR, SIXTH } from './hosts.ts'
import { hostsByKind, type Internet, internetOf, namesOf, ROWS, TARGET } from './scenarios.ts'
import { addressesHere, type LabAddresses } from './sockets.ts'
import { startWeb } from './web.ts'

export type Lab = {
  /** Answers for every name of the lab, and NXDOMAIN for any other. */
  resolver: DnsServer
  /** That resolver and another with the same answers. Each can be made faulty (answer-overrides.ts). */
  resolvers: readonly [LabDnsServer, LabDnsServer]
  /** Control questions that the lab answers correctly, with its web servers as control addresses. */
  selfCheckPlan: SelfCheckPlan
  /** The connections that the guard allows. */
  portMappings: readonly PortMapping[]
  /** The root certificate of the lab in PEM. */
  root: string
  /** Every domain of the lab, each once, in byte order. */
  names: readonly DomainName[]
  /** Changes the lab from its first state to its second, or back. */
  change(): void
  /** Disconnects the web servers of an address family for good: their ports refuse connections. */
  disconnectFamily(family: 4 | 6): Promise<void>
  close(): Promise<void>
}

const CONTROL_ADDRESSES: readonly string[] = [HARBOUR, SIXTH]

/** The domain with data in every response: others redirect to it, it has neighbours, and it changes. */
export const SHOWCASE_DOMAIN: DomainName = parseName(TARGET)!
/** That domain, and others of which each shows something else. */
export const EXAMPLE_DOMAINS: readonly string[] = [
  SHOWCASE_DOMAIN,
  'two-addresses.example',
  'renewed.example',
  'xn--mnchen-3ya.example',
]

/**
 * Starts it on free ports. Certificates are valid from now. If possible, every machine has its own address of
 * 127.0.0.0/8. Otherwise (macOS), each has its own ports of 127.0.0.1. `addresses` chooses without a check. Uses ::1 if
 * this computer has it. Throws if it cannot listen.
 */
export async function startLab(addresses?: LabAddresses): Promise<Lab> {
  const internets = [internetOf(ROWS, 0), internetOf(ROWS, 1)] as const
  let internet: Internet = internets[0]
  const { root, identities } = await certify(internets)
  const web = await startWeb(
    { siteAt: (host) => internet.sites.get(host), identities },
    addresses ?? (await addressesHere()),
  )
  const resolvers = await startResolvers(internet.dns).catch(async (error) => {
    await web.close()
    throw error
  })
  const [{ address, port }] = resolvers
  return {
    resolver: { address, port },
    resolvers,
    selfCheckPlan: selfCheckPlanOf(web.portMappings),
    portMappings: web.portMappings,
    root,
    names: ROWS.flatMap(namesOf).sort(),
    change() {
      internet = internet === internets[0] ? internets[1] : internets[0]
      for (const dns of resolvers) dns.change(internet.dns)
    },
    disconnectFamily: (family) => web.disconnectFamily(family),
    async close() {
      await Promise.all([...resolvers, web].map((each) => each.close()))
    },
  }
}

function selfCheckPlanOf(portMappings: readonly PortMapping[]): SelfCheckPlan {
  return {
    zones: ['neighbour.example', TARGET],
    missingUnder: 'example',
    ipv4only: 'ipv4-only.example',
    unfiltered: ['neighbour.example'],
    addresses: portMappings
      .filter(({ address, publicPort }) => CONTROL_ADDRESSES.includes(address) && publicPort === 80)
      .map(({ address, connectTo: at = address, port }) => ({ address: at, port })),
  }
}

async function startResolvers(table: DnsTable): Promise<readonly [LabDnsServer, LabDnsServer]> {
  const first = await startDnsServer(table)
  const second = await startDnsServer(table).catch(async (error) => {
    await first.close()
    throw error
  })
  return [first, second]
}

async function certify(internets: readonly Internet[]) {
  const authority = await makeAuthority(Date.now())
  const identities = [...hostsByKind(internets)].map(
    async ([kind, hosts]): Promise<[Kind, Identity]> => [kind, await authority.identity(kind, [...hosts])],
  )
  return { root: authority.root, identities: new Map(await Promise.all(identities)) }
}
