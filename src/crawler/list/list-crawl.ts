/** The list crawl: probes each name, verifies, counts and writes the results, and saves the progress in the list. */

import { observe } from '../../observe/observe.ts'
import type { Prober } from '../../probe/probe.ts'
import type { DomainName } from '../../values/domain-name.ts'
import { INITIAL_ANOMALY_STATE } from '../anomaly/anomaly-detector.ts'
import type { BatchVerification } from '../anomaly/batch-verification.ts'
import { countOutcomes } from '../anomaly/outcome-counts.ts'
import type { CrawlClock } from '../notifier.ts'
import { probeOutcomeOf } from '../probe-runner.ts'
import { withoutOwnAddresses } from '../probe-targets.ts'
import { CrawlPauseError } from '../session.ts'
import { type DelayedName, DelayQueue } from './delay-queue.ts'
import type { Destination, KnownTargets } from './destination.ts'
import type { ListProgress } from './list-progress.ts'
import { probeList } from './list-runner.ts'
import type { ListCrawlTally } from './list-tally.ts'
import type { ListEntry, NameEntry } from './name-list.ts'
import { NO_POLITENESS, type Politeness, targetsAfterDelay } from './politeness.ts'
import { RetryList } from './retry-list.ts'
import { type ListProbe, VerifiedWriter } from './verified-writer.ts'

export type ListCrawl = {
  prober: Pick<Prober, 'probe'>
  runSelfCheck: BatchVerification['runSelfCheck']
  destination: Pick<Destination, 'targetsOf' | 'write' | 'history'>
  /** Undefined if all servers are the operator's own. */
  politeness?: Politeness
  progress: ListProgress
  tally: ListCrawlTally
  /** Maximum of probes in flight. */
  parallel: number
  signal: AbortSignal
  clock: CrawlClock
  /** Called for each line of the list when it starts. */
  onEntry(entry: ListEntry): void
  /** Called when a probe ends. */
  onProbe(): void
  /** A program error in one probe. The crawl continues. */
  onFault(name: DomainName, error: unknown): void
  /** Logs when the crawl pauses and resumes. */
  log(message: string): void
}

/** The state of a list crawl. */
type ListCrawlState = { dependencies: ListCrawl; delayQueue: DelayQueue; retries: RetryList; writer: VerifiedWriter }

/** After this many failures in a row to probe a name, the crawl pauses. */
const MAX_FAILURES_IN_ROW = 1000
const NO_RESOLVER_MESSAGE = `${MAX_FAILURES_IN_ROW} names in a row could not be probed: no resolver responds`

/** Returns true if the whole list was crawled. Rejects if the destination fails. */
export async function crawlList(crawl: ListCrawl): Promise<boolean> {
  const { progress, tally, parallel, signal } = crawl
  const { limiter, nowMs } = crawl.politeness ?? NO_POLITENESS
  const delayQueue = new DelayQueue({ politeness: limiter, nowMs, onRejected: () => tally.add('rate_limited') })
  const retries = new RetryList()
  let resume = (): void => {}
  const writer = createWriter(crawl, retries, () => resume())
  const state = { dependencies: crawl, delayQueue, retries, writer }
  const pauseControl = {
    isPaused: () => writer.isPaused,
    onReady(ready: () => void) {
      resume = ready
    },
  }
  const startEntry = (entry: ListEntry): void => {
    progress.startEntry(entry)
    if (entry.name === null) tally.add('invalid')
    crawl.onEntry(entry)
  }
  const probe = (entry: NameEntry, delayed?: DelayedName): Promise<void> => probeEntry(state, entry, delayed)
  const task = { parallel, signal, delayQueue, retries, pauseControl, startEntry, probe }
  try {
    let isDone = await probeList({ ...task, entries: progress.remainingEntries() })
    await writer.settle()
    while (isDone && retries.releaseDeferred()) {
      isDone = await probeList({ ...task, entries: noEntries() })
      await writer.settle()
    }
    return isDone
  } finally {
    await writer.settle().finally(() => writer.close())
  }
}

async function* noEntries(): AsyncGenerator<ListEntry> {}

function createWriter(crawl: ListCrawl, retries: RetryList, onReady: () => void): VerifiedWriter {
  const { runSelfCheck, destination, progress, tally, signal, log, clock } = crawl
  return new VerifiedWriter({
    verification: { ...destination.history, runSelfCheck, log, memory: { anomalyState: INITIAL_ANOMALY_STATE } },
    clock,
    signal,
    onDiscarded: (entries) => retries.add(entries),
    onReady,
    async write(batch) {
      const hasResult = ({ observation }: ListProbe): boolean => observation.dns !== null
      const probed = batch.filter(hasResult)
      const outcomes = await destination.write(probed.map(({ observation }) => observation))
      outcomes.forEach(tally.add)
      await destination.history.add(countOutcomes(probed))
      for (const each of batch) {
        if (hasResult(each)) progress.finishEntry(each.entry)
        if (hasResult(each) || !retries.addDeferred(each.entry)) tally.countObservation(each.observation)
      }
      progress.save()
      crawl.onProbe()
    },
  })
}

async function probeEntry(state: ListCrawlState, entry: NameEntry, delayed?: DelayedName): Promise<void> {
  const { dependencies: crawl, delayQueue, writer } = state
  const { tally } = crawl
  const startEpoch = writer.startProbe()
  let probe: ListProbe | null = null
  try {
    const targets = await acquireTargets(crawl, delayQueue, entry, delayed)
    probe = targets === null ? null : await probeKnown(state, entry, targets, delayed)
  } finally {
    writer.finishProbe(startEpoch, probe)
  }
  tally.waiting = delayQueue.size
  crawl.onProbe()
}

/** Returns null if the name was delayed, or for a program error. */
async function probeKnown(
  state: ListCrawlState,
  entry: NameEntry,
  { targets, prior }: KnownTargets,
  delayed?: DelayedName,
): Promise<ListProbe | null> {
  const { prober, progress, tally, onFault } = state.dependencies
  try {
    const result = await prober.probe(entry.name, targets.addresses)
    const observation = observe(result)
    if (result.deferredAt !== undefined) {
      const delayTargets = targetsAfterDelay(delayed, result.deferredAt, observation)
      state.delayQueue.add({ entry, targets: delayTargets, prior, delays: (delayed?.delays ?? 0) + 1 })
      return null
    }
    countFailuresInRow(state, observation.dns === null)
    return { entry, observation, at: result.at, outcome: probeOutcomeOf(observation), candidate: { prior } }
  } catch (error) {
    tally.add('failed')
    progress.finishEntry(entry)
    onFault(entry.name, error)
  }
  return null
}

/** Counts the names in a row that could not be probed, and pauses the crawl if there are too many. */
function countFailuresInRow({ dependencies: { tally }, writer }: ListCrawlState, hasFailed: boolean): void {
  tally.failuresInRow = hasFailed ? tally.failuresInRow + 1 : 0
  if (tally.failuresInRow < MAX_FAILURES_IN_ROW) return
  tally.failuresInRow = 0
  writer.pauseFor(new CrawlPauseError('self_check', NO_RESOLVER_MESSAGE))
}

/**
 * The targets of a name that may be probed now. Its targets are already acquired if it was delayed. Returns null if it
 * is not probed now.
 */
async function acquireTargets(
  crawl: ListCrawl,
  delayQueue: DelayQueue,
  entry: NameEntry,
  delayed: DelayedName | undefined,
): Promise<KnownTargets | null> {
  const { destination, politeness = NO_POLITENESS, progress, tally } = crawl
  const isOptedOut = politeness.optOut.hasName(entry.name)
  const knownTargets = isOptedOut ? null : (delayed ?? (await destination.targetsOf(entry.name)))
  if (knownTargets === null) {
    tally.add(isOptedOut ? 'opted_out' : 'forgotten')
    progress.finishEntry(entry)
    return null
  }
  if (delayed !== undefined) return knownTargets
  const targets = withoutOwnAddresses(knownTargets.targets, politeness.isOwn)
  if (politeness.limiter.wait(targets) > 0) {
    delayQueue.add({ entry, targets, prior: knownTargets.prior, delays: 0 })
    return null
  }
  politeness.limiter.acquire(targets)
  return { targets, prior: knownTargets.prior }
}
