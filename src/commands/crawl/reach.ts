/** What a crawl may reach: the resolvers it asks, the addresses it connects to, and whom it says it is. */

import { readFileSync } from 'node:fs'
import type { Listener, Settings } from '../../config.ts'
import { type ControlPlan, DEFAULT_PLAN } from '../../crawl/control-plan.ts'
import { type Server, systemServers } from '../../crawl/dns.ts'
import { type Guard, kindOf, makeGuard, type Range } from '../../crawl/guard.ts'
import { type Address, parseAddress } from '../../words/address.ts'
import { CommandFault } from '../fault.ts'

export type Reach = { servers: readonly Server[]; guard: Guard; userAgent: string }

const ONE_RESOLVER =
  'one resolver alone is asked, and nobody contradicts it: name a second one, of another operator, with --resolver'

/** Stands for every address that is opened. */
const ANYWHERE = '0.0.0.0' as Address
const SAY_WHO =
  'set DOMAINDEX_CRAWL_CONTACT to the address of a page or to a mailbox where you are reached: it stands in every request, and without it nothing public is crawled'

/**
 * `servers` as named, or else the system's. Of the opened ranges neither the resolvers nor our own listeners are reached;
 * where nobody has said who crawls, nothing but those ranges is. `isLeftOut`: whether an address wants no visits. Throws CommandFault where that is nothing.
 */
export function reachOf(
  settings: Settings,
  named: readonly Server[],
  opened: readonly Range[],
  isLeftOut: (address: Address) => boolean = () => false,
): Reach {
  const { crawlContact: contact, host, port, admin, crawlAdmin } = settings
  if (contact === null && opened.length === 0) throw new CommandFault(SAY_WHO)
  for (const range of opened) expectUse(range, contact)
  const servers = named.length > 0 ? named : systemServers()
  if (servers.length === 0) throw new CommandFault('this machine names no resolver: name one with --resolver')
  const own = [{ host, port }, admin, crawlAdmin].filter((place) => place !== null).map(closedFor)
  return {
    servers,
    guard: makeGuard({ opened, closed: [...servers, ...own], onlyOpened: contact === null, isLeftOut }),
    userAgent: userAgentOf(contact),
  }
}

/** The control questions; where nobody has said who crawls nothing public is looked at, and nothing public is asked by default. */
export function planOf({ crawlContact, crawlControls: plan }: Settings): ControlPlan {
  if (crawlContact !== null) return plan
  const { zones, missing, ipv4only, addresses } = plan
  return {
    zones: zones === DEFAULT_PLAN.zones ? [] : zones,
    missing: missing === DEFAULT_PLAN.missing ? null : missing,
    ipv4only: ipv4only === DEFAULT_PLAN.ipv4only ? null : ipv4only,
    addresses: addresses === DEFAULT_PLAN.addresses ? [] : addresses,
  }
}

/** What is said once where a single resolver is asked; null where more are. */
export function adviceOn(servers: readonly Server[]): string | null {
  return servers.length > 1 ? null : ONE_RESOLVER
}

/** Throws CommandFault for a range that opens nothing, and for a public one where nobody has said who crawls. */
function expectUse(range: Range, contact: string | null): void {
  const kind = kindOf(range)
  const option = `--allow ${range.base}/${range.bits}`
  if (kind === 'closed') throw new CommandFault(`${option} opens nothing, these addresses stay closed: leave it out`)
  if (kind === 'public' && contact === null) throw new CommandFault(`${option} holds public addresses: ${SAY_WHO}`)
}

/** As in `domaindex/0.1.0 (+https://example.com/crawler)`; without the contact where there is none. */
export function userAgentOf(contact: string | null): string {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  return contact === null ? `domaindex/${version}` : `domaindex/${version} (+${contact})`
}

/** A host name may be any address of this machine. */
function closedFor({ host, port }: Listener): { address: Address; port: number } {
  return { address: parseAddress(host) ?? ANYWHERE, port }
}
