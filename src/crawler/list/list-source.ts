/**
 * The list crawl: its request source gives the names of the list in their order, and those that are probed again, to
 * the scheduler.
 */

import type { DomainName } from '../../values/domain-name.ts'
import type { IpAddress } from '../../values/ip-address.ts'
import { withoutOwnAddresses } from '../probe-targets.ts'
import { createProbeRateLimit } from '../queue/probe-rate-limit.ts'
import type { Candidate, FinishedProbe, ObservedProbe, RequestSource, WriteOutcome } from '../request-source.ts'
import { runCrawlScheduler } from '../scheduler.ts'
import { CrawlPauseError, type CrawlSession, type SchedulerDependencies } from '../session.ts'
import { CrawlStats, type ProbeOutcome } from '../status/stats.ts'
import { BATCH_DELAY_MS } from '../verified-batches.ts'
import { DelayQueue, targetsAfterDelay } from './delay-queue.ts'
import type { Destination, KnownTargets } from './destination.ts'
import type { ListProgress } from './list-progress.ts'
import type { ListCrawlTally } from './list-tally.ts'
import type { ListEntry, NameEntry } from './name-list.ts'

type EntryFeedOptions<Known> = {
  entries: AsyncIterable<ListEntry>
  /** Reads what is known about an entry. Several entries may be loaded at the same time. */
  load(entry: ListEntry): Promise<Known>
  /** Called for one entry after the other, in their order. */
  start(entry: ListEntry, known: Known): void
  /** Called after an entry was started, and at the end of the list. */
  onChange(): void
  /** An error of the list, or of `load` or `start`. */
  onError(error: unknown): void
}

/** Feeds the entries of a list to its crawl in their order, as many as may start. */
class EntryFeed<Known> {
  readonly #options: EntryFeedOptions<Known>
  readonly #iterator: AsyncIterator<ListEntry>
  /** Entries that precede the rest of the list. */
  readonly #retries: ListEntry[] = []
  /** How many more lines may be read now. */
  #wanted = 0
  #isReading = false
  #isRead = false
  #loading = 0
  /** Resolves when the last entry was started. */
  #lastStart = Promise.resolve()

  constructor(options: EntryFeedOptions<Known>) {
    this.#options = options
    this.#iterator = options.entries[Symbol.asyncIterator]()
  }

  /** The entries that are not started yet. */
  get loading(): number {
    return this.#loading
  }

  get isEmpty(): boolean {
    return this.#isRead && this.#retries.length === 0 && this.#loading === 0
  }

  /** Adds entries to start again, before the rest of the list. */
  retry(entries: readonly ListEntry[]): void {
    this.#retries.push(...entries)
  }

  /** Starts up to `count` entries soon. */
  request(count: number): void {
    for (this.#wanted = count; this.#wanted > 0 && this.#retries.length > 0; this.#wanted--)
      this.#load(this.#retries.shift()!)
    void this.#read()
  }

  async #read(): Promise<void> {
    if (this.#isReading || this.#isRead) return
    this.#isReading = true
    try {
      for (; this.#wanted > 0 && !this.#isRead; this.#wanted--) {
        const { done, value } = await this.#iterator.next()
        if (done) this.#isRead = true
        else this.#load(value)
      }
    } catch (error) {
      this.#options.onError(error)
    }
    this.#isReading = false
    if (this.#isRead) this.#options.onChange()
  }

  #load(entry: ListEntry): void {
    const { load, start, onChange, onError } = this.#options
    const known = load(entry)
    known.catch(() => {}) // reported below, in the order of the list
    this.#loading++
    this.#lastStart = this.#lastStart
      .then(async () => start(entry, await known))
      .catch(onError)
      .finally(() => {
        this.#loading--
        onChange()
      })
  }
}

/** `delays`: how often the name was delayed. */
type ListCandidate = Candidate & { entry: NameEntry; delays: number }

export type ListCrawl = Pick<
  SchedulerDependencies<ListCandidate>,
  'probe' | 'runSelfCheck' | 'politeness' | 'parallel' | 'clock' | 'log' | 'revealedBy'
> & {
  destination: Pick<Destination, 'targetsOf' | 'write' | 'history'>
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
  /** A program error in one probe. The crawl continues. */
  onFault(name: DomainName, error: unknown): void
}

/** After this many failures in a row to probe a name, the crawl pauses. */
const MAX_FAILURES_IN_ROW = 1000
const NO_RESOLVER_MESSAGE = `${MAX_FAILURES_IN_ROW} names in a row could not be probed: no resolver responds`
/** Maximum of probes for a name that could not be probed. */
const MAX_PROBES_PER_NAME = 3
/** Maximum of names that are retried at the end of the list. */
const MAX_RETRIED_AT_END = 20_000

/** Outlives the sessions: `attach` connects it to the next one. */
class ListSource implements RequestSource<ListCandidate> {
  readonly #crawl: ListCrawl
  readonly #delayQueue: DelayQueue<ListCandidate>
  readonly #feed: EntryFeed<KnownTargets | null>
  /** Names to probe again at the end of the list. */
  readonly #retriesAtEnd: NameEntry[] = []
  /** How often each name could not be probed, by line. */
  readonly #failures = new Map<number, number>()
  #failuresInRow = 0
  /** The error of the list that ended the crawl, or null. */
  failure: { error: unknown } | null = null
  #session!: CrawlSession<ListCandidate>
  #nextId = 0

  constructor(crawl: ListCrawl) {
    const { politeness, clock, tally, progress } = crawl
    this.#crawl = crawl
    const onRejected = (): void => tally.add('rate_limited')
    this.#delayQueue = new DelayQueue({ politeness, nowMs: () => clock.monotonicMs(), onRejected })
    this.#feed = new EntryFeed({
      entries: progress.remainingEntries(),
      load: (entry) => this.#knownTargetsOf(entry),
      start: (entry, known) => this.#start(entry, known),
      onChange: () => this.#wake(),
      onError: (error) => this.#fail(error),
    })
  }

  /** Whether every name of the list was probed and written. */
  get isDone(): boolean {
    return this.isExhausted() && this.#session.candidates.size === 0 && this.#retriesAtEnd.length === 0
  }

  attach(session: CrawlSession<ListCandidate>): this {
    this.#session = session
    return this
  }

  isExhausted(): boolean {
    return this.#feed.isEmpty && this.#delayQueue.size === 0
  }

  /** Admits names whose delay is over, then those to probe again, then those of the list. Ends the last session. */
  refill(free: number): number {
    const session = this.#session
    if (this.failure !== null) session.end(null)
    if (this.isExhausted() && session.candidates.size === 0) {
      if (this.#retriesAtEnd.length === 0) session.end(null)
      this.#feed.retry(this.#retriesAtEnd.splice(0))
    }
    let left = free - this.#feed.loading
    for (; left > 0; left--) {
      const delayed = this.#delayQueue.take()
      if (delayed === null) break
      session.admit(delayed, true)
    }
    if (session.queue.size > 0) session.mayProbe.notify()
    if (!this.#delayQueue.isFull()) this.#feed.request(left)
    return Math.ceil(this.#delayQueue.nextReadyIn())
  }

  /** The end of the list makes the last batch due. */
  #wake(): void {
    this.#session.mayProbe.notify()
    if (this.isExhausted()) this.#session.probesDone.notify()
  }

  /** Ends the crawl, so that its results are saved. A stopped crawl stops reading its list. */
  #fail(error: unknown): void {
    if (!this.#crawl.signal.aborted || (error as Error).name !== 'AbortError') this.failure ??= { error }
    this.#session.end(null)
  }

  /** Returns null for a name that is not probed. */
  async #knownTargetsOf({ name }: ListEntry): Promise<KnownTargets | null> {
    const { destination, optOut } = this.#crawl
    return name === null || optOut.hasName(name) ? null : destination.targetsOf(name)
  }

  /** Starts an entry of the list: the progress knows it from here on. */
  #start(entry: ListEntry, known: KnownTargets | null): void {
    const { progress, tally, onEntry, optOut, isOwn } = this.#crawl
    if (this.#session.isEnding) {
      this.#feed.retry([entry])
      return
    }
    progress.startEntry(entry)
    if (entry.name === null) tally.add('invalid')
    onEntry(entry)
    if (entry.name === null) return
    if (known === null) {
      this.#finishUnprobed(entry, optOut.hasName(entry.name) ? 'opted_out' : 'forgotten')
      return
    }
    const targets = withoutOwnAddresses(known.targets, isOwn)
    const candidate = { id: this.#nextId++, name: entry.name, kind: 'new', prior: known.prior, targets } as const
    this.#session.admit({ ...candidate, entry, delays: 0 })
  }

  #finishUnprobed(entry: NameEntry, reason: 'opted_out' | 'forgotten'): void {
    const { progress, tally } = this.#crawl
    tally.add(reason)
    progress.finishEntry(entry)
  }

  mayStart({ name }: ListCandidate): boolean {
    return !this.#crawl.optOut.hasName(name)
  }

  /** A name whose targets are not free is delayed. */
  takeBack(candidate: ListCandidate, isRejected: boolean): void {
    this.#session.forget(candidate)
    if (isRejected) this.#delay(candidate)
    else this.#finishUnprobed(candidate.entry, 'opted_out')
  }

  #delay(candidate: ListCandidate): void {
    this.#delayQueue.add(candidate)
    this.#crawl.tally.waiting = this.#delayQueue.size
  }

  /** A name whose probe was deferred is delayed, and nothing of it is written. */
  finish(
    candidate: ListCandidate,
    probed: ObservedProbe | null,
    outcome: ProbeOutcome,
  ): FinishedProbe<ListCandidate> | null {
    const { tally, progress, onProbe } = this.#crawl
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
    const { progress, tally, onProbe } = this.#crawl
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
    const open = [...this.#session.candidates.values()]
    for (const candidate of open) this.#session.forget(candidate)
    this.#feed.retry(open.map(({ entry }) => entry))
  }
}

/** Returns true if the whole list was crawled. Rejects if the list cannot be read or the destination fails. */
export async function crawlList(crawl: ListCrawl): Promise<boolean> {
  const source = new ListSource(crawl)
  const scheduler: SchedulerDependencies<ListCandidate> = {
    ...crawl,
    openSource: (session) => source.attach(session),
    sink: crawl.destination,
    isRepeated: () => false,
    maxDelayMs: 0,
    shares: { lookup: 0, new: 1, followup: 0, due: 0 },
    rateLimit: createProbeRateLimit(null),
    batchMs: BATCH_DELAY_MS,
    idleCheckMs: Number.POSITIVE_INFINITY,
    stats: new CrawlStats(),
    onProbeError(name, error) {
      crawl.tally.add('failed')
      crawl.onFault(name, error)
    },
    pauseAfter: () => null,
  }
  await runCrawlScheduler(scheduler, crawl.signal)
  if (source.failure !== null) throw source.failure.error
  return source.isDone
}
