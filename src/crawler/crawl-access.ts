/** What a crawl may reach: the resolvers it asks, the addresses it connects to, and whom it says it is. */

import { readFileSync } from 'node:fs'
import { CommandFault } from '../config/command-fault.ts'
import type { Listener, Settings } from '../config/settings.ts'
import { type Server, systemServers } from '../probe/dns/resolver.ts'
import { type AddressRange, classifyRange, type Guard, makeGuard } from '../probe/guard.ts'
import { DEFAULT_SELF_CHECK_PLAN, type SelfCheckPlan } from '../probe/self-check/plan.ts'
import { type IpAddress, parseAddress } from '../values/ip-address.ts'

export type CrawlAccess = { servers: readonly Server[]; guard: Guard; userAgent: string }

const SINGLE_RESOLVER_WARNING =
  'one resolver alone is asked, and nobody contradicts it: name a second one, of another operator, with --resolver'

/** Stands for every address that is opened. */
const UNSPECIFIED_ADDRESS = '0.0.0.0' as IpAddress
const CONTACT_REQUIRED =
  'set DOMAINDEX_CRAWL_CONTACT to the address of a page or to a mailbox where you are reached: it stands in every request, and without it nothing public is crawled'

/**
 * `servers` as named, or else the system's. Of the opened ranges neither the resolvers nor our own listeners are reached;
 * where nobody has said who crawls, nothing but those ranges is. `isLeftOut`: whether an address wants no visits. Throws CommandFault where that is nothing.
 */
export function crawlAccessOf(
  settings: Settings,
  named: readonly Server[],
  allowed: readonly AddressRange[],
  isOptedOut: (address: IpAddress) => boolean = () => false,
): CrawlAccess {
  const { crawlContact: contact, host, port, admin, crawlAdmin } = settings
  if (contact === null && allowed.length === 0) throw new CommandFault(CONTACT_REQUIRED)
  for (const range of allowed) requireUsableRange(range, contact)
  const servers = named.length > 0 ? named : systemServers()
  if (servers.length === 0) throw new CommandFault('this machine names no resolver: name one with --resolver')
  const own = [{ host, port }, admin, crawlAdmin].filter((place) => place !== null).map(blockedEndpoint)
  return {
    servers,
    guard: makeGuard({ allowed, blocked: [...servers, ...own], onlyAllowed: contact === null, isOptedOut }),
    userAgent: userAgentOf(contact),
  }
}

/** The control questions; where nobody has said who crawls nothing public is looked at, and nothing public is asked by default. */
export function selfCheckPlanOf({ crawlContact, crawlSelfCheck: plan }: Settings): SelfCheckPlan {
  if (crawlContact !== null) return plan
  const { zones, missingUnder: missing, ipv4only, addresses } = plan
  return {
    zones: zones === DEFAULT_SELF_CHECK_PLAN.zones ? [] : zones,
    missingUnder: missing === DEFAULT_SELF_CHECK_PLAN.missingUnder ? null : missing,
    ipv4only: ipv4only === DEFAULT_SELF_CHECK_PLAN.ipv4only ? null : ipv4only,
    addresses: addresses === DEFAULT_SELF_CHECK_PLAN.addresses ? [] : addresses,
  }
}

/** What is said once where a single resolver is asked; null where more are. */
export function resolverWarning(servers: readonly Server[]): string | null {
  return servers.length > 1 ? null : SINGLE_RESOLVER_WARNING
}

/** Throws CommandFault for a range that opens nothing, and for a public one where nobody has said who crawls. */
function requireUsableRange(range: AddressRange, contact: string | null): void {
  const kind = classifyRange(range)
  const option = `--allow ${range.base}/${range.bits}`
  if (kind === 'closed') throw new CommandFault(`${option} opens nothing, these addresses stay closed: leave it out`)
  if (kind === 'public' && contact === null)
    throw new CommandFault(`${option} holds public addresses: ${CONTACT_REQUIRED}`)
}

/** As in `domaindex/0.1.0 (+https://example.com/crawler)`; without the contact where there is none. */
export function userAgentOf(contact: string | null): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return contact === null ? `domaindex/${version}` : `domaindex/${version} (+${contact})`
}

/** A host name may be any address of this machine. */
function blockedEndpoint({ host, port }: Listener): { address: IpAddress; port: number } {
  return { address: parseAddress(host) ?? UNSPECIFIED_ADDRESS, port }
}
