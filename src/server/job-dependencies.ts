/** Creates the dependencies of jobs from the settings. */

import type { Settings } from '../config/settings.ts'
import type { FileStore } from '../jobs/file-store/file-store.ts'
import { openFileStore } from '../jobs/file-store/open.ts'
import { packingThreads } from '../jobs/gzip/gzip.ts'
import { measurePlaces } from '../jobs/place-sizes.ts'
import { type PruneDependencies, type PruneReport, prune } from '../jobs/prune.ts'
import { buildSnapshots } from '../jobs/snapshot.ts'
import type { JobDependencies } from '../jobs/steps.ts'
import { removeDaysBefore } from '../registrations/folder.ts'
import { type InboxReport, openInbox, processInbox, removeArchivedBefore } from '../registrations/inbox.ts'
import { openRegistrations } from '../registrations/registrations.ts'
import type { Store } from '../store/port/store.ts'
import type { Instant } from '../values/time.ts'
import { SYSTEM_CLOCK } from './system-clock.ts'

/** Seconds until the inbox is checked again for files that may have been incomplete. */
const INBOX_RECHECK_SECONDS = 120

/** Milliseconds of a removal of old history, so that other jobs do not wait longer. It continues after them. */
const MAX_PRUNE_MS = 600_000

/** `onReport` is called for each file of the inbox. */
export async function createJobDependencies(
  settings: Settings,
  store: Store,
  onReport: (report: InboxReport) => void,
  diskSpace?: JobDependencies['diskSpace'],
): Promise<JobDependencies> {
  const { zones, dailyBounds, dailyMinDifference, snapshotsKept, snapshotParquet } = settings
  const fileStore = await openFileStore(settings)
  const inbox = openInbox(settings.inbox)
  let recheckAt: Instant | null = null
  return {
    store,
    ...(diskSpace && { diskSpace }),
    fileStore,
    registrations: openRegistrations(zones),
    qualityBounds: dailyBounds && { ...dailyBounds, minDifference: dailyMinDifference },
    threads: packingThreads(),
    async processInbox({ signal }) {
      const reports = await processInbox({ ...inbox, root: zones, store, signal, onReport })
      signal.throwIfAborted()
      recheckAt = inbox.seenFiles.size > 0 ? (await store.now()) + INBOX_RECHECK_SECONDS : null
      return { rows: reports.filter(({ outcome }) => outcome === 'done').length }
    },
    inboxRecheckAt: () => recheckAt,
    async prune(lock) {
      const report = await prune(pruneDependencies(settings, store, fileStore), {
        lock,
        clock: SYSTEM_CLOCK,
        signal: lock.signal,
        maxDuration: MAX_PRUNE_MS,
      })
      return { rows: prunedRows(report) }
    },
    async buildSnapshots(run) {
      const build = {
        ...{ fileStore, listing: store.listing, date: null },
        ...{ hasParquet: snapshotParquet, keepCount: snapshotsKept },
      }
      const [names] = await buildSnapshots(build, run)
      return { rows: names!.rows }
    },
  }
}

/** The number of everything that was removed. */
export function prunedRows({ names: _, ...removed }: PruneReport): number {
  return Object.values(removed).reduce((sum, count) => sum + count, 0)
}

/** What the job `prune` works on, by the settings. */
export function pruneDependencies(settings: Settings, store: Store, fileStore: FileStore): PruneDependencies {
  const { zones, inbox, keepHistory, keepFiles, keepInbox, keepUsage, keepAudit } = settings
  return {
    store,
    fileStore,
    removeDays: (before, isDry) => removeDaysBefore(zones, before, isDry),
    removeInboxFiles: (before, isDry) => removeArchivedBefore(inbox, before, isDry),
    measureSizes: () => measurePlaces({ store, fileStore, zones, inbox }),
    retention: { history: keepHistory, files: keepFiles, inbox: keepInbox, usage: keepUsage, audit: keepAudit },
  }
}
