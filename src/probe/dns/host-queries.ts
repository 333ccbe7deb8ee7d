/** The hosts that are being queried. The queries for the types of a host share what they learn about it. */

import type { DnsAnswer } from '../probe-result.ts'
import type { ServerAnswer, ServerFailures } from './server-pool.ts'

/**
 * The open queries about one host. `count`: how many. `address`: the query for A, if there was one. `confirmation`: the
 * answer of a second server after one said NXDOMAIN.
 */
export type HostQueries = {
  readonly host: string
  count: number
  address: Promise<DnsAnswer | null> | null
  confirmation: Promise<ServerAnswer | ServerFailures> | null
}

export class OpenHosts {
  readonly #hosts = new Map<string, HostQueries>()

  /** Registers a query. `release` ends it. */
  acquire(host: string): HostQueries {
    let queries = this.#hosts.get(host)
    if (queries === undefined) {
      queries = { host, count: 0, address: null, confirmation: null }
      this.#hosts.set(host, queries)
    }
    queries.count++
    return queries
  }

  release(queries: HostQueries): void {
    if (--queries.count === 0) this.#hosts.delete(queries.host)
  }
}

/**
 * Whether the query for A did not fail. If it fails, the host is dead and its other types are not queried again. A dead
 * host has no other types anyway, and a timeout occupies a place in flight for long.
 */
export async function isAlive({ address }: HostQueries): Promise<boolean> {
  return (await address)?.outcome !== 'failed'
}
