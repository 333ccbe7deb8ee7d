/**
 * Evidence of overload at one resolver: failures of many unrelated hosts, which no single dead domain explains. Pure.
 */

/** Hosts per window. */
const WINDOW_HOSTS = 100
/**
 * Fewer hosts that fail or recover are no evidence. A dead domain counts as one host, whatever number of queries it
 * gets.
 */
const MIN_HOSTS = 8
/** The share of hosts that may fail in addition to twice the share of dead hosts. */
const MAX_FAILED_SHARE = 0.2
/** The share of hosts that may fail and then answer a retry. Servers that answer at random do that without any load. */
const MAX_RECOVERED_SHARE = 0.1
/** The assumed share of dead hosts at the start, and the weight of each query in its moving average. */
const INITIAL_DEAD_SHARE = 0.05
const DEAD_SHARE_WEIGHT = 0.01

export class OverloadEvidence {
  /** The hosts of this window. True if a query failed. */
  readonly #hosts = new Map<string, boolean>()
  readonly #recovered = new Set<string>()
  #failed = 0
  #answers = 0
  #deadShare = INITIAL_DEAD_SHARE

  /** Records the outcome of a query about a host. Returns true if it starts a new window. */
  record(host: string, hasFailed: boolean): boolean {
    const key = hostGroup(host)
    const before = this.#hosts.get(key)
    const isNew = before === undefined && this.#hosts.size >= WINDOW_HOSTS
    if (isNew) this.clear()
    if (hasFailed && before !== true) this.#failed++
    if (!hasFailed) this.#answers++
    if (before !== true) this.#hosts.set(key, hasFailed)
    return isNew
  }

  /** Records that a retry was answered, so the failure before it was not the host's. */
  recordRecovery(host: string): void {
    this.#recovered.add(hostGroup(host))
  }

  /** Records the final outcome of a query. Dead hosts fail under any load. */
  recordOutcome(isDead: boolean): void {
    this.#deadShare += DEAD_SHARE_WEIGHT * (Number(isDead) - this.#deadShare)
  }

  /** True if more hosts fail than the share of dead hosts explains. */
  get hasManyFailures(): boolean {
    return this.#failed >= MIN_HOSTS && this.#failed > (MAX_FAILED_SHARE + 2 * this.#deadShare) * this.#hosts.size
  }

  /** True if many failures were not the hosts' own. */
  get hasManyRecoveries(): boolean {
    const { size } = this.#recovered
    return size >= MIN_HOSTS && size > MAX_RECOVERED_SHARE * this.#hosts.size
  }

  /** True if no query was answered in this window, for example because the resolver is down. */
  get hasNoAnswer(): boolean {
    return this.#answers === 0
  }

  clear(): void {
    this.#hosts.clear()
    this.#recovered.clear()
    this.#failed = 0
    this.#answers = 0
  }
}

/** A name and its `www.` host have the same servers. */
function hostGroup(host: string): string {
  return host.startsWith('www.') ? host.slice(4) : host
}
