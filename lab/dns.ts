/** The lab's DNS server: one table, over UDP and TCP on one port of loopback, answering as a resolver does. */

import type { Address } from '../src/words/address.ts'
import type { DnsTable } from './dns-table.ts'

/** One question that came in. `type`: its name, or its number where it is none of the seven. */
export type DnsHeard = { host: string; type: string; over: 'udp' | 'tcp' }

export type DnsServer = {
  address: Address
  port: number
  /** Answers from another table from now on. */
  change(table: DnsTable): void
  close(): Promise<void>
}

/** Starts it on a free port of 127.0.0.1. `heard` is told of every question. */
export async function startDns(_table: DnsTable, _heard?: (question: DnsHeard) => void): Promise<DnsServer> {
  throw new Error('not yet')
}
