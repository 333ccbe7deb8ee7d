/** The control questions to one resolver: whether it answers, and answers correctly. */

import { randomBytes } from 'node:crypto'
import type { RecordType } from '../../values/records/dns-record.ts'
import { type DnsServer, formatDnsServer } from '../dns/server.ts'
import type { PositiveReply } from '../dns/server-client.ts'
import type { DnsServerPaths } from '../dns/server-path.ts'
import { DnsServerPool } from '../dns/server-pool.ts'
import type { SelfCheckPlan } from './plan.ts'

/** The outcome of a control question. `silent`: no readable answer, or no server there. */
type ControlQueryOutcome = 'records' | 'empty' | 'nxdomain' | 'failed' | 'silent'

/** Milliseconds for an attempt of a control question. */
export const CONTROL_QUERY_TIMEOUT_MS = 1200
/** After these attempts, one last query shows whether the resolver answers at all. */
const CONTROL_QUERY_ATTEMPTS = 3

/** The control questions to one resolver. Describes its fault for operators. */
export class ResolverCheck {
  readonly server: DnsServer
  readonly #plan: SelfCheckPlan
  readonly #servers: DnsServerPool

  /** `timeoutMs`: of one attempt; `paths`: those that probes use. */
  constructor(server: DnsServer, plan: SelfCheckPlan, timeoutMs: number, paths: DnsServerPaths) {
    this.server = server
    this.#plan = plan
    this.#servers = new DnsServerPool([server], {
      timeoutMs,
      attempts: CONTROL_QUERY_ATTEMPTS,
      sockets: 1,
      retryDelayMs: timeoutMs / 4,
      paths,
      isSelfCheck: true,
    })
  }

  /**
   * Describes what is wrong in one sentence without its full stop. Returns null if nothing is wrong. Sends all
   * questions at once. Never rejects.
   */
  async findFault(): Promise<string | null> {
    const { zones, missingUnder, ipv4only } = this.#plan
    const [soas, madeUpName, synthesized] = await Promise.all([
      Promise.all(zones.map((zone) => this.#outcome(zone, 'SOA'))),
      missingUnder === null ? null : this.#outcome(randomNameUnder(missingUnder), 'A'),
      ipv4only === null ? null : this.#outcome(ipv4only, 'AAAA'),
    ])
    const subject = `resolver ${formatDnsServer(this.server)}`
    const outcomes = [...soas, madeUpName, synthesized].filter((outcome) => outcome !== null)
    if (outcomes.length > 0 && outcomes.every((outcome) => outcome === 'silent')) return this.silence
    const zoneWithoutSoa = zones.find((_, index) => soas[index] !== 'records')
    if (zoneWithoutSoa !== undefined)
      return `${subject} returns no SOA for ${zoneWithoutSoa === '.' ? 'the root' : zoneWithoutSoa}`
    if (madeUpName === 'records' || madeUpName === 'empty')
      return `${subject} reports that a made-up name under ${missingUnder} exists`
    if (madeUpName !== null && madeUpName !== 'nxdomain')
      return `${subject} does not report a made-up name under ${missingUnder} as missing`
    if (synthesized === 'records') return `${subject} synthesizes AAAA records (DNS64): use another resolver`
    return null
  }

  /** The fault of a resolver that does not answer. */
  get silence(): string {
    return `resolver ${formatDnsServer(this.server)} does not answer`
  }

  /** The answer to a query; null without one. */
  async ask(host: string, type: RecordType): Promise<PositiveReply | null> {
    const response = await this.#query(host, type)
    return response === null || response.reply.outcome === 'failed' ? null : response.reply
  }

  close(): void {
    this.#servers.close()
  }

  #query(host: string, type: RecordType): ReturnType<DnsServerPool['query']> {
    return this.#servers.query(host, type, { deadline: this.#servers.deadline() })
  }

  async #outcome(host: string, type: RecordType): Promise<ControlQueryOutcome> {
    const response = await this.#query(host, type)
    if (response === null) return 'silent'
    const { reply } = response
    if (reply.outcome === 'failed') return reply.why === 'timeout' ? 'silent' : 'failed'
    return reply.outcome === 'nxdomain' ? 'nxdomain' : reply.records.length > 0 ? 'records' : 'empty'
  }
}

/** A host that is almost certainly not registered: 80 random bits. */
function randomNameUnder(suffix: string): string {
  const label = randomBytes(10).toString('hex')
  return suffix === '.' ? label : `${label}.${suffix}`
}
