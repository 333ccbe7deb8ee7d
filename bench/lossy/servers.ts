/**
 * The servers of bench:lossy, a process of their own: prints where they are and runs until it is ended. Argument: the
 * address of the hole, or nothing.
 */

import { makeAuthority } from '../../lab/authority.ts'
import { startDnsServer } from '../../lab/dns.ts'
import { hostsByKind, internetOf } from '../../lab/scenarios.ts'
import { startWeb } from '../../lab/web.ts'
import type { Server } from '../../src/probe/dns/resolver.ts'
import type { PortMapping } from '../../src/probe/guard.ts'
import type { IpAddress } from '../../src/values/ip-address.ts'
import { allRows } from './world.ts'

/** Where a crawl finds them. */
export type Place = { servers: Server[]; stands: PortMapping[]; root: string }

const RESOLVERS = 2
const WEB_PORTS = [80, 443]

const [hole = ''] = process.argv.slice(2)
console.log(JSON.stringify(await startServers(hole === '' ? null : (hole as IpAddress))))

async function startServers(hole: IpAddress | null): Promise<Place> {
  const internet = internetOf(allRows(hole), 0)
  const authority = await makeAuthority(Date.now())
  const made = [...hostsByKind([internet])].map(
    async ([kind, hosts]) => [kind, await authority.identity(kind, [...hosts])] as const,
  )
  const web = await startWeb({
    siteAt: (host) => internet.sites.get(host),
    identities: new Map(await Promise.all(made)),
  })
  const resolvers = await Promise.all(Array.from({ length: RESOLVERS }, () => startDnsServer(internet.dns)))
  const holes = hole === null ? [] : WEB_PORTS.map((port) => ({ address: hole, port, publicPort: port }))
  return {
    servers: resolvers.map(({ address, port }) => ({ address, port })),
    stands: [...web.stands, ...holes],
    root: authority.root,
  }
}
