/** The daily file: the names that were registered on one day, sorted bytewise, one a line, each once. */

import type { ObservationStore } from '../store/port/store.ts'
import type { DomainName } from '../values/domain-name.ts'
import { addDays, type Day, type Instant } from '../values/time.ts'
import { ContentSummary, type FileRows } from './content-summary.ts'
import { EarlierFiles } from './earlier-files.ts'
import { type FileDescription, type FileManifest, type FileStore, fileName } from './file-store/file-store.ts'
import { type BuildContext, type BuildResult, publishFile, requireDiskSpace } from './publish.ts'
import { checkQuality, type QualityBounds } from './quality-check.ts'

export type DailyBuild = {
  fileStore: FileStore
  observations: Pick<ObservationStore, 'crawlStates'>
  /** The names that were registered on the day, rising bytewise, each once; some thousands at a time. */
  names: AsyncIterable<readonly DomainName[]>
  /** Null: every day is handed out. */
  qualityBounds: QualityBounds | null
  /** Hands the day out even though it is out of bounds. */
  release: boolean
  now: Instant
}

/** Bytes that a name takes on the disk while the first files are built: later ones are as large as the one before. */
const FIRST_DAILY_FILE_BYTES = 2 ** 26

/** Days before a day whose files are read, to count which of its names they list too. */
const EARLIER_FILE_DAYS = 28

/**
 * Puts the file of a day on the shelf; it stays as it is where the same names are in it. A day out of bounds is held back:
 * it is on the shelf, `held` says why, and nobody gets it. Names that were forgotten are left out.
 */
export async function buildDaily(day: Day, build: DailyBuild, context: BuildContext): Promise<BuildResult> {
  const { fileStore, qualityBounds: bounds, release, now } = build
  const files = (await fileStore.list('daily')).filter(({ held }) => held === null)
  await requireDiskSpace(
    fileStore,
    `the daily file of ${day}`,
    Math.max(FIRST_DAILY_FILE_BYTES, ...files.map(({ bytes }) => bytes)),
  )
  const from = addDays(day, -EARLIER_FILE_DAYS)
  const earlier = new EarlierFiles(
    fileStore,
    files.filter(({ date }) => date >= from && date < day).map(({ name }) => name),
  )
  const tally = new ContentSummary()
  let listed_before = 0
  const rows = dailyRows(build, async (names) => {
    listed_before += await earlier.count(names)
    context.onRows(tally.rows)
  })
  const describe = (): FileDescription => {
    const counts = tally.counts()
    const { ratio, held } = checkQuality(day, counts.rows, files, release ? null : bounds)
    return { generated: now, ...counts, ratio, listed_before, held }
  }
  try {
    return await publishFile(
      fileStore,
      fileName('daily', day),
      tally.content('', rows),
      { describe, isSame: mayKeepFormerDaily },
      context,
    )
  } finally {
    await earlier.close()
  }
}

/** What was released stays so; what is held back goes out once nothing speaks against it. */
function mayKeepFormerDaily(former: FileManifest, now: FileDescription): boolean {
  return former.held === null || now.held !== null
}

async function* dailyRows(
  { names, observations: frontier }: DailyBuild,
  onNames: (names: readonly DomainName[]) => Promise<void>,
): AsyncGenerator<FileRows> {
  for await (const batch of names) {
    const visits = await frontier.crawlStates(batch)
    const kept = batch.filter((_, place) => !visits[place]!.forgotten)
    await onNames(kept)
    if (kept.length > 0) yield { text: `${kept.join('\n')}\n`, names: kept }
  }
}
