/** The resolver's side of a visit: one question in, what the operator's resolvers make of it out. */

import type { RecordType } from '../words/record.ts'
import { MOST_ALIASES } from './dns-answer.ts'
import { Lines } from './dns-lines.ts'
import { SecondOpinions } from './dns-second.ts'
import type { Server } from './dns-server.ts'
import type { Answer } from './visit.ts'

export { parseServer, type Server, systemServers } from './dns-server.ts'

export type Resolver = {
  /**
   * Asks for one type at a host in presentation form, for at most `attempts` times `timeout`, and three times as long where
   * a server denies the host. Never rejects. Null: it could not be asked for a reason of ours (no resolver at that port, no
   * route, closed, no host, nothing answered at all meanwhile), or the servers do not agree.
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
}

const TIMEOUT_MILLISECONDS = 2000
const ATTEMPTS = 4
const SOCKETS = 16

/** Sockets are opened when they are first needed. */
export async function openResolver(options: ResolverOptions): Promise<ServerResolver> {
  const { servers, timeout = TIMEOUT_MILLISECONDS, attempts = ATTEMPTS, sockets = SOCKETS } = options
  const lines = new Lines(servers, { timeout, attempts, sockets })
  const opinions = new SecondOpinions(lines)
  return {
    ask: (host, type) => ask(lines, opinions, host, type),
    leaveOut: (bad) => lines.leaveOut(bad),
    disagreements: () => lines.disagreements,
    close: async () => lines.close(),
  }
}

/** Where a server stopped at an alias, addresses are asked of its target; the name itself has nothing else there. */
async function ask(lines: Lines, opinions: SecondOpinions, host: string, type: RecordType): Promise<Answer | null> {
  const until = lines.deadline()
  const aliases: string[] = []
  for (let at = host; ; at = aliases.at(-1)!) {
    const said = await askAt(lines, opinions, at, type, until)
    if (said === null || lines.isClosed) return null
    if (said.outcome === 'nxdomain' && aliases.length > 0) return { outcome: 'records', records: [], aliases }
    if (said.outcome !== 'records') return said
    aliases.push(...said.aliases)
    if (aliases.length > MOST_ALIASES) return { outcome: 'failed', why: 'malformed' }
    if (said.isWhole || (type !== 'A' && type !== 'AAAA')) return { outcome: 'records', records: said.records, aliases }
    if (aliases.indexOf(aliases.at(-1)!) < aliases.length - 1) return { outcome: 'failed', why: 'malformed' }
  }
}

async function askAt(lines: Lines, opinions: SecondOpinions, host: string, type: RecordType, until: number) {
  opinions.enter(host)
  try {
    const told = await lines.ask(host, type, until)
    if (told === null) return null
    return 'line' in told && told.said.outcome === 'nxdomain' ? await opinions.settle(host, type, told) : told.said
  } finally {
    opinions.leave(host)
  }
}
