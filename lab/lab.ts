/** The lab: a small internet on loopback, with names, name servers, web servers and certificates of its own. */

import type { Server } from '../src/crawl/dns.ts'
import type { Stand } from '../src/crawl/guard.ts'
import { type Name, parseName } from '../src/words/name.ts'
import { type Identity, type Kind, makeAuthority } from './authority.ts'
import { startDns } from './dns.ts'
import { hostsByKind, type Internet, internetOf, namesOf, ROWS, TARGET } from './scenarios.ts'
import { startWeb } from './web.ts'

export type Lab = {
  /** Knows every name of the lab and says NXDOMAIN to any other. */
  resolver: Server
  /** What the guard opens. */
  stands: readonly Stand[]
  /** PEM of the lab's own authority. */
  root: string
  /** Every domain of the lab, each once, bytewise. */
  names: readonly Name[]
  /** Changes the lab from its first state to its second; called again, back to the first. */
  change(): void
  close(): Promise<void>
}

/** The domain that has something of everything: others redirect to it, it has neighbours, and it changes. */
export const SHOWN: Name = parseName(TARGET)!

/** Starts it on free ports of 127.0.0.0/8, and of ::1 where this computer has it; certificates count from now. Throws where it cannot. */
export async function startLab(): Promise<Lab> {
  const internets = [internetOf(ROWS, 0), internetOf(ROWS, 1)] as const
  let internet: Internet = internets[0]
  const { root, identities } = await certify(internets)
  const web = await startWeb({ siteAt: (host) => internet.sites.get(host), identities })
  const dns = await startDns(internet.dns).catch(async (error) => {
    await web.close()
    throw error
  })
  return {
    resolver: { address: dns.address, port: dns.port },
    stands: web.stands,
    root,
    names: ROWS.flatMap(namesOf).sort(),
    change() {
      internet = internet === internets[0] ? internets[1] : internets[0]
      dns.change(internet.dns)
    },
    async close() {
      await Promise.all([dns.close(), web.close()])
    },
  }
}

async function certify(internets: readonly Internet[]) {
  const authority = await makeAuthority(Date.now())
  const made = [...hostsByKind(internets)].map(
    async ([kind, hosts]): Promise<[Kind, Identity]> => [kind, await authority.identity(kind, [...hosts])],
  )
  return { root: authority.root, identities: new Map(await Promise.all(made)) }
}
