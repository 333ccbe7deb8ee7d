/** Confirms NXDOMAIN: a name is missing only if a second server agrees. */

import type { RecordType } from '../../values/records/dns-record.ts'
import type { HostQueries } from './host-queries.ts'
import type { DnsServerPool, ServerAnswer, ServerFailures } from './server-pool.ts'

export class NxdomainConfirmation {
  readonly #servers: DnsServerPool

  constructor(servers: DnsServerPool) {
    this.#servers = servers
  }

  /**
   * Returns the confirmed answer after `first` said NXDOMAIN. Another server is queried once per host, for A. If it
   * agrees, the host is missing. Otherwise it is queried for this type, because some servers deny a host that lacks one
   * type. If two servers disagree, a third decides. Returns null if there is none.
   */
  async confirm(queries: HostQueries, type: RecordType, first: ServerAnswer): Promise<ServerAnswer['reply'] | null> {
    const { host } = queries
    queries.confirmation ??= this.#servers.queryOthers(host, 'A', [first])
    const shared = await queries.confirmation
    if (isNxdomain(shared)) return first.reply
    const second = type === 'A' || 'failures' in shared ? shared : await this.#servers.queryOthers(host, type, [first])
    if (isNxdomain(second)) return first.reply
    if ('failures' in second) return null
    this.#servers.disagreements++
    const third = await this.#servers.queryOthers(host, type, [first, second])
    if ('failures' in third || third.server === first.server) return null
    return third.reply
  }
}

function isNxdomain(answer: ServerAnswer | ServerFailures): boolean {
  return 'reply' in answer && answer.reply.outcome === 'nxdomain'
}
