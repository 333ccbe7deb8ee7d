/** The control questions to one resolver: what is wrong with it, in words for operators. */

import { randomBytes } from 'node:crypto'
import type { RecordType } from '../../values/dns-record.ts'
import type { DnsServer } from '../dns/server.ts'
import type { DnsServerPaths } from '../dns/server-path.ts'
import { DnsServerPool } from '../dns/server-pool.ts'
import type { SelfCheckPlan } from './plan.ts'

/** What a question came to; `silent`: nothing that could be read, or nobody there. */
type ControlQueryOutcome = 'records' | 'empty' | 'nxdomain' | 'failed' | 'silent'

/** Behind them a last question whether it answers at all. */
const CONTROL_QUERY_ATTEMPTS = 3
const DNS_PORT = 53

export class ResolverCheck {
  readonly server: DnsServer
  readonly #plan: SelfCheckPlan
  readonly #servers: DnsServerPool

  /** `timeoutMs`: of one attempt; `paths`: those that visits use. */
  constructor(server: DnsServer, plan: SelfCheckPlan, timeoutMs: number, paths: DnsServerPaths) {
    this.server = server
    this.#plan = plan
    this.#servers = new DnsServerPool([server], {
      timeout: timeoutMs,
      attempts: CONTROL_QUERY_ATTEMPTS,
      sockets: 1,
      pause: timeoutMs / 4,
      paths,
      isSelfCheck: true,
    })
  }

  /** What is wrong, one sentence without its full stop; null where all is well. All is asked at once. Never rejects. */
  async findFault(): Promise<string | null> {
    const { zones, missingUnder: missing, ipv4only } = this.#plan
    const [soas, madeUpName, ipv6Only] = await Promise.all([
      Promise.all(zones.map((zone) => this.#query(zone, 'SOA'))),
      missing === null ? null : this.#query(randomNameUnder(missing), 'A'),
      ipv4only === null ? null : this.#query(ipv4only, 'AAAA'),
    ])
    const who = `resolver ${formatServer(this.server)}`
    const outcomes = [...soas, madeUpName, ipv6Only].filter((outcome) => outcome !== null)
    if (outcomes.length > 0 && outcomes.every((outcome) => outcome === 'silent')) return `${who} does not answer`
    const without = zones.find((_, index) => soas[index] !== 'records')
    if (without !== undefined) return `${who} gives no SOA of ${without === '.' ? 'the root' : without}`
    if (madeUpName === 'records' || madeUpName === 'empty')
      return `${who} says that a made-up name under ${missing} exists`
    if (madeUpName !== null && madeUpName !== 'nxdomain')
      return `${who} does not say that a made-up name under ${missing} is missing`
    if (ipv6Only === 'records') return `${who} makes up AAAA records (DNS64): name one that does not`
    return null
  }

  close(): void {
    this.#servers.close()
  }

  async #query(host: string, type: RecordType): Promise<ControlQueryOutcome> {
    const response = await this.#servers.query(host, type, { deadline: this.#servers.deadline() })
    if (response === null) return 'silent'
    const { reply: outcomes } = response
    if (outcomes.outcome === 'failed') return outcomes.why === 'timeout' ? 'silent' : 'failed'
    return outcomes.outcome === 'nxdomain' ? 'nxdomain' : outcomes.records.length > 0 ? 'records' : 'empty'
  }
}

/** A server as messages name it. */
export function formatServer({ address, port }: DnsServer): string {
  return port === DNS_PORT ? address : `${address} port ${port}`
}

/** A host that nobody has registered: 80 random bits. */
function randomNameUnder(suffix: string): string {
  const label = randomBytes(10).toString('hex')
  return suffix === '.' ? label : `${label}.${suffix}`
}
