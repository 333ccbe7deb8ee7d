/**
 * Removes forgotten names from finished files: each file that has one is built again without its lines, or withdrawn.
 * What other names' rows say stays, because it is about those names.
 */

import { type HeldLock, type LockClock, withNamedLock } from '../store/named-lock.ts'
import type { Jobs } from '../store/port/jobs.ts'
import type { ListingPage } from '../store/port/listing.ts'
import { LISTING_COLUMNS } from '../store/shared/csv-row.ts'
import type { DomainName } from '../values/domain-name.ts'
import { ContentSummary } from './content-summary.ts'
import {
  type FileDescription,
  type FileKind,
  type FileManifest,
  type FileName,
  type FileStore,
  fileName,
  type SnapshotEdition,
  snapshotEditionOf,
} from './file-store/file-store.ts'
import type { ForgottenFiles } from './file-store/forgotten-files.ts'
import { linesOfFile } from './file-store/packed-names.ts'
import { type BuildContext, publishFile, requireDiskSpace } from './publish.ts'
import { listingContent, parquetContent, SNAPSHOT_GZIP_LEVEL } from './snapshot.ts'

type TextKind = Exclude<FileKind, `${string}-parquet`>

/** The lock of the jobs that build a kind of text file. The Parquet files of a snapshot follow its text files. */
const LOCKS_BY_KIND = {
  daily: 'daily',
  dropped: 'daily',
  'followup-7': 'followup',
  'followup-30': 'followup',
  snapshot: 'snapshot',
  enriched: 'snapshot',
} as const satisfies Record<TextKind, string>
export type FileLock = (typeof LOCKS_BY_KIND)[TextKind]
const TEXT_KINDS = Object.keys(LOCKS_BY_KIND) as TextKind[]
const FILE_LOCKS = new Set(Object.values(LOCKS_BY_KIND))

const HEADED_KINDS: readonly FileKind[] = ['followup-7', 'followup-30', 'enriched']

export type FileRemoval = {
  fileStore: FileStore
  isForgotten: (name: DomainName) => boolean
  mode: Exclude<ForgottenFiles, 'keep'>
  /** Called after each file that was rebuilt or withdrawn. */
  onFile: (name: FileName, outcome: 'rebuilt' | 'withdrawn') => void
}

/** Removes the names from the files of one lock, which the caller holds. A stopped removal is repeated as a whole. */
export async function removeFromFiles(lock: FileLock, removal: FileRemoval, context: BuildContext): Promise<void> {
  const { fileStore } = removal
  for (const kind of TEXT_KINDS.filter((each) => LOCKS_BY_KIND[each] === lock)) {
    const edition = snapshotEditionOf(kind)
    for (const manifest of await fileStore.list(kind)) {
      context.signal.throwIfAborted()
      if (!(await hasForgottenName(manifest, removal))) continue
      // first, because the text file tells whether the Parquet file has a forgotten name
      if (edition !== null) await replaceParquet(edition, manifest, removal, context)
      await replaceText(manifest, removal, context)
    }
    if (edition !== null) await withdrawUnreadable(edition, removal)
  }
}

async function hasForgottenName({ name, kind }: FileManifest, removal: FileRemoval): Promise<boolean> {
  for await (const lines of rowLines(name, kind, removal))
    if (lines.some((line) => removal.isForgotten(nameOfLine(line)))) return true
  return false
}

async function replaceText(former: FileManifest, removal: FileRemoval, context: BuildContext): Promise<void> {
  const { fileStore, onFile, mode } = removal
  const { name, kind, bytes } = former
  if (mode === 'withdraw') {
    await fileStore.remove(name)
    onFile(name, 'withdrawn')
    return
  }
  await requireDiskSpace(fileStore, name, bytes)
  const summary = new ContentSummary()
  const header = HEADED_KINDS.includes(kind) ? await headerOf(former, removal) : ''
  const content = listingContent(header, keptPages(former, removal), summary, context.onRows)
  const level = snapshotEditionOf(kind) === null ? {} : { level: SNAPSHOT_GZIP_LEVEL }
  await publishFile(fileStore, name, content, { ...replacement(former, summary), ...level }, context)
  onFile(name, 'rebuilt')
}

async function replaceParquet(
  edition: SnapshotEdition,
  text: FileManifest,
  removal: FileRemoval,
  context: BuildContext,
): Promise<void> {
  const { fileStore, onFile, mode } = removal
  const former = await fileStore.manifest(fileName(`${edition}-parquet`, text.date))
  if (former === null) return
  if (mode === 'withdraw') await fileStore.remove(former.name)
  else {
    await requireDiskSpace(fileStore, former.name, former.bytes)
    const summary = new ContentSummary()
    const columns = edition === 'snapshot' ? ['domain'] : LISTING_COLUMNS
    const content = await parquetContent(columns, keptPages(text, removal), summary, context.onRows)
    await publishFile(fileStore, former.name, content, { ...replacement(former, summary), level: null }, context)
  }
  onFile(former.name, mode === 'withdraw' ? 'withdrawn' : 'rebuilt')
}

/** Withdraws the Parquet files without a text file: nothing tells which names they have. */
async function withdrawUnreadable(edition: SnapshotEdition, removal: FileRemoval): Promise<void> {
  const { fileStore, onFile, mode } = removal
  if (mode === 'withdraw') return
  for (const { name, date } of await fileStore.list(`${edition}-parquet`)) {
    if ((await fileStore.manifest(fileName(edition, date))) !== null) continue
    await fileStore.remove(name)
    onFile(name, 'withdrawn')
  }
}

/** How the file is published that replaces `former`. Its counts of names are those of `former`, at most its rows. */
function replacement(former: FileManifest, summary: ContentSummary) {
  const { generated, ratio, listed_before, older_than_24h, held } = former
  return {
    isSame: () => false,
    describe(): FileDescription {
      const counts = summary.counts()
      return {
        ...{ generated, ...counts, held },
        ...(ratio !== undefined && { ratio }),
        ...(listed_before !== undefined && { listed_before: Math.min(listed_before, counts.rows) }),
        ...(older_than_24h !== undefined && { older_than_24h: Math.min(older_than_24h, counts.rows) }),
      }
    },
  }
}

/** The rows of a file without those of forgotten names. */
async function* keptPages({ name, kind }: FileManifest, removal: FileRemoval): AsyncGenerator<ListingPage> {
  for await (const lines of rowLines(name, kind, removal)) {
    const kept = lines.filter((line) => !removal.isForgotten(nameOfLine(line)))
    if (kept.length === 0) continue
    const [first, last] = [nameOfLine(kept[0]!), nameOfLine(kept.at(-1)!)]
    yield { text: Buffer.from(`${kept.join('\n')}\n`, 'latin1'), rows: kept.length, first, last }
  }
}

/** The lines of a file without its header. */
async function* rowLines(
  name: FileName,
  kind: FileKind,
  { fileStore }: Pick<FileRemoval, 'fileStore'>,
): AsyncGenerator<string[]> {
  const opened = await fileStore.open(name)
  let headers = HEADED_KINDS.includes(kind) ? 1 : 0
  if (opened === null) return
  for await (const lines of linesOfFile(opened)) {
    yield lines.slice(headers)
    headers = 0
  }
}

async function headerOf({ name }: FileManifest, { fileStore }: Pick<FileRemoval, 'fileStore'>): Promise<string> {
  const opened = await fileStore.open(name)
  if (opened !== null) for await (const lines of linesOfFile(opened)) return `${lines[0]}\n`
  return ''
}

function nameOfLine(line: string): DomainName {
  const end = line.indexOf(',')
  return (end < 0 ? line : line.slice(0, end)) as DomainName
}

/** Milliseconds between two attempts to acquire a lock. */
const LOCK_RETRY_MS = 1_000

type LockOwner = { jobs: Jobs; holder: string; clock: LockClock }

/**
 * Calls `work` with each lock of files, one after another. If another process builds files, it calls `onWait` and waits
 * until that ends. Throws if the signal aborts.
 */
export async function withEachFileLock(
  owner: LockOwner,
  signal: AbortSignal,
  onWait: (lock: FileLock) => void,
  work: (lock: FileLock, held: Pick<HeldLock, 'signal' | 'requireHeld'>) => Promise<void>,
): Promise<void> {
  for (const lock of FILE_LOCKS) {
    const acquire = () => withNamedLock(lock, owner, signal, (held) => work(lock, held))
    for (let attempts = 0; (await acquire()) === null; attempts++) {
      if (attempts === 0) onWait(lock)
      await owner.clock.wait(LOCK_RETRY_MS, signal)
      signal.throwIfAborted()
    }
  }
}
