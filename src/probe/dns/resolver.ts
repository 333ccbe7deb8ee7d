/** The resolver's side of a visit: one question in, what the operator's resolvers make of it out. */

import type { RecordType } from '../../values/dns-record.ts'
import type { DnsAnswer } from '../probe-result.ts'
import { NxdomainConfirmation } from './nxdomain-confirmation.ts'
import { MOST_ALIASES } from './reply.ts'
import type { DnsServer } from './server.ts'
import { DnsServerPaths } from './server-path.ts'
import { DnsServerPool, RETRY_DELAY_MS } from './server-pool.ts'

export { type DnsServer as Server, parseDnsServer as parseServer, systemDnsServers as systemServers } from './server.ts'

export type Resolver = {
  /**
   * Asks for one type at a host in presentation form, within what each server bears, so that it may have to wait. Never rejects.
   * Null: it could not be asked for a reason of ours (no resolver at that port, no route, closed, no host, nothing answered at
   * all meanwhile, more questions than the server bears), its aliases go on behind MOST_ALIASES, or the servers do not agree.
   */
  resolve(host: string, type: RecordType): Promise<DnsAnswer | null>
  close(): Promise<void>
}

/**
 * `nxdomain` and `failed` are the word of two servers; of the only one where no more were given, asked twice.
 */
export type MultiServerResolver = Resolver & {
  /** These are asked nothing from now on, all others are. Where less than two are left of several, nothing is denied any more. */
  exclude(servers: readonly DnsServer[]): void
  /** How often one server failed at a question, or denied its host, and another answered, since this was opened. */
  disagreements(): number
  /** The servers to which only questions without EDNS get through. */
  withoutEdns(): DnsServer[]
}

export type ResolverOptions = {
  /** Questions go to them in turn, and to the next where one fails. */
  servers: readonly DnsServer[]
  /** Milliseconds until an attempt is given up. */
  timeout?: number
  /** Questions to servers until one question of ours is given up, at least two. */
  attempts?: number
  /** UDP sockets a server. */
  sockets?: number
  /** Milliseconds before a server is asked again that failed, three times as long each further time. */
  pause?: number
  /** What is known about the paths to the servers; self-checks that ask the same servers get the same. */
  paths?: DnsServerPaths
}

type ResolverState = { servers: DnsServerPool; confirmation: NxdomainConfirmation; addressQueries: AddressQueries }

const ATTEMPT_TIMEOUT_MS = 2000
const MAX_ATTEMPTS = 4
const SOCKETS_PER_SERVER = 16

/** Sockets are opened when they are first needed. */
export async function openResolver(options: ResolverOptions): Promise<MultiServerResolver> {
  const { servers, timeout = ATTEMPT_TIMEOUT_MS, attempts = MAX_ATTEMPTS, sockets = SOCKETS_PER_SERVER } = options
  const { pause = RETRY_DELAY_MS, paths = new DnsServerPaths() } = options
  const pool = new DnsServerPool(servers, { timeout, attempts, sockets, pause, paths })
  const state: ResolverState = {
    servers: pool,
    confirmation: new NxdomainConfirmation(pool),
    addressQueries: new AddressQueries(),
  }
  return {
    resolve(host, type) {
      const answer = resolveHost(state, host, type)
      return type === 'A' ? state.addressQueries.track(host, answer) : answer
    },
    exclude: (bad) => pool.exclude(bad),
    disagreements: () => pool.disagreements,
    withoutEdns: () => pool.withoutEdns(),
    close: async () => pool.close(),
  }
}

/** Where a server stopped at an alias, addresses are asked of its target; the name itself has nothing else there. */
async function resolveHost(
  { servers: lines, confirmation: opinions, addressQueries: leads }: ResolverState,
  host: string,
  type: RecordType,
): Promise<DnsAnswer | null> {
  const deadline = lines.deadline()
  const isAddress = type === 'A' || type === 'AAAA'
  const shouldRetry = isAddress ? undefined : () => leads.isAlive(host)
  const aliases: string[] = []
  for (let at = host; ; at = aliases.at(-1)!) {
    const reply = await queryConfirmed(lines, opinions, at, type, { deadline, ...(shouldRetry && { shouldRetry }) })
    if (reply === null || lines.isClosed) return null
    if (reply.outcome === 'nxdomain' && aliases.length > 0) return { outcome: 'records', records: [], aliases }
    if (reply.outcome !== 'records') return reply
    aliases.push(...reply.aliases)
    if (!isAddress) return { outcome: 'records', records: reply.records, aliases }
    if (new Set([host, ...aliases]).size <= aliases.length) return { outcome: 'failed', why: 'malformed' }
    if (aliases.length > MOST_ALIASES) return null
    if (reply.isWhole) return { outcome: 'records', records: reply.records, aliases }
  }
}

type QueryOptions = Parameters<DnsServerPool['query']>[2]

async function queryConfirmed(
  servers: DnsServerPool,
  confirmation: NxdomainConfirmation,
  host: string,
  type: RecordType,
  queryOptions: QueryOptions,
) {
  confirmation.acquire(host)
  try {
    const answer = await servers.query(host, type, queryOptions)
    if (answer === null) return null
    return 'server' in answer && answer.reply.outcome === 'nxdomain'
      ? await confirmation.confirm(host, type, answer)
      : answer.reply
  } finally {
    confirmation.release(host)
  }
}

/**
 * The questions for A that are under way. Where one fails for good the host is dead, and its other types, which a dead host
 * leaves out in any case, are not asked again: a time-out holds a place in flight for long.
 */
class AddressQueries {
  readonly #pending = new Map<string, Promise<DnsAnswer | null>>()

  /** Notes the question for as long as it is under way. */
  track(host: string, answer: Promise<DnsAnswer | null>): Promise<DnsAnswer | null> {
    this.#pending.set(host, answer)
    return answer.finally(() => {
      if (this.#pending.get(host) === answer) this.#pending.delete(host)
    })
  }

  async isAlive(host: string): Promise<boolean> {
    return (await this.#pending.get(host))?.outcome !== 'failed'
  }
}
