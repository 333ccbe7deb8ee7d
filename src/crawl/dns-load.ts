/** Evidence of overload at one resolver: failures of many unrelated hosts, which no single dead domain explains. Pure. */

/** Hosts of one window; then the next one begins. */
const WINDOW_HOSTS = 100
/** Fewer hosts that fail, or recover, are no evidence: a dead domain is one, however many questions it is asked. */
const LEAST_HOSTS = 8
/** Share of hosts that may fail beside twice the share that is known to be dead. */
const FAILED_SHARE = 0.2
/** Share of hosts that may fail and answer when they are asked again: servers that answer at random do that without any load. */
const RECOVERED_SHARE = 0.1
/** Share of dead hosts that is assumed at first, and how fast the share that is met replaces it, per question. */
const DEAD_SHARE = 0.05
const DEAD_WEIGHT = 0.01

export class LoadEvidence {
  /** Hosts of this window, true where a question failed. */
  readonly #hosts = new Map<string, boolean>()
  readonly #recovered = new Set<string>()
  #failed = 0
  #answers = 0
  #dead = DEAD_SHARE

  /** Notes how a question about a host came out. True where a new window begins with it. */
  note(host: string, hasFailed: boolean): boolean {
    const key = unrelated(host)
    const before = this.#hosts.get(key)
    const isNew = before === undefined && this.#hosts.size >= WINDOW_HOSTS
    if (isNew) this.clear()
    if (hasFailed && before !== true) this.#failed++
    if (!hasFailed) this.#answers++
    if (before !== true) this.#hosts.set(key, hasFailed)
    return isNew
  }

  /** Notes that a question which had failed was answered when it was asked again: the failure was not the host's. */
  noteRecovery(host: string): void {
    this.#recovered.add(unrelated(host))
  }

  /** Notes a question's final outcome: dead hosts fail whatever the load is. */
  noteOutcome(isDead: boolean): void {
    this.#dead += DEAD_WEIGHT * (Number(isDead) - this.#dead)
  }

  /** True if more hosts fail than are known to be dead. */
  get hasManyFailures(): boolean {
    return this.#failed >= LEAST_HOSTS && this.#failed > (FAILED_SHARE + 2 * this.#dead) * this.#hosts.size
  }

  /** True if so many failures were not the hosts' own. */
  get hasManyRecoveries(): boolean {
    const { size } = this.#recovered
    return size >= LEAST_HOSTS && size > RECOVERED_SHARE * this.#hosts.size
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
function unrelated(host: string): string {
  return host.startsWith('www.') ? host.slice(4) : host
}
