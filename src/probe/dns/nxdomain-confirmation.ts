/** Confirms NXDOMAIN: a name is missing only if a second server agrees. */

import type { RecordType } from '../../values/dns-record.ts'
import type { DnsServerPool, ServerAnswer } from './server-pool.ts'

type Confirmation = ReturnType<DnsServerPool['queryOthers']>

export class NxdomainConfirmation {
  readonly #servers: DnsServerPool
  /** The hosts with open queries: how many queries, and the answer of a second server. */
  readonly #pendingByHost = new Map<string, { queries: number; confirmation: Confirmation | null }>()

  constructor(servers: DnsServerPool) {
    this.#servers = servers
  }

  /** Registers a query. Until `release`, all types of the host share one confirmation query. */
  acquire(host: string): void {
    const pending = this.#pendingByHost.get(host)
    if (pending === undefined) this.#pendingByHost.set(host, { queries: 1, confirmation: null })
    else pending.queries++
  }

  release(host: string): void {
    const pending = this.#pendingByHost.get(host)
    if (pending !== undefined && --pending.queries === 0) this.#pendingByHost.delete(host)
  }

  /**
   * Returns the confirmed answer after `first` said NXDOMAIN. Another server is queried once per host, for A. If it
   * agrees, the host is missing. Otherwise it is queried for this type, because some servers deny a host that lacks one
   * type. If two servers disagree, a third decides. Returns null if there is none.
   */
  async confirm(host: string, type: RecordType, first: ServerAnswer): Promise<ServerAnswer['reply'] | null> {
    const shared = await this.#share(host, first)
    if (isNxdomain(shared)) return first.reply
    const second = type === 'A' || 'failures' in shared ? shared : await this.#servers.queryOthers(host, type, [first])
    if (isNxdomain(second)) return first.reply
    if ('failures' in second) return null
    this.#servers.disagreements++
    const third = await this.#servers.queryOthers(host, type, [first, second])
    if ('failures' in third || third.server === first.server) return null
    return third.reply
  }

  #share(host: string, first: ServerAnswer): Confirmation {
    const query = () => this.#servers.queryOthers(host, 'A', [first])
    const pending = this.#pendingByHost.get(host)
    if (pending === undefined) return query()
    pending.confirmation ??= query()
    return pending.confirmation
  }
}

function isNxdomain(answer: Awaited<Confirmation>): boolean {
  return 'reply' in answer && answer.reply.outcome === 'nxdomain'
}
