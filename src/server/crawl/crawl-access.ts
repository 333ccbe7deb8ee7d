/** The access of a crawl by its settings: resolvers, allowed addresses, User-Agent, self-check and opt-out list. */

import { readFileSync } from 'node:fs'
import { CommandFault } from '../../config/command-fault.ts'
import type { ListenAddress } from '../../config/parse.ts'
import { SETTINGS, type Settings } from '../../config/settings.ts'
import type { CrawlAccess } from '../../crawler/probe-system.ts'
import { type DnsServer, systemDnsServers } from '../../probe/dns/server.ts'
import { type AddressRange, classifyRange, makeGuard } from '../../probe/guard.ts'
import { type OptOutList, OptOutListError, openOptOutList } from '../../probe/policy/opt-out.ts'
import { DEFAULT_SELF_CHECK_PLAN, type SelfCheckPlan } from '../../probe/self-check/plan.ts'
import { type IpAddress, parseAddress } from '../../values/ip-address.ts'

const SINGLE_RESOLVER_WARNING =
  'only one resolver is configured, so no other one confirms its answers: add one of another operator with --resolver'

/** Stands for every allowed address. */
const UNSPECIFIED_ADDRESS = '0.0.0.0' as IpAddress
const CONTACT_REQUIRED =
  'set DOMAINDEX_CRAWL_CONTACT to a web page or email address at which people can reach you: ' +
  'every request contains it, and without it the crawler probes nothing public'

/**
 * The access of a crawl. Without `resolvers`, it uses those of the system. The guard blocks the resolvers and the
 * listeners of this server even in `allowed` ranges. Without a contact, it allows only those ranges. `isOptedOut`:
 * whether an address is opted out. Throws CommandFault if nothing is allowed, or if there is no resolver.
 */
export function crawlAccessOf(
  settings: Settings,
  resolvers: readonly DnsServer[],
  allowed: readonly AddressRange[],
  isOptedOut: (address: IpAddress) => boolean = () => false,
): CrawlAccess {
  const { host, port, admin, crawlAdmin } = settings
  const contact = settings.crawlContact
  if (contact === null && allowed.length === 0) throw new CommandFault(CONTACT_REQUIRED)
  for (const range of allowed) requireUsableRange(range, contact)
  const servers = resolvers.length > 0 ? resolvers : systemDnsServers()
  if (servers.length === 0) throw new CommandFault('this machine has no resolver configured: set one with --resolver')
  const own = [{ host, port }, admin, crawlAdmin].filter((listener) => listener !== null).map(blockedEndpoint)
  return {
    servers,
    guard: makeGuard({ allowed, blocked: [...servers, ...own], onlyAllowed: contact === null, isOptedOut }),
    userAgent: userAgentOf(contact),
  }
}

/**
 * The self-check plan. Without a contact, the crawl probes nothing public, so the default plan omits public control
 * questions.
 */
export function selfCheckPlanOf({ crawlContact, crawlSelfCheck: plan }: Settings): SelfCheckPlan {
  if (crawlContact !== null) return plan
  const { zones, missingUnder, ipv4only, unfiltered, addresses } = plan
  return {
    zones: zones === DEFAULT_SELF_CHECK_PLAN.zones ? [] : zones,
    missingUnder: missingUnder === DEFAULT_SELF_CHECK_PLAN.missingUnder ? null : missingUnder,
    ipv4only: ipv4only === DEFAULT_SELF_CHECK_PLAN.ipv4only ? null : ipv4only,
    unfiltered: unfiltered === DEFAULT_SELF_CHECK_PLAN.unfiltered ? [] : unfiltered,
    addresses: addresses === DEFAULT_SELF_CHECK_PLAN.addresses ? [] : addresses,
  }
}

/** The warning for a single resolver. Returns null if there are more. */
export function resolverWarning(servers: readonly DnsServer[]): string | null {
  return servers.length > 1 ? null : SINGLE_RESOLVER_WARNING
}

/** Throws CommandFault for a range without effect, and for a public one without a contact. */
function requireUsableRange(range: AddressRange, contact: string | null): void {
  const kind = classifyRange(range)
  const option = `--allow ${range.base}/${range.bits}`
  if (kind === 'closed')
    throw new CommandFault(`${option} has no effect, because these addresses are never allowed: remove it`)
  if (kind === 'public' && contact === null)
    throw new CommandFault(`${option} contains public addresses: ${CONTACT_REQUIRED}`)
}

/** As in `domaindex/0.1.0 (+https://example.com/crawler)`. Without a contact, only the version. */
export function userAgentOf(contact: string | null): string {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  return contact === null ? `domaindex/${version}` : `domaindex/${version} (+${contact})`
}

/** A host name may be any address of this machine. */
function blockedEndpoint({ host, port }: ListenAddress): { address: IpAddress; port: number } {
  return { address: parseAddress(host) ?? UNSPECIFIED_ADDRESS, port }
}

/** The opt-out list that the settings name. Throws CommandFault if it cannot be used. */
export function openConfiguredOptOut({ crawlOptOut: path }: Settings, log: (message: string) => void): OptOutList {
  if (path === null) return { hasName: () => false, hasAddress: () => false, close: () => {} }
  try {
    return openOptOutList(path, { nowMs: () => performance.now(), log })
  } catch (error) {
    if (error instanceof OptOutListError) throw new CommandFault(`${error.message} (${SETTINGS.crawlOptOut.name})`)
    throw error
  }
}
