/** The resolver's side of a visit: one question in, what the operator's resolvers make of it out. */

import type { RecordType } from '../words/record.ts'
import { MOST_ALIASES } from './dns-answer.ts'
import { Lines, PAUSE_MILLISECONDS } from './dns-lines.ts'
import { Paths } from './dns-path.ts'
import { SecondOpinions } from './dns-second.ts'
import type { Server } from './dns-server.ts'
import type { Answer } from './visit.ts'

export { parseServer, type Server, systemServers } from './dns-server.ts'

export type Resolver = {
  /**
   * Asks for one type at a host in presentation form, within what each server bears, so that it may have to wait. Never rejects.
   * Null: it could not be asked for a reason of ours (no resolver at that port, no route, closed, no host, nothing answered at
   * all meanwhile, more questions than the server bears), its aliases go on behind MOST_ALIASES, or the servers do not agree.
   */
  ask(host: string, type: RecordType): Promise<Answer | null>
  close(): Promise<void>
}

/**
 * `nxdomain` and `failed` are the word of two servers; of the only one where no more were given, asked twice.
 */
export type ServerResolver = Resolver & {
  /** These are asked nothing from now on, all others are. Where less than two are left of several, nothing is denied any more. */
  leaveOut(servers: readonly Server[]): void
  /** How often one server failed at a question, or denied its host, and another answered, since this was opened. */
  disagreements(): number
  /** The servers to which only questions without EDNS get through. */
  withoutEdns(): Server[]
}

export type ResolverOptions = {
  /** Questions go to them in turn, and to the next where one fails. */
  servers: readonly Server[]
  /** Milliseconds until an attempt is given up. */
  timeout?: number
  /** Questions to servers until one question of ours is given up, at least two. */
  attempts?: number
  /** UDP sockets a server. */
  sockets?: number
  /** Milliseconds before a server is asked again that failed, three times as long each further time. */
  pause?: number
  /** What is known about the paths to the servers; self-checks that ask the same servers get the same. */
  paths?: Paths
}

type Asking = { lines: Lines; opinions: SecondOpinions; leads: Leads }

const TIMEOUT_MILLISECONDS = 2000
const ATTEMPTS = 4
const SOCKETS = 16

/** Sockets are opened when they are first needed. */
export async function openResolver(options: ResolverOptions): Promise<ServerResolver> {
  const { servers, timeout = TIMEOUT_MILLISECONDS, attempts = ATTEMPTS, sockets = SOCKETS } = options
  const { pause = PAUSE_MILLISECONDS, paths = new Paths() } = options
  const lines = new Lines(servers, { timeout, attempts, sockets, pause, paths })
  const asking: Asking = { lines, opinions: new SecondOpinions(lines), leads: new Leads() }
  return {
    ask(host, type) {
      const answer = ask(asking, host, type)
      return type === 'A' ? asking.leads.follow(host, answer) : answer
    },
    leaveOut: (bad) => lines.leaveOut(bad),
    disagreements: () => lines.disagreements,
    withoutEdns: () => lines.withoutEdns(),
    close: async () => lines.close(),
  }
}

/** Where a server stopped at an alias, addresses are asked of its target; the name itself has nothing else there. */
async function ask({ lines, opinions, leads }: Asking, host: string, type: RecordType): Promise<Answer | null> {
  const until = lines.deadline()
  const isAddress = type === 'A' || type === 'AAAA'
  const isWorth = isAddress ? undefined : () => leads.isWorth(host)
  const aliases: string[] = []
  for (let at = host; ; at = aliases.at(-1)!) {
    const said = await askAt(lines, opinions, at, type, { until, ...(isWorth && { isWorth }) })
    if (said === null || lines.isClosed) return null
    if (said.outcome === 'nxdomain' && aliases.length > 0) return { outcome: 'records', records: [], aliases }
    if (said.outcome !== 'records') return said
    aliases.push(...said.aliases)
    if (!isAddress) return { outcome: 'records', records: said.records, aliases }
    if (new Set([host, ...aliases]).size <= aliases.length) return { outcome: 'failed', why: 'malformed' }
    if (aliases.length > MOST_ALIASES) return null
    if (said.isWhole) return { outcome: 'records', records: said.records, aliases }
  }
}

type How = Parameters<Lines['ask']>[2]

async function askAt(lines: Lines, opinions: SecondOpinions, host: string, type: RecordType, how: How) {
  opinions.enter(host)
  try {
    const told = await lines.ask(host, type, how)
    if (told === null) return null
    return 'line' in told && told.said.outcome === 'nxdomain' ? await opinions.settle(host, type, told) : told.said
  } finally {
    opinions.leave(host)
  }
}

/**
 * The questions for A that are under way. Where one fails for good the host is dead, and its other types, which a dead host
 * leaves out in any case, are not asked again: a time-out holds a place in flight for long.
 */
class Leads {
  readonly #asked = new Map<string, Promise<Answer | null>>()

  /** Notes the question for as long as it is under way. */
  follow(host: string, answer: Promise<Answer | null>): Promise<Answer | null> {
    this.#asked.set(host, answer)
    return answer.finally(() => {
      if (this.#asked.get(host) === answer) this.#asked.delete(host)
    })
  }

  async isWorth(host: string): Promise<boolean> {
    return (await this.#asked.get(host))?.outcome !== 'failed'
  }
}
