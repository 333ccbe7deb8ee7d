/** The request source of a list crawl: the names of the list in its order, and those that are probed again. */

import type { PolitenessLimiter } from '../../probe/policy/politeness-limiter.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { IpAddress } from '../../values/ip-address.ts'
import type { CrawlClock } from '../notifier.ts'
import { withoutOwnAddresses } from '../probe-targets.ts'
import type { Candidate, FinishedProbe, ObservedProbe, RequestSource, WriteOutcome } from '../request-source.ts'
import { CrawlPauseError, type CrawlSession } from '../session.ts'
import type { ProbeOutcome } from '../status/stats.ts'
import { DelayQueue, targetsAfterDelay } from './delay-queue.ts'
import type { Destination, KnownTargets } from './destination.ts'
import type { ListProgress } from './list-progress.ts'
import type { ListCrawlTally } from './list-tally.ts'
import type { ListEntry, NameEntry } from './name-list.ts'

/** `delays`: how often the name was delayed. */
export type ListCandidate = Candidate & { entry: NameEntry; delays: number }

export type ListSourceOptions = {
  destination: Pick<Destination, 'targetsOf'>
  politeness: Pick<PolitenessLimiter, 'wait' | 'acquire'>
  clock: CrawlClock
  optOut: { hasName(name: DomainName): boolean }
  /** Whether an address is the operator's own, without rate limits. */
  isOwn(address: IpAddress): boolean
  progress: ListProgress
  tally: ListCrawlTally
  signal: AbortSignal
  /** Called for each line of the list when it starts. */
  onEntry(entry: ListEntry): void
  /** Called when a probe ends, and when a batch is written. */
  onProbe(): void
}

/** After this many failures in a row to probe a name, the crawl pauses. */
const MAX_FAILURES_IN_ROW = 1000
const NO_RESOLVER_MESSAGE = `${MAX_FAILURES_IN_ROW} names in a row could not be probed: no resolver responds`
/** Maximum of probes for a name that could not be probed. */
const MAX_PROBES_PER_NAME = 3
/** Maximum of names that are retried at the end of the list. */
const MAX_RETRIED_AT_END = 20_000

/** Outlives the sessions: `attach` connects it to the next one. */
export class ListSource implements RequestSource<ListCandidate> {
  readonly tasks = []
  readonly #options: ListSourceOptions
  readonly #delayQueue: DelayQueue<ListCandidate>
  readonly #iterator: AsyncIterator<ListEntry>
  /** Entries to admit before the list goes on, and names to probe again at the end of the list. */
  readonly #retries: ListEntry[] = []
  readonly #retriesAtEnd: NameEntry[] = []
  /** How often each name could not be probed, by line. */
  readonly #failures = new Map<number, number>()
  #failuresInRow = 0
  #session!: CrawlSession<ListCandidate>
  /** How many more lines may be read now. */
  #wanted = 0
  #isReading = false
  #isRead = false
  #nextId = 0
  /** Entries whose targets are being read, and the admission of the last one. Entries are admitted in their order. */
  #admitting = 0
  #lastAdmission = Promise.resolve()

  constructor(options: ListSourceOptions) {
    const { politeness, clock, tally, progress } = options
    this.#options = options
    const onRejected = (): void => tally.add('rate_limited')
    this.#delayQueue = new DelayQueue({ politeness, nowMs: () => clock.monotonicMs(), onRejected })
    this.#iterator = progress.remainingEntries()[Symbol.asyncIterator]()
  }

  /** Whether every name of the list was probed and written. */
  get isDone(): boolean {
    return this.isExhausted() && this.#session.candidates.size === 0 && this.#retriesAtEnd.length === 0
  }

  attach(session: CrawlSession<ListCandidate>): this {
    this.#session = session
    return this
  }

  async open(): Promise<void> {}

  async checkpoint(): Promise<void> {}

  leases(): undefined {}

  isExhausted(): boolean {
    return this.#isRead && this.#retries.length === 0 && this.#admitting === 0 && this.#delayQueue.size === 0
  }

  /** Admits names to probe again, then those whose delay is over, then those of the list. Ends the last session. */
  refill(free: number): number {
    const session = this.#session
    if (this.isExhausted() && session.candidates.size === 0) {
      if (this.#retriesAtEnd.length === 0) session.end(null)
      this.#retries.push(...this.#retriesAtEnd.splice(0))
    }
    this.#wanted = free - this.#admitting
    for (; this.#wanted > 0; this.#wanted--) {
      const retry = this.#retries.shift()
      const delayed = retry === undefined ? this.#delayQueue.take() : null
      if (retry !== undefined) this.#admitLater(retry)
      else if (delayed !== null) this.#admit(delayed, true)
      else break
    }
    if (session.queue.size > 0) session.mayProbe.notify()
    void this.#read()
    return Math.ceil(this.#delayQueue.nextReadyIn())
  }

  /** Reads the list until enough entries are being admitted. */
  async #read(): Promise<void> {
    if (this.#isReading || this.#isRead) return
    this.#isReading = true
    try {
      for (; this.#wanted > 0 && !this.#isRead && !this.#delayQueue.isFull(); this.#wanted--) {
        const { done, value } = await this.#iterator.next()
        if (done) this.#isRead = true
        else this.#admitLater(value)
      }
    } catch (error) {
      if (!this.#options.signal.aborted || (error as Error).name !== 'AbortError') this.#session.fail(error)
    }
    this.#isReading = false
    if (this.#isRead) this.#wake()
  }

  /** The end of the list makes the last batch due. */
  #wake(): void {
    this.#session.mayProbe.notify()
    if (this.isExhausted()) this.#session.probesDone.notify()
  }

  /** Admits an entry when its targets are known and all earlier ones are admitted. */
  #admitLater(entry: ListEntry): void {
    const known = this.#knownTargetsOf(entry)
    known.catch(() => {})
    this.#admitting++
    this.#lastAdmission = this.#lastAdmission
      .then(async () => this.#start(entry, await known))
      .catch((error) => this.#session.fail(error))
      .finally(() => {
        this.#admitting--
        this.#wake()
      })
  }

  /** Returns null for a name that is not probed. */
  async #knownTargetsOf({ name }: ListEntry): Promise<KnownTargets | null> {
    const { destination, optOut } = this.#options
    return name === null || optOut.hasName(name) ? null : destination.targetsOf(name)
  }

  /** Starts an entry of the list: the progress knows it from here on. */
  #start(entry: ListEntry, known: KnownTargets | null): void {
    const { progress, tally, onEntry, optOut, isOwn } = this.#options
    if (this.#session.isEnding) {
      this.#retries.push(entry)
      return
    }
    progress.startEntry(entry)
    if (entry.name === null) tally.add('invalid')
    onEntry(entry)
    if (entry.name === null) return
    if (known === null) this.#finishUnprobed(entry, optOut.hasName(entry.name) ? 'opted_out' : 'forgotten')
    else {
      const targets = withoutOwnAddresses(known.targets, isOwn)
      this.#admit({ id: 0, name: entry.name, kind: 'new', prior: known.prior, targets, entry, delays: 0 }, false)
    }
  }

  #admit(candidate: ListCandidate, isGranted: boolean): void {
    this.#session.admit({ ...candidate, id: this.#nextId++ }, isGranted)
  }

  #finishUnprobed(entry: NameEntry, reason: 'opted_out' | 'forgotten'): void {
    const { progress, tally } = this.#options
    tally.add(reason)
    progress.finishEntry(entry)
  }

  mayStart({ name }: ListCandidate): boolean {
    return !this.#options.optOut.hasName(name)
  }

  /** A name whose targets are not free is delayed. */
  takeBack(candidate: ListCandidate, isRejected: boolean): void {
    this.#session.forget(candidate)
    if (isRejected) this.#delay(candidate)
    else this.#finishUnprobed(candidate.entry, 'opted_out')
  }

  #delay(candidate: ListCandidate): void {
    this.#delayQueue.add(candidate)
    this.#options.tally.waiting = this.#delayQueue.size
  }

  /** A name whose probe was deferred is delayed, and nothing of it is written. */
  finish(
    candidate: ListCandidate,
    probed: ObservedProbe | null,
    outcome: ProbeOutcome,
  ): FinishedProbe<ListCandidate> | null {
    const { tally, progress, onProbe } = this.#options
    tally.waiting = this.#delayQueue.size
    onProbe()
    if (probed === null || probed.result.deferredAt !== undefined) this.#session.forget(candidate)
    if (probed === null) {
      progress.finishEntry(candidate.entry)
      return null
    }
    const { result, observation } = probed
    if (result.deferredAt !== undefined) {
      const targets = targetsAfterDelay(candidate, result.deferredAt, observation)
      this.#delay({ ...candidate, targets, delays: candidate.delays + 1 })
      return null
    }
    this.#countFailuresInRow(outcome === 'notProbed')
    return { candidate, at: result.at, observation: observation.dns && observation, outcome, deferredAt: null }
  }

  /** Pauses the crawl after too many names in a row that could not be probed. */
  #countFailuresInRow(hasFailed: boolean): void {
    this.#failuresInRow = hasFailed ? this.#failuresInRow + 1 : 0
    if (this.#failuresInRow < MAX_FAILURES_IN_ROW) return
    this.#failuresInRow = 0
    this.#session.fail(new CrawlPauseError('self_check', NO_RESOLVER_MESSAGE))
  }

  /** Names that could not be probed are probed again at the end of the list. */
  async settle(
    batch: readonly FinishedProbe<ListCandidate>[],
    outcomes: ReadonlyMap<FinishedProbe<ListCandidate>, WriteOutcome>,
  ): Promise<readonly FinishedProbe<ListCandidate>[]> {
    const { progress, tally, onProbe } = this.#options
    for (const outcome of outcomes.values()) tally.add(outcome)
    for (const { candidate, observation } of batch) {
      if (observation !== null) {
        tally.countObservation(observation)
        progress.finishEntry(candidate.entry)
      } else if (!this.#retryAtEnd(candidate.entry)) tally.add('not_probed')
    }
    progress.save()
    onProbe()
    return batch
  }

  /** Returns false if the name has no attempts left. */
  #retryAtEnd(entry: NameEntry): boolean {
    const count = (this.#failures.get(entry.line) ?? 0) + 1
    if (count >= MAX_PROBES_PER_NAME || this.#retriesAtEnd.length >= MAX_RETRIED_AT_END) return false
    this.#failures.set(entry.line, count)
    this.#retriesAtEnd.push(entry)
    return true
  }

  /** Takes back the names without a saved result, for the next session. */
  async close(): Promise<void> {
    for (const candidate of [...this.#session.candidates.values()]) {
      this.#session.forget(candidate)
      this.#retries.push(candidate.entry)
    }
  }
}
