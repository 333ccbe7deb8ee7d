/** Evidence of overload at one resolver: failures of many unrelated hosts, which no single dead domain explains. Pure. */

/** Hosts of one window; then the next one begins. */
const WINDOW_HOSTS = 100
/** Fewer hosts that fail, or recover, are no evidence: a dead domain is one, however many questions it is asked. */
const MIN_HOSTS = 8
/** Share of hosts that may fail beside twice the share that is known to be dead. */
const MAX_FAILED_SHARE = 0.2
/** Share of hosts that may fail and answer when they are asked again: servers that answer at random do that without any load. */
const MAX_RECOVERED_SHARE = 0.1
/** Share of dead hosts that is assumed at first, and how fast the share that is met replaces it, per question. */
const INITIAL_DEAD_SHARE = 0.05
const DEAD_SHARE_WEIGHT = 0.01

export class OverloadEvidence {
  /** Hosts of this window, true where a question failed. */
  readonly #hosts = new Map<string, boolean>()
  readonly #recovered = new Set<string>()
  #failed = 0
  #answers = 0
  #deadShare = INITIAL_DEAD_SHARE

  /** Notes how a question about a host came out. True where a new window begins with it. */
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

  /** Notes that a question which had failed was answered when it was asked again: the failure was not the host's. */
  recordRecovery(host: string): void {
    this.#recovered.add(hostGroup(host))
  }

  /** Notes a question's final outcome: dead hosts fail whatever the load is. */
  recordOutcome(isDead: boolean): void {
    this.#deadShare += DEAD_SHARE_WEIGHT * (Number(isDead) - this.#deadShare)
  }

  /** True if more hosts fail than are known to be dead. */
  get hasManyFailures(): boolean {
    return this.#failed >= MIN_HOSTS && this.#failed > (MAX_FAILED_SHARE + 2 * this.#deadShare) * this.#hosts.size
  }

  /** True if so many failures were not the hosts' own. */
  get hasManyRecoveries(): boolean {
    const { size } = this.#recovered
    return size >= MIN_HOSTS && size > MAX_RECOVERED_SHARE * this.#hosts.size
  }

  /** True if nothing at all was answered in this window, as where the resolver is down. */
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

/** A name and its `www.` have the same servers. */
function hostGroup(host: string): string {
  return host.startsWith('www.') ? host.slice(4) : host
}
