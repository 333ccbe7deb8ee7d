/** Batches of results: held until the next verification, then saved or discarded. */

import { type BatchVerification, requireNoAnomaly, requireSelfCheck } from './anomaly/batch-verification.ts'
import { countOutcomes } from './anomaly/outcome-counts.ts'
import { MAX_BATCH_PROBES } from './probe-runner.ts'
import { saveBatch } from './save-batch.ts'
import { CrawlPauseError, type CrawlSession } from './session.ts'

/** Milliseconds after which results are saved if no probe is in flight. */
const IDLE_BATCH_DELAY_MS = 1_000

/** Verifies and saves batches until the session ends. Throws CrawlPauseError if a verification fails. */
export async function verifyBatches(session: CrawlSession): Promise<void> {
  while (!session.isEnding) {
    await session.probesDone.wait(untilBatchDue(session))
    if (!session.isEnding && untilBatchDue(session) <= 0) await verifyAndSave(session)
  }
}

/** Milliseconds until the next batch is due, or the next self-check if there are no results. */
function untilBatchDue({
  dependencies: crawl,
  finished,
  oldestFinishedAt,
  lastVerifiedAt,
  probesInFlight,
}: CrawlSession): number {
  if (finished.length >= MAX_BATCH_PROBES) return 0
  const { clock, timings } = crawl
  const startedAt = finished.length === 0 ? lastVerifiedAt : oldestFinishedAt
  return (
    startedAt +
    (probesInFlight === 0 && finished.length > 0 ? Math.min(IDLE_BATCH_DELAY_MS, timings.batchMs) : timings.batchMs) -
    clock.monotonicMs()
  )
}

/** Saves the results so far if the self-check passes now. */
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

/** Throws CrawlPauseError if the self-check fails or the disk lacks space. */
export async function requireHealthy({ dependencies: crawl }: CrawlSession): Promise<void> {
  const shortage = (await crawl.diskShortage?.()) ?? null
  if (shortage !== null) throw new CrawlPauseError('disk', shortage)
  await requireSelfCheck(crawl)
}

function verificationOf({ dependencies: crawl, memory }: CrawlSession): BatchVerification {
  const { runSelfCheck, log, store } = crawl
  return {
    runSelfCheck,
    log,
    memory,
    outcomeHistory: (since) => store.schedule.outcomes(since),
    now: () => store.now(),
  }
}
