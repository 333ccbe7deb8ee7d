/** What the files of the nights are made with, as the settings say it. */

import { availableParallelism } from 'node:os'
import type { Settings } from '../config.ts'
import type { Works } from '../nightly/deeds.ts'
import { inboxAt, type Report, takeInbox } from '../nightly/inbox.ts'
import { openRegistrations } from '../nightly/registrations/registrations.ts'
import { openShelfFolder } from '../nightly/shelf-folder.ts'
import { buildSnapshots } from '../nightly/snapshot.ts'
import type { Store } from '../store/store.ts'
import type { Instant } from '../words/time.ts'

/** Threads that pack, at most: each takes some 20 MB. */
const MOST_THREADS = 16
/** Seconds until the inbox is looked into again for files that may have been written still. */
const LEFT_SECONDS = 120

/** `onReport` is told of each file of the inbox. */
export function worksOf(
  settings: Settings,
  store: Store,
  onReport: (report: Report) => void,
  room?: Works['room'],
): Works {
  const { files, zones: root, inbox: folder, dailyBounds, dailyFloor: floor, snapshotsKept: kept } = settings
  const shelf = openShelfFolder(files)
  const inbox = inboxAt(folder)
  let inboxAgain: Instant | null = null
  return {
    store,
    ...(room && { room }),
    shelf,
    sources: openRegistrations(root),
    bounds: dailyBounds && { ...dailyBounds, floor },
    threads: Math.min(MOST_THREADS, availableParallelism()),
    async takeInbox({ signal }) {
      const reports = await takeInbox({ ...inbox, root, store, signal, onReport })
      signal.throwIfAborted()
      inboxAgain = inbox.glimpses.size > 0 ? (await store.now()) + LEFT_SECONDS : null
      return { rows: reports.filter(({ outcome }) => outcome === 'done').length }
    },
    inboxAgain: () => inboxAgain,
    async buildSnapshots(run) {
      const [names] = await buildSnapshots({ shelf, listing: store.listing, date: null, kept }, run)
      return { rows: names!.rows }
    },
  }
}
