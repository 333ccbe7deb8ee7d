/** The resolver of a probe: answers one query with the combined result of the operator's resolvers. */

import { MAX_CNAME_LINKS } from '../../values/records/cname-chain.ts'
import type { RecordType } from '../../values/records/dns-record.ts'
import type { DnsAnswer } from '../probe-result.ts'
import type { DnsServer } from './server.ts'
import type { FailedReply, PositiveReply } from './server-client.ts'
import { DnsServerPaths } from './server-path.ts'
import { DnsServerPool, RETRY_DELAY_MS, type ServerAnswer, type ServerFailures } from './server-pool.ts'

/**
 * The open queries about one host. `count`: how many. `address`: the query for A, if there was one. `confirmation`: the
 * answer of a second server after one said NXDOMAIN.
 */
type HostQueries = {
  readonly host: string
  count: number
  address: Promise<DnsAnswer | null> | null
  confirmation: Promise<ServerAnswer | ServerFailures> | null
}

/** The hosts that are being queried. The queries for the types of a host share what they learn about it. */
class OpenHosts {
  readonly #hosts = new Map<string, HostQueries>()

  /** Registers a query. `release` ends it. */
  acquire(host: string): HostQueries {
    let queries = this.#hosts.get(host)
    if (queries === undefined) {
      queries = { host, count: 0, address: null, confirmation: null }
      this.#hosts.set(host, queries)
    }
    queries.count++
    return queries
  }

  release(queries: HostQueries): void {
    if (--queries.count === 0) this.#hosts.delete(queries.host)
  }
}

/** Confirms NXDOMAIN: a name is missing only if a second server agrees. */
class NxdomainConfirmation {
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
  /** What each server replies for the root: `timeout` if it does not reply. */
  rootReplies: DnsServerPool['rootReplies']
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

type QueryOptions = Parameters<DnsServerPool['query']>[2]
type RecordsReply = Extract<PositiveReply, { outcome: 'records' }>
type ResolverState = { servers: DnsServerPool; confirmation: NxdomainConfirmation; hosts: OpenHosts }

const ATTEMPT_TIMEOUT_MS = 2000
const MAX_ATTEMPTS = 4
const SOCKETS_PER_SERVER = 16

/** Sockets open at their first use. */
export async function openResolver(options: ResolverOptions): Promise<MultiServerResolver> {
  const { servers, timeoutMs = ATTEMPT_TIMEOUT_MS, attempts = MAX_ATTEMPTS, sockets = SOCKETS_PER_SERVER } = options
  const { retryDelayMs = RETRY_DELAY_MS, paths = new DnsServerPaths() } = options
  const pool = new DnsServerPool(servers, { timeoutMs, attempts, sockets, retryDelayMs, paths })
  const hosts = new OpenHosts()
  const state: ResolverState = { servers: pool, confirmation: new NxdomainConfirmation(pool), hosts }
  return {
    resolve(host, type) {
      const queries = hosts.acquire(host)
      const answer = resolveHost(state, queries, type)
      if (type === 'A') queries.address = answer
      return answer
    },
    exclude: (bad) => pool.exclude(bad),
    disagreements: () => pool.disagreements,
    withoutEdns: () => pool.withoutEdns(),
    rootReplies: () => pool.rootReplies(),
    close: async () => pool.close(),
  }
}

/** Resolves a host for a query that is registered in `queries`. */
async function resolveHost(state: ResolverState, queries: HostQueries, type: RecordType): Promise<DnsAnswer | null> {
  const { servers, hosts } = state
  const isAddress = type === 'A' || type === 'AAAA'
  const options = { deadline: servers.deadline(), shouldRetry: isAddress ? undefined : () => isAlive(queries) }
  const reply = await queryConfirmed(state, queries, type, options)
  let answer: DnsAnswer | null = reply
  if (reply?.outcome === 'records') {
    const { records, aliases } = reply
    answer =
      isAddress && aliases.length > 0
        ? await followAliases(state, queries.host, type, reply, options)
        : { outcome: 'records', records, aliases }
  }
  hosts.release(queries)
  return servers.isClosed ? null : answer
}

/** If a server stopped at an alias, addresses are queried at its target. The name itself has no other records. */
async function followAliases(
  state: ResolverState,
  host: string,
  type: RecordType,
  first: RecordsReply,
  options: QueryOptions,
): Promise<DnsAnswer | null> {
  const { hosts } = state
  const aliases = [...first.aliases]
  for (let reply = first; ; ) {
    const { records } = reply
    if (new Set([host, ...aliases]).size <= aliases.length) return { outcome: 'failed', why: 'malformed' }
    if (aliases.length > MAX_CNAME_LINKS) return null
    if (reply.isWhole || reply.aliases.length === 0) return { outcome: 'records', records, aliases }
    const queries = hosts.acquire(aliases.at(-1)!)
    const next = await queryConfirmed(state, queries, type, options)
    hosts.release(queries)
    if (next?.outcome === 'nxdomain') return { outcome: 'records', records: [], aliases }
    if (next?.outcome !== 'records') return next
    aliases.push(...next.aliases)
    reply = next
  }
}

/** Queries one host. NXDOMAIN needs the agreement of another server. */
async function queryConfirmed(
  { servers, confirmation }: ResolverState,
  queries: HostQueries,
  type: RecordType,
  options: QueryOptions,
): Promise<PositiveReply | FailedReply | null> {
  const answer = await servers.query(queries.host, type, options)
  if (answer === null || !('server' in answer) || answer.reply.outcome !== 'nxdomain') return answer?.reply ?? null
  return confirmation.confirm(queries, type, answer)
}

function isNxdomain(answer: ServerAnswer | ServerFailures): boolean {
  return 'reply' in answer && answer.reply.outcome === 'nxdomain'
}

/**
 * Whether the query for A did not fail. If it fails, the host is dead and its other types are not queried again. A dead
 * host has no other types anyway, and a timeout occupies a place in flight for long.
 */
async function isAlive({ address }: HostQueries): Promise<boolean> {
  return (await address)?.outcome !== 'failed'
}
