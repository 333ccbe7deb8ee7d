/** The ready queue: a bounded number of names by kind, and those that wait for the rate limit of a target. */

import type { PolitenessLimiter } from '../../probe/policy/politeness-limiter.ts'
import type { Candidate } from '../request-source.ts'
import { type KindSelector, PROBE_KINDS, type ProbeKind } from './kind-selector.ts'

/** Maximum of waiting names per kind. */
export const MAX_CANDIDATES_PER_KIND = 1_000
const MAX_DELAYED = 2_000
/** Below this number of waiting names of a kind, the queue calls `onLow`. */
export const REFILL_BELOW = 250

type ReadyQueueOptions<C extends Candidate> = {
  politeness: Pick<PolitenessLimiter, 'wait' | 'acquire' | 'backoffRemaining'>
  /** A name with a longer wait at its targets is rejected. In milliseconds. */
  maxDelayMs: number
  selectKind: KindSelector
  /** Called for a name whose wait at its targets is too long. */
  onRejected: (candidate: C) => void
  /** Called when fewer than REFILL_BELOW names of a kind wait, once each time that the number falls below. */
  onLow: (kind: ProbeKind) => void
}

export class ReadyQueue<C extends Candidate> {
  readonly #options: ReadyQueueOptions<C>
  readonly #candidates = new Map<C['id'], C>()
  /** In order of arrival. */
  readonly #queued = setsByKind<C>()
  /** Names whose wait at their targets is over. */
  readonly #released = setsByKind<C>()
  /** Ascending by the end of their wait. */
  readonly #delayed: { at: number; candidate: C }[] = []

  readonly #lowKinds = new Set<ProbeKind>(PROBE_KINDS)

  constructor(options: ReadyQueueOptions<C>) {
    this.#options = options
  }

  get size(): number {
    return this.#candidates.size
  }

  /** How many more names of a kind fit. */
  capacityLeft(kind: ProbeKind): number {
    return MAX_CANDIDATES_PER_KIND - this.#queued[kind].size
  }

  waitingCount(kind: ProbeKind): number {
    return this.#queued[kind].size + this.#released[kind].size
  }

  /** `isGranted`: the targets of the candidate are already acquired. */
  add(candidate: C, isGranted = false): void {
    this.#candidates.set(candidate.id, candidate)
    const names = isGranted ? this.#released : this.#queued
    names[candidate.kind].add(candidate)
    this.#notifyLow()
  }

  remove(candidate: C): void {
    if (this.#candidates.get(candidate.id) !== candidate) return
    this.#candidates.delete(candidate.id)
    this.#queued[candidate.kind].delete(candidate)
    this.#released[candidate.kind].delete(candidate)
    this.#notifyLow()
  }

  /** Moves a name to another kind. */
  promote(candidate: C, kind: ProbeKind): void {
    for (const queues of [this.#queued, this.#released]) {
      if (queues[candidate.kind].delete(candidate)) queues[kind].add(candidate)
    }
    candidate.kind = kind
    this.#notifyLow()
  }

  /** Removes and returns the next name to probe, with its targets acquired. Returns null if none may start now. */
  next(now: number): C | null {
    this.#releaseDelayed(now)
    const first = new Map<ProbeKind, C>()
    for (const kind of PROBE_KINDS) {
      const candidate = this.#firstReady(kind, now)
      if (candidate !== null) first.set(kind, candidate)
    }
    this.#notifyLow()
    const kind = this.#options.selectKind([...first.keys()])
    if (kind === null) return null
    const candidate = first.get(kind)!
    if (this.#queued[kind].has(candidate)) this.#options.politeness.acquire(candidate.targets)
    this.remove(candidate)
    return candidate
  }

  #notifyLow(): void {
    for (const kind of PROBE_KINDS) {
      if (this.waitingCount(kind) >= REFILL_BELOW) this.#lowKinds.delete(kind)
      else if (!this.#lowKinds.has(kind)) {
        this.#lowKinds.add(kind)
        this.#options.onLow(kind)
      }
    }
  }

  /** When the first wait at a target ends. */
  nextRelease(): number {
    return this.#delayed[0]?.at ?? Number.POSITIVE_INFINITY
  }

  /** Releases names whose wait is over, and drops those removed in the meantime. */
  #releaseDelayed(now: number): void {
    let due = 0
    while (due < this.#delayed.length && this.#delayed[due]!.at <= now) due++
    for (const { candidate } of this.#delayed.splice(0, due)) {
      if (this.#candidates.get(candidate.id) === candidate) this.#released[candidate.kind].add(candidate)
    }
  }

  #firstReady(kind: ProbeKind, now: number): C | null {
    for (const candidate of this.#released[kind]) {
      if (this.#options.politeness.backoffRemaining(candidate.targets) <= 0) return candidate
      this.#released[kind].delete(candidate) // a backoff started after the grant
      this.#queued[kind].add(candidate)
    }
    for (const candidate of this.#queued[kind]) {
      const wait = this.#options.politeness.wait(candidate.targets)
      if (wait <= 0) return candidate
      this.#queued[kind].delete(candidate)
      if (wait <= this.#options.maxDelayMs && this.#delayed.length < MAX_DELAYED) this.#delay(candidate, now)
      else {
        this.#candidates.delete(candidate.id)
        this.#options.onRejected(candidate)
      }
    }
    return null
  }

  #delay(candidate: C, now: number): void {
    const at = now + this.#options.politeness.acquire(candidate.targets)
    const index = this.#delayed.findLastIndex((other) => other.at <= at) + 1
    this.#delayed.splice(index, 0, { at, candidate })
  }
}

function setsByKind<C>(): Record<ProbeKind, Set<C>> {
  return Object.fromEntries(PROBE_KINDS.map((kind) => [kind, new Set()])) as unknown as Record<ProbeKind, Set<C>>
}
