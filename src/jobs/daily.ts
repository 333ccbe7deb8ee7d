/** Builds the daily files: the names registered, and those dropped, on one day, sorted bytewise, one per line, each once. */

import type { ObservationStore } from '../store/port/store.ts'
import type { DomainName } from '../values/domain-name.ts'
import { addDays, type Day, type Instant } from '../values/time.ts'
import { ContentSummary, type FileRows } from './content-summary.ts'
import {
  type FileDescription,
  type FileManifest,
  type FileName,
  type FileStore,
  fileName,
} from './file-store/file-store.ts'
import { namesOfFile } from './file-store/packed-names.ts'
import { type BuildContext, type BuildResult, publishFile, requireDiskSpace } from './publish.ts'
import { checkQuality, type QualityBounds } from './quality-check.ts'

/** Counts names that earlier files list too. Reads all files in parallel, once, in their common order. */
class EarlierFiles {
  readonly #files: EarlierFile[]

  constructor(fileStore: Pick<FileStore, 'open'>, files: readonly FileName[]) {
    this.#files = files.map((file) => new EarlierFile(fileStore, file))
  }

  /** Returns how many of the names any of the files lists. Names must ascend within a call and from call to call. */
  async count(names: readonly DomainName[]): Promise<number> {
    const isListed = new Uint8Array(names.length)
    for (const list of this.#files) await list.markListed(names, isListed)
    return isListed.reduce((sum, each) => sum + each, 0)
  }

  async close(): Promise<void> {
    for (const list of this.#files) await list.close()
  }
}

/** A reader of one file, with its current position. */
class EarlierFile {
  readonly #batches: AsyncGenerator<DomainName[]>
  #names: readonly DomainName[] = []
  #position = 0
  #isEnded = false

  constructor(fileStore: Pick<FileStore, 'open'>, file: FileName) {
    this.#batches = readFileNames(fileStore, file)
  }

  async markListed(names: readonly DomainName[], isListed: Uint8Array): Promise<void> {
    for (let place = 0; place < names.length; ) {
      const [mine, theirs] = [this.#names[this.#position], names[place]!]
      if (mine === undefined) {
        if (!(await this.#readMore())) return
      } else if (mine < theirs) this.#position++
      else {
        if (mine === theirs) isListed[place] = 1
        place++
      }
    }
  }

  async close(): Promise<void> {
    await this.#batches.return(undefined)
  }

  async #readMore(): Promise<boolean> {
    if (this.#isEnded) return false
    const { value, done } = await this.#batches.next()
    this.#isEnded = done === true
    this.#names = value ?? []
    this.#position = 0
    return !this.#isEnded
  }
}

export type DailyBuild = {
  fileStore: FileStore
  observations: Pick<ObservationStore, 'crawlStates'>
  /** The names registered on the day in batches of some thousands, sorted bytewise, without duplicates. */
  names: AsyncIterable<readonly DomainName[]>
  /** Null: every day is published. */
  qualityBounds: QualityBounds | null
  /** Publishes the day even if it is out of bounds. */
  release: boolean
  now: Instant
}

/** Disk space needed for the first daily file, in bytes. Later files need about as much as the previous one. */
const FIRST_DAILY_FILE_BYTES = 2 ** 26

/** The number of earlier days whose files are read, to count the names that they list too. */
const EARLIER_FILE_DAYS = 28

/**
 * Builds and publishes the file of a day, without forgotten names. An existing file with the same names stays
 * unchanged.
 * A day out of bounds is held: its file exists, but is not available for download. `held` gives the reason.
 */
export async function buildDaily(day: Day, build: DailyBuild, context: BuildContext): Promise<BuildResult> {
  const { fileStore, qualityBounds, release, now } = build
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
    const { ratio, held } = checkQuality(day, counts.rows, files, release ? null : qualityBounds)
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

export type DroppedBuild = Pick<DailyBuild, 'fileStore' | 'observations' | 'now'> & {
  /** The names dropped on the day in batches of some thousands, sorted bytewise, without duplicates. */
  names: AsyncIterable<readonly DomainName[]>
}

/** Builds and publishes the file of the names that were dropped on a day, without forgotten ones. */
export function buildDropped(day: Day, build: DroppedBuild, context: BuildContext): Promise<BuildResult> {
  const tally = new ContentSummary()
  const rows = dailyRows(build, async () => context.onRows(tally.rows))
  const describe = (): FileDescription => ({ generated: build.now, ...tally.counts(), held: null })
  return publishFile(
    build.fileStore,
    fileName('dropped', day),
    tally.content('', rows),
    { describe, isSame: () => true },
    context,
  )
}

/** A released file stays released. A held file is rebuilt if the quality check no longer holds it. */
function mayKeepFormerDaily(former: FileManifest, now: FileDescription): boolean {
  return former.held === null || now.held !== null
}

async function* dailyRows(
  { names, observations }: DroppedBuild,
  onNames: (names: readonly DomainName[]) => Promise<void>,
): AsyncGenerator<FileRows> {
  for await (const batch of names) {
    const states = await observations.crawlStates(batch)
    const remaining = batch.filter((_, place) => !states[place]!.forgotten)
    await onNames(remaining)
    if (remaining.length > 0) yield { text: `${remaining.join('\n')}\n`, names: remaining }
  }
}

async function* readFileNames(fileStore: Pick<FileStore, 'open'>, file: FileName): AsyncGenerator<DomainName[]> {
  const opened = await fileStore.open(file)
  if (opened !== null) yield* namesOfFile(opened)
}
