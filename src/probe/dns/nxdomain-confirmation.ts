/** Second opinions: a name that one server denies is missing only where another server says so too. */

import type { RecordType } from '../../values/dns-record.ts'
import type { DnsServerPool, ServerAnswer } from './server-pool.ts'

type Confirmation = ReturnType<DnsServerPool['queryOthers']>

export class NxdomainConfirmation {
  readonly #servers: DnsServerPool
  /** By host, while questions about it are under way: how many, and what a second server makes of it. */
  readonly #pendingByHost = new Map<string, { asking: number; opinion: Confirmation | null }>()

  constructor(lines: DnsServerPool) {
    this.#servers = lines
  }

  /** From now until `leave` one second question is enough for all types of the host. */
  acquire(host: string): void {
    const known = this.#pendingByHost.get(host)
    if (known === undefined) this.#pendingByHost.set(host, { asking: 1, opinion: null })
    else known.asking++
  }

  release(host: string): void {
    const known = this.#pendingByHost.get(host)
    if (known !== undefined && --known.asking === 0) this.#pendingByHost.delete(host)
  }

  /**
   * What holds where `first` says that the host is not there. For all types another server is asked once, for A: if it
   * says so too, the host is missing. Otherwise it is asked for this very type, as there are servers that deny a host of
   * which they lack one type. Where two disagree, that holds which a third one says too; null where there is none.
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
    const ask = () => this.#servers.queryOthers(host, 'A', [first])
    const known = this.#pendingByHost.get(host)
    if (known === undefined) return ask()
    known.opinion ??= ask()
    return known.opinion
  }
}

function isNxdomain(answer: Awaited<Confirmation>): boolean {
  return 'reply' in answer && answer.reply.outcome === 'nxdomain'
}
