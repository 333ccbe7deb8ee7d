/** Batches of results: held until the next verification, then saved or discarded. */

import { type BatchVerification, requireNoAnomaly, requireSelfCheck } from './anomaly/batch-verification.ts'
import { countOutcomes } from './anomaly/outcome-counts.ts'
import { MAX_BATCH_PROBES } from './probe-runner.ts'
import type { Candidate, FinishedProbe } from './request-source.ts'
import { CrawlPauseError, type CrawlSession, type SchedulerDependencies } from './session.ts'

/** Milliseconds that results wait for others. */
export const BATCH_DELAY_MS = 30_000
/** Milliseconds after which results are saved if no probe is in flight. */
const IDLE_BATCH_DELAY_MS = 1_000

/** Verifies and saves batches until the session ends. Throws CrawlPauseError if a verification fails. */
export async function verifyBatches<C extends Candidate>(session: CrawlSession<C>): Promise<void> {
  while (!session.isEnding) {
    await session.probesDone.wait(untilBatchDue(session))
    if (!session.isEnding && untilBatchDue(session) <= 0) await verifyAndSave(session)
  }
}

/** Milliseconds until the next batch is due, or the next self-check if there are no results. */
function untilBatchDue<C extends Candidate>({
  dependencies: { clock, batchMs, idleCheckMs },
  candidates,
  source,
  finished,
  oldestFinishedAt,
  lastVerifiedAt,
  probesInFlight,
}: CrawlSession<C>): number {
  if (finished.length >= MAX_BATCH_PROBES) return 0
  if (finished.length > 0 && finished.length === candidates.size && source.isExhausted()) return 0
  if (finished.length === 0) return lastVerifiedAt + idleCheckMs - clock.monotonicMs()
  const delayMs = probesInFlight === 0 ? Math.min(IDLE_BATCH_DELAY_MS, batchMs) : batchMs
  return oldestFinishedAt + delayMs - clock.monotonicMs()
}

/** Saves the results so far if the self-check passes now. */
export async function verifyAndSave<C extends Candidate>(session: CrawlSession<C>): Promise<void> {
  const { dependencies } = session
  const { clock, stats } = dependencies
  const batch = session.finished
  session.finished = []
  session.oldestFinishedAt = clock.monotonicMs()
  try {
    await requireHealthy(dependencies)
    if (batch.length > 0) await requireNoAnomaly(verificationOf(session), countOutcomes(batch))
    if (batch.length > 0) await saveBatch(session, batch)
  } catch (error) {
    if (batch.length > 0) stats.batches.discarded++
    throw error
  }
  if (batch.length > 0) stats.batches.saved++
  session.lastVerifiedAt = clock.monotonicMs()
  session.mayProbe.notify()
  await session.source.checkpoint?.()
}

/** Throws CrawlPauseError if the self-check fails or the disk lacks space. */
export async function requireHealthy(
  dependencies: Pick<SchedulerDependencies<Candidate>, 'diskShortage' | 'runSelfCheck'>,
): Promise<void> {
  const shortage = (await dependencies.diskShortage?.()) ?? null
  if (shortage !== null) throw new CrawlPauseError('disk', shortage)
  await requireSelfCheck(dependencies)
}

function verificationOf<C extends Candidate>({ dependencies, memory }: CrawlSession<C>): BatchVerification {
  const { runSelfCheck, log, sink } = dependencies
  return { runSelfCheck, log, memory, ...sink.history }
}

/** Writes the results whose candidates the session still has. The source records what became of each. */
async function saveBatch<C extends Candidate>(
  session: CrawlSession<C>,
  batch: readonly FinishedProbe<C>[],
): Promise<void> {
  const { source, dependencies } = session
  const open = batch.filter(({ candidate }) => session.has(candidate))
  const observed = open.filter(({ observation }) => observation !== null)
  const written = await dependencies.sink.write(
    observed.map(({ observation }) => observation!),
    { leases: source.leases?.(), revealed: observed.map(({ revealed = [] }) => revealed) },
  )
  const outcomes = new Map(observed.map((probe, index) => [probe, written[index]!]))
  const saved = await source.settle(open, outcomes)
  await dependencies.sink.history.add(countOutcomes(saved))
  for (const { candidate } of saved) session.forget(candidate)
}
