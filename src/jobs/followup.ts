/** Builds follow-up files: the facts of the names of a day 7 or 30 days later, as known when the file is built. */

import type { CurrentFacts } from '../apply/crawl-state.ts'
import type { CrawlRequests } from '../store/port/crawl-requests.ts'
import type { ObservationStore } from '../store/port/store.ts'
import { formatCsvRow, LISTING_COLUMNS, listingFields } from '../store/shared/csv-row.ts'
import type { DomainName } from '../values/domain-name.ts'
import { type Day, type Instant, SECONDS_PER_DAY } from '../values/time.ts'
import { ContentSummary, type FileRows } from './content-summary.ts'
import { BuildFault } from './file-store/build-fault.ts'
import {
  type FileDescription,
  type FileName,
  type FileStore,
  fileName,
  type OpenedFile,
} from './file-store/file-store.ts'
import { namesOfFile } from './file-store/packed-names.ts'
import { type BuildContext, type BuildResult, publishFile, requireDiskSpace } from './publish.ts'

/** Days after registration on which a follow-up file is built. */
export const FOLLOWUPS = [7, 30] as const
export type FollowupDays = (typeof FOLLOWUPS)[number]

type FollowupBuild = {
  fileStore: FileStore
  observations: Pick<ObservationStore, 'crawlStates' | 'currentFacts'>
  crawlRequests: Pick<CrawlRequests, 'complete'>
  now: Instant
}

const FOLLOWUP_HEADER = `${formatCsvRow([...LISTING_COLUMNS, 'social_networks', 'social_accounts'])}\n`
/** Age in seconds from which facts count as old. */
const STALE_FACTS_SECONDS = SECONDS_PER_DAY
/** Disk space per name of the daily file, in bytes. Most files need less. */
const FOLLOWUP_ROW_BYTES = 100
/** Names per read of facts. */
const FOLLOWUP_BATCH_NAMES = 1_000

/** Requests probes of all names in the file of a day. Returns the number of names. */
export async function requestFollowupProbes(
  day: Day,
  { fileStore, crawlRequests }: { fileStore: FileStore; crawlRequests: Pick<CrawlRequests, 'add'> },
  { signal, onRows }: Pick<BuildContext, 'signal' | 'onRows'>,
): Promise<number> {
  let queued = 0
  for await (const names of nameBatches(await openDailyFile(fileStore, day))) {
    signal.throwIfAborted()
    await crawlRequests.add('followup', names)
    queued += names.length
    onRows(queued)
  }
  return queued
}

/**
 * Builds and publishes the follow-up file of a day from the current facts, without forgotten names. Withdraws the crawl
 * requests that are still open. Throws BuildFault if the day has no published file.
 */
export async function buildFollowup(
  day: Day,
  after: FollowupDays,
  build: FollowupBuild,
  context: BuildContext,
): Promise<BuildResult> {
  const opened = await openDailyFile(build.fileStore, day)
  try {
    await requireDiskSpace(build.fileStore, `the follow-up file of ${day}`, FOLLOWUP_ROW_BYTES * opened.manifest.rows)
    return await publishFollowup(fileName(`followup-${after}`, day), opened, build, context)
  } finally {
    await opened.close()
  }
}

function publishFollowup(
  name: FileName,
  opened: OpenedFile,
  build: FollowupBuild,
  run: BuildContext,
): Promise<BuildResult> {
  const { fileStore, now } = build
  const tally = new ContentSummary()
  let older_than_24h = 0
  const rows = followupRows(build, opened, (clocks) => {
    older_than_24h += clocks.filter((clock) => now - clock > STALE_FACTS_SECONDS).length
    run.onRows(tally.rows)
  })
  const describe = (): FileDescription => ({ generated: now, ...tally.counts(), older_than_24h, held: null })
  const isSame = (): boolean => false // a new `generated` time confirms that nothing has changed since
  return publishFile(fileStore, name, tally.content(FOLLOWUP_HEADER, rows), { describe, isSame }, run)
}

/** Calls `onClocks` with the time of each name's last probe; 0 for never. */
async function* followupRows(
  { observations, crawlRequests }: FollowupBuild,
  opened: OpenedFile,
  onClocks: (clocks: readonly Instant[]) => void,
): AsyncGenerator<FileRows> {
  for await (const names of nameBatches(opened)) {
    const [states, currents] = await Promise.all([observations.crawlStates(names), observations.currentFacts(names)])
    const present = [...names.keys()].filter((place) => !states[place]!.forgotten)
    const text = present.map((place) => followupRow(names[place]!, currents[place]!)).join('')
    onClocks(present.map((place) => Math.max(...states[place]!.clocks)))
    yield { text, names: present.map((place) => names[place]!) }
    await crawlRequests.complete('followup', names)
  }
}

/** The CSV row of a name: that of the listing, and the social accounts. Fields that were never observed are empty. */
function followupRow(name: DomainName, facts: CurrentFacts): string {
  const networks = facts.web?.social_networks.join(' ') ?? ''
  const accounts = facts.web?.social_accounts.map(({ url }) => url).join(' ') ?? ''
  return `${formatCsvRow([...listingFields(name, facts), networks, accounts])}\n`
}

async function* nameBatches(opened: OpenedFile): AsyncGenerator<DomainName[]> {
  for await (const names of namesOfFile(opened))
    for (let at = 0; at < names.length; at += FOLLOWUP_BATCH_NAMES) yield names.slice(at, at + FOLLOWUP_BATCH_NAMES)
}

async function openDailyFile(fileStore: FileStore, day: Day): Promise<OpenedFile> {
  const opened = await fileStore.open(fileName('daily', day))
  const held = opened?.manifest.held ?? null
  if (opened !== null && held === null) return opened
  await opened?.close()
  if (opened === null) throw new BuildFault(`there is no daily file of ${day}: build it first`)
  throw new BuildFault(`the daily file of ${day} is held (${held}): release it first`)
}
