/** Builds snapshots: all names known at the start, as a plain list and with columns, from one pass over the store. */

import type { Listing, ListingPage, ListingStage, NameListing } from '../store/port/listing.ts'
import { LISTING_COLUMNS } from '../store/shared/csv-row.ts'
import { type Day, dayOf } from '../values/time.ts'
import { ContentSummary } from './content-summary.ts'
import {
  type FileDescription,
  type FileKind,
  type FileManifest,
  type FileStore,
  fileName,
  type SnapshotEdition,
  snapshotEditionOf,
} from './file-store/file-store.ts'
import { type BuildContext, type BuildResult, publishFile, requireDiskSpace } from './publish.ts'

export type SnapshotBuild = {
  fileStore: FileStore
  listing: Listing
  /** The day in the file names; null: the day on which the pass begins. */
  date: Day | null
  /** Whether to build both editions as Parquet too. By default not. */
  hasParquet?: boolean
  /** How many files of each edition to keep; the oldest ones are removed. */
  keepCount: number
  /** Called with the amount done and the total amount of a step; null if the total is unknown. */
  onStep?: (step: ListingStage | SnapshotEdition, done: number, all: number | null) => void
}

/** The source of an edition. `bytes`: compressed bytes per name, used if there is no earlier file. */
type EditionSource = {
  header: string
  bytesPerName: number
  pages: (listing: NameListing) => AsyncIterable<ListingPage>
}

const EDITION_SOURCES: Readonly<Record<SnapshotEdition, EditionSource>> = {
  snapshot: { header: '', bytesPerName: 10, pages: (nameListing) => nameListing.names() },
  enriched: { header: `${LISTING_COLUMNS.join()}\n`, bytesPerName: 20, pages: (nameListing) => nameListing.rows() },
}
/** A file may be this much larger than the previous one. */
const SIZE_GROWTH_ALLOWANCE = 1.2
/** 1.03 times the size of level 6 on names in byte order, at 1.8 times its speed (bench:gzip). */
export const SNAPSHOT_GZIP_LEVEL = 4

/** Builds and publishes both editions in each format, then removes the oldest files. */
export async function buildSnapshots(build: SnapshotBuild, context: BuildContext): Promise<FileManifest[]> {
  const { listing, fileStore, hasParquet = false, keepCount, onStep = () => {} } = build
  const nameListing = await listing.start({ signal: context.signal, onStage: onStep })
  try {
    const date = build.date ?? dayOf(nameListing.startedAt)
    const built: FileManifest[] = []
    for (const edition of ['snapshot', 'enriched'] as const) {
      const onRows = (rows: number): void => {
        context.onRows(rows)
        onStep(edition, rows, nameListing.estimatedNames)
      }
      for (const kind of hasParquet ? ([edition, `${edition}-parquet`] as const) : [edition]) {
        const source = { fileStore, listing: nameListing }
        built.push((await buildEdition(kind, date, source, { ...context, onRows })).manifest)
        await removeOldSnapshots(fileStore, kind, date, keepCount)
      }
    }
    return built
  } finally {
    await nameListing.close()
  }
}

/** A file of an edition. */
type SnapshotKind = Exclude<FileKind, 'daily' | `followup-${string}`>

/** Builds and publishes one file from the names of a pass. */
export async function buildEdition(
  kind: SnapshotKind,
  date: Day,
  { fileStore, listing }: { fileStore: FileStore; listing: NameListing },
  context: BuildContext,
): Promise<BuildResult> {
  const { header, bytesPerName, pages } = EDITION_SOURCES[snapshotEditionOf(kind)!]
  const isParquet = kind.endsWith('-parquet')
  const former = (await fileStore.list(kind)).at(-1)
  await requireDiskSpace(
    fileStore,
    `the ${kind} file of ${date}`,
    former ? former.bytes * SIZE_GROWTH_ALLOWANCE : (listing.estimatedNames ?? 0) * bytesPerName,
  )
  const summary = new ContentSummary()
  const describe = (): FileDescription => ({ generated: listing.startedAt, ...summary.counts(), held: null })
  const isSame = (): boolean => false // every snapshot has its own point in time
  return publishFile(
    fileStore,
    fileName(kind, date),
    isParquet
      ? await parquetContent(header === '' ? ['domain'] : LISTING_COLUMNS, pages(listing), summary, context.onRows)
      : listingContent(header, pages(listing), summary, context.onRows),
    { describe, isSame, level: isParquet ? null : SNAPSHOT_GZIP_LEVEL },
    context,
  )
}

async function removeOldSnapshots(
  fileStore: FileStore,
  kind: SnapshotKind,
  built: Day,
  keepCount: number,
): Promise<void> {
  const others = (await fileStore.list(kind)).filter(({ date }) => date !== built)
  const excess = Math.max(0, others.length - (keepCount - 1))
  for (const { name } of others.slice(0, excess)) await fileStore.remove(name)
}

/** Yields the bytes of a file, `header` and then the pages, and adds them to `summary`. */
export async function* listingContent(
  header: string,
  pages: AsyncIterable<ListingPage>,
  summary: ContentSummary,
  onRows: BuildContext['onRows'],
): AsyncGenerator<Uint8Array> {
  if (header !== '') yield summary.piece(Buffer.from(header))
  for await (const { text, rows, first, last } of pages) {
    summary.count(rows, first, last)
    yield summary.piece(text)
    releaseBuffer(text)
    onRows(summary.rows)
  }
}

/** The library that writes Parquet is loaded only if it is needed. */
export async function parquetContent(
  columns: readonly string[],
  pages: AsyncIterable<ListingPage>,
  summary: ContentSummary,
  onRows: BuildContext['onRows'],
): Promise<AsyncGenerator<Uint8Array>> {
  const { parquetRows } = await import('../export/parquet-rows.ts')
  async function* batches(): AsyncGenerator<string> {
    for await (const { text, rows, first, last } of pages) {
      summary.count(rows, first, last)
      yield Buffer.from(text).toString('utf8')
      onRows(summary.rows)
    }
  }
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for await (const piece of parquetRows(columns, batches())) yield summary.piece(piece)
  }
  return pieces()
}

/** Frees the memory of a page that the compressor has copied. The garbage collector would wait for many more pages. */
function releaseBuffer({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
