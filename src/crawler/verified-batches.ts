/** Slices of what visits saw: held back until the crawl has found its eyes good after them, then saved, or thrown away. */

import { type BatchVerification, requireNoAnomaly, requireSelfCheck } from './anomaly/batch-verification.ts'
import { countOutcomes } from './anomaly/outcome-counts.ts'
import { MAX_BATCH_PROBES } from './probe-runner.ts'
import { saveBatch } from './save-batch.ts'
import { CrawlPauseError, type CrawlSession } from './session.ts'

/** Milliseconds after which the visits are saved when no other one is under way. */
const IDLE_BATCH_DELAY_MS = 1_000

/** Trusts and saves until the span ends. Throws Trouble where eyes are not good. */
export async function verifyBatches(session: CrawlSession): Promise<void> {
  while (!session.isEnding) {
    await session.probesDone.wait(untilBatchDue(session))
    if (!session.isEnding && untilBatchDue(session) <= 0) await verifyAndSave(session)
  }
}

/** Milliseconds until the slice is cut off, or, where nothing was seen, control questions are asked again. */
function untilBatchDue({
  dependencies: crawl,
  finished,
  oldestFinishedAt: oldest,
  lastVerifiedAt,
  probesInFlight,
}: CrawlSession): number {
  if (finished.length >= MAX_BATCH_PROBES) return 0
  const { clock, timings: times } = crawl
  const startedAt = finished.length === 0 ? lastVerifiedAt : oldest
  return (
    startedAt +
    (probesInFlight === 0 && finished.length > 0 ? Math.min(IDLE_BATCH_DELAY_MS, times.batchMs) : times.batchMs) -
    clock.monotonicMs()
  )
}

/** What was seen until now is saved, if control questions that are asked now are answered as they must be. */
export async function verifyAndSave(session: CrawlSession): Promise<void> {
  const { dependencies: crawl } = session
  const batch = session.finished
  session.finished = []
  session.oldestFinishedAt = crawl.clock.monotonicMs()
  try {
    await requireHealthy(session)
    if (batch.length > 0) await requireNoAnomaly(verificationOf(session), countOutcomes(batch))
    if (batch.length > 0) await saveBatch(session, batch)
  } catch (error) {
    if (batch.length > 0) crawl.stats.batches.discarded++
    throw error
  }
  if (batch.length > 0) crawl.stats.batches.saved++
  session.lastVerifiedAt = crawl.clock.monotonicMs()
  session.mayProbe.notify()
  await session.release()
}

/** Throws Trouble where control questions are not answered as they must be, and where nothing could be saved. */
export async function requireHealthy({ dependencies: crawl }: CrawlSession): Promise<void> {
  const shortage = (await crawl.diskShortage?.()) ?? null
  if (shortage !== null) throw new CrawlPauseError('disk', shortage)
  await requireSelfCheck(crawl)
}

function verificationOf({ dependencies: crawl, memory }: CrawlSession): BatchVerification {
  const { runSelfCheck: look, log: say, store } = crawl
  return {
    runSelfCheck: look,
    log: say,
    memory,
    outcomeHistory: (since) => store.schedule.outcomes(since),
    now: () => store.now(),
  }
}
