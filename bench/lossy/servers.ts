/**
 * The servers of bench:lossy as a process: prints their addresses and runs until it is stopped. Argument: the address
 * of the black hole, or nothing.
 */

import { makeAuthority } from '../../lab/authority.ts'
import { startDnsServer } from '../../lab/dns.ts'
import { hostsByKind, internetOf } from '../../lab/scenarios.ts'
import { startWeb } from '../../lab/web.ts'
import type { DnsServer } from '../../src/probe/dns/server.ts'
import type { PortMapping } from '../../src/probe/guard.ts'
import type { IpAddress } from '../../src/values/ip-address.ts'
import { allRows } from './world.ts'

/** The addresses of the servers. */
export type LossyAddresses = { servers: DnsServer[]; portMappings: PortMapping[]; root: string }

const RESOLVERS = 2
const WEB_PORTS = [80, 443]

const [blackHole = ''] = process.argv.slice(2)
console.log(JSON.stringify(await startServers(blackHole === '' ? null : (blackHole as IpAddress))))

async function startServers(blackHole: IpAddress | null): Promise<LossyAddresses> {
  const internet = internetOf(allRows(blackHole), 0)
  const authority = await makeAuthority(Date.now())
  const made = [...hostsByKind([internet])].map(
    async ([kind, hosts]) => [kind, await authority.identity(kind, [...hosts])] as const,
  )
  const web = await startWeb({
    siteAt: (host) => internet.sites.get(host),
    identities: new Map(await Promise.all(made)),
  })
  const resolvers = await Promise.all(Array.from({ length: RESOLVERS }, () => startDnsServer(internet.dns)))
  const blackHoles = blackHole === null ? [] : WEB_PORTS.map((port) => ({ address: blackHole, port, publicPort: port }))
  return {
    servers: resolvers.map(({ address, port }) => ({ address, port })),
    portMappings: [...web.portMappings, ...blackHoles],
    root: authority.root,
  }
}
