/** The control questions to one resolver: what is wrong with it, in words for operators. */

import { randomBytes } from 'node:crypto'
import type { RecordType } from '../words/record.ts'
import type { ControlPlan } from './control-plan.ts'
import { Lines } from './dns-lines.ts'
import type { Paths } from './dns-path.ts'
import type { Server } from './dns-server.ts'

/** What a question came to; `silent`: nothing that could be read, or nobody there. */
type Outcome = 'records' | 'empty' | 'nxdomain' | 'failed' | 'silent'

/** Behind them a last question whether it answers at all. */
const ATTEMPTS = 3
const DNS_PORT = 53

export class Examiner {
  readonly server: Server
  readonly #plan: ControlPlan
  readonly #lines: Lines

  /** `patience` in milliseconds, of one attempt; `paths`: those that visits use. */
  constructor(server: Server, plan: ControlPlan, patience: number, paths: Paths) {
    this.server = server
    this.#plan = plan
    this.#lines = new Lines([server], {
      timeout: patience,
      attempts: ATTEMPTS,
      sockets: 1,
      pause: patience / 4,
      paths,
      isSelfCheck: true,
    })
  }

  /** What is wrong, one sentence without its full stop; null where all is well. All is asked at once. Never rejects. */
  async fault(): Promise<string | null> {
    const { zones, missing, ipv4only } = this.#plan
    const [soas, made, sixth] = await Promise.all([
      Promise.all(zones.map((zone) => this.#ask(zone, 'SOA'))),
      missing === null ? null : this.#ask(madeUp(missing), 'A'),
      ipv4only === null ? null : this.#ask(ipv4only, 'AAAA'),
    ])
    const who = `resolver ${shownServer(this.server)}`
    const said = [...soas, made, sixth].filter((outcome) => outcome !== null)
    if (said.length > 0 && said.every((outcome) => outcome === 'silent')) return `${who} does not answer`
    const without = zones.find((_, index) => soas[index] !== 'records')
    if (without !== undefined) return `${who} gives no SOA of ${without === '.' ? 'the root' : without}`
    if (made === 'records' || made === 'empty') return `${who} says that a made-up name under ${missing} exists`
    if (made !== null && made !== 'nxdomain')
      return `${who} does not say that a made-up name under ${missing} is missing`
    if (sixth === 'records') return `${who} makes up AAAA records (DNS64): name one that does not`
    return null
  }

  close(): void {
    this.#lines.close()
  }

  async #ask(host: string, type: RecordType): Promise<Outcome> {
    const told = await this.#lines.ask(host, type, { until: this.#lines.deadline() })
    if (told === null) return 'silent'
    const { said } = told
    if (said.outcome === 'failed') return said.why === 'timeout' ? 'silent' : 'failed'
    return said.outcome === 'nxdomain' ? 'nxdomain' : said.records.length > 0 ? 'records' : 'empty'
  }
}

/** A server as messages name it. */
export function shownServer({ address, port }: Server): string {
  return port === DNS_PORT ? address : `${address} port ${port}`
}

/** A host that nobody has registered: 80 random bits. */
function madeUp(suffix: string): string {
  const label = randomBytes(10).toString('hex')
  return suffix === '.' ? label : `${label}.${suffix}`
}
