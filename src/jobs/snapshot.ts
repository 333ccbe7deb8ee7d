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
} from './file-store/file-store.ts'
import { type BuildContext, type BuildResult, publishFile, requireDiskSpace } from './publish.ts'

export type SnapshotBuild = {
  fileStore: FileStore
  listing: Listing
  /** The day in the file names; null: the day on which the pass begins. */
  date: Day | null
  /** How many files of each edition to keep; the oldest ones are removed. */
  keepCount: number
  /** Called with the amount done and the total amount of a step; null if the total is unknown. */
  onStep?: (step: ListingStage | SnapshotEdition, done: number, all: number | null) => void
}

export type SnapshotEdition = Extract<FileKind, 'snapshot' | 'enriched'>

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
const SNAPSHOT_GZIP_LEVEL = 4

/** Builds and publishes both editions, then removes the oldest files. */
export async function buildSnapshots(build: SnapshotBuild, context: BuildContext): Promise<FileManifest[]> {
  const { listing, fileStore, keepCount, onStep = () => {} } = build
  const nameListing = await listing.start({ signal: context.signal, onStage: onStep })
  try {
    const date = build.date ?? dayOf(nameListing.startedAt)
    const built: FileManifest[] = []
    for (const edition of ['snapshot', 'enriched'] as const) {
      const onRows = (rows: number): void => {
        context.onRows(rows)
        onStep(edition, rows, nameListing.estimatedNames)
      }
      const { manifest } = await buildEdition(
        edition,
        date,
        { fileStore, listing: nameListing },
        { ...context, onRows },
      )
      built.push(manifest)
      await removeOldSnapshots(fileStore, edition, date, keepCount)
    }
    return built
  } finally {
    await nameListing.close()
  }
}

/** Builds and publishes one edition from the names of a pass. */
export async function buildEdition(
  edition: SnapshotEdition,
  date: Day,
  { fileStore, listing }: { fileStore: FileStore; listing: NameListing },
  context: BuildContext,
): Promise<BuildResult> {
  const { header, bytesPerName, pages } = EDITION_SOURCES[edition]
  const former = (await fileStore.list(edition)).at(-1)
  await requireDiskSpace(
    fileStore,
    `the ${edition} file of ${date}`,
    former ? former.bytes * SIZE_GROWTH_ALLOWANCE : (listing.estimatedNames ?? 0) * bytesPerName,
  )
  const summary = new ContentSummary()
  const describe = (): FileDescription => ({ generated: listing.startedAt, ...summary.counts(), held: null })
  const isSame = (): boolean => false // every snapshot has its own point in time
  return publishFile(
    fileStore,
    fileName(edition, date),
    snapshotContent(header, pages(listing), summary, context.onRows),
    { describe, isSame, level: SNAPSHOT_GZIP_LEVEL },
    context,
  )
}

async function removeOldSnapshots(
  fileStore: FileStore,
  edition: SnapshotEdition,
  built: Day,
  keepCount: number,
): Promise<void> {
  const others = (await fileStore.list(edition)).filter(({ date }) => date !== built)
  const excess = Math.max(0, others.length - (keepCount - 1))
  for (const { name } of others.slice(0, excess)) await fileStore.remove(name)
}

/** Yields the bytes of a file, `header` and then the pages, and adds them to `summary`. */
async function* snapshotContent(
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

/** Frees the memory of a page that the compressor has copied. The garbage collector would wait for many more pages. */
function releaseBuffer({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
