/** The lab: a small internet on loopback, with names, name servers, web servers and certificates of its own. */

import type { Server } from '../src/crawl/dns.ts'
import type { Stand } from '../src/crawl/guard.ts'
import type { Name } from '../src/words/name.ts'

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

export async function startLab(): Promise<Lab> {
  throw new Error('the lab is being built')
}
