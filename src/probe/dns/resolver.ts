/** The resolver of a probe: answers one query with the combined result of the operator's resolvers. */

import { MAX_CNAME_LINKS } from '../../values/cname-chain.ts'
import type { RecordType } from '../../values/dns-record.ts'
import type { DnsAnswer } from '../probe-result.ts'
import { NxdomainConfirmation } from './nxdomain-confirmation.ts'
import type { DnsServer } from './server.ts'
import { DnsServerPaths } from './server-path.ts'
import { DnsServerPool, RETRY_DELAY_MS } from './server-pool.ts'

export type Resolver = {
  /**
   * Queries one type of a host in presentation form. It may wait, because each server has a concurrency limit. Never
   * rejects. Returns null if the query failed for a local reason, such as no route, overload, closed, or text that is
   * not a host name. Also returns null if nothing answers any query, the alias chain is longer than MAX_CNAME_LINKS, or
   * the servers disagree.
   */
  resolve(host: string, type: RecordType): Promise<DnsAnswer | null>
  close(): Promise<void>
}

/** Two servers agree on `nxdomain` and `failed`. A single configured server gives the same answer twice. */
export type MultiServerResolver = Resolver & {
  /**
   * Excludes these servers from now on and includes all others. If fewer than two of several servers remain, no name is
   * reported as missing.
   */
  exclude(servers: readonly DnsServer[]): void
  /** How often one server failed or denied the host and another answered, since this resolver was opened. */
  disagreements(): number
  /** The servers that only queries without EDNS reach. */
  withoutEdns(): DnsServer[]
}

export type ResolverOptions = {
  /** Queries go to them in turn, and to the next one after a failure. */
  servers: readonly DnsServer[]
  /** Milliseconds after which an attempt times out. */
  timeoutMs?: number
  /** Attempts per query, at least two. */
  attempts?: number
  /** UDP sockets per server. */
  sockets?: number
  /** Milliseconds before a failed server is queried again. Each later delay is three times as long. */
  retryDelayMs?: number
  /** The state of the paths to the servers. Self-checks that query the same servers share it. */
  paths?: DnsServerPaths
}

type ResolverState = { servers: DnsServerPool; confirmation: NxdomainConfirmation; addressQueries: AddressQueries }

const ATTEMPT_TIMEOUT_MS = 2000
const MAX_ATTEMPTS = 4
const SOCKETS_PER_SERVER = 16

/** Sockets open at their first use. */
export async function openResolver(options: ResolverOptions): Promise<MultiServerResolver> {
  const { servers, timeoutMs = ATTEMPT_TIMEOUT_MS, attempts = MAX_ATTEMPTS, sockets = SOCKETS_PER_SERVER } = options
  const { retryDelayMs = RETRY_DELAY_MS, paths = new DnsServerPaths() } = options
  const pool = new DnsServerPool(servers, { timeoutMs, attempts, sockets, retryDelayMs, paths })
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

/** If a server stopped at an alias, addresses are queried at its target. The name itself has no other records. */
async function resolveHost(
  { servers, confirmation, addressQueries }: ResolverState,
  host: string,
  type: RecordType,
): Promise<DnsAnswer | null> {
  const deadline = servers.deadline()
  const isAddress = type === 'A' || type === 'AAAA'
  const shouldRetry = isAddress ? undefined : () => addressQueries.isAlive(host)
  const aliases: string[] = []
  for (let at = host; ; at = aliases.at(-1)!) {
    const reply = await queryConfirmed(servers, confirmation, at, type, {
      deadline,
      ...(shouldRetry && { shouldRetry }),
    })
    if (reply === null || servers.isClosed) return null
    if (reply.outcome === 'nxdomain' && aliases.length > 0) return { outcome: 'records', records: [], aliases }
    if (reply.outcome !== 'records') return reply
    aliases.push(...reply.aliases)
    if (!isAddress) return { outcome: 'records', records: reply.records, aliases }
    if (new Set([host, ...aliases]).size <= aliases.length) return { outcome: 'failed', why: 'malformed' }
    if (aliases.length > MAX_CNAME_LINKS) return null
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
 * The open queries for A. If one fails, the host is dead and its other types are not queried again. A dead host has no
 * other types anyway, and a timeout occupies a place in flight for long.
 */
class AddressQueries {
  readonly #pending = new Map<string, Promise<DnsAnswer | null>>()

  /** Tracks the query until it settles. */
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
