/** What every build has in common: how it is packed, put on the shelf, and given up. */

import type { DiskSpaceMonitor } from '../store/disk-space.ts'
import { BuildFault } from './file-store/build-fault.ts'
import type { FileDescription, FileManifest, FileName, FileStore } from './file-store/file-store.ts'
import { gzipParallel } from './gzip.ts'

/** What a build is told by whoever runs it. */
export type BuildContext = {
  /** Gives it up: nothing of it is seen. */
  signal: AbortSignal
  /** Throws where the work is another process's now; asked just before a file is published. */
  requireLock: () => Promise<void>
  /** Told now and then how many rows are written. */
  onRows: (rows: number) => void
  /** Of the packing. */
  threads: number
  /** Where there is too little room on a disk the build waits; without, it does not. */
  diskSpace?: Pick<DiskSpaceMonitor, 'wait'> | undefined
}

/** A file that is on the shelf; `isNew` where this build has put it there. */
export type BuildResult = { manifest: FileManifest; isNew: boolean }

/** `isSame`: whether a file of the same content may stay. `level`: of zlib. */
type PublishOptions = {
  describe: () => FileDescription
  isSame: (former: FileManifest, now: FileDescription) => boolean
  level?: number
}

/** Bytes that are free beside what a file takes, at least: for the store, which grows on the same disk. */
const SPARE_BYTES = 2 ** 26
const MEBIBYTE = 2 ** 20
const GZIP_LEVEL = 6

/** Says that the file on the shelf is what was built. */
class UnchangedContent extends Error {}

/**
 * Packs the content and puts it on the shelf, unless the file there has the same content and `isSame` says that it may stay.
 * What the content, or the run, throws leaves the former file.
 */
export async function publishFile(
  fileStore: FileStore,
  name: FileName,
  content: AsyncIterable<Uint8Array>,
  { describe, isSame, level = GZIP_LEVEL }: PublishOptions,
  context: BuildContext,
): Promise<BuildResult> {
  const former = await fileStore.manifest(name)
  const describeNew = (): FileDescription => {
    const description = describe()
    if (former?.plain_sha256 === description.plain_sha256 && isSame(former, description)) throw new UnchangedContent()
    return description
  }
  try {
    const packed = gzipParallel(abortableContent(content, context), { level, threads: context.threads })
    return { manifest: await fileStore.publish(name, withLockCheck(packed, context), describeNew), isNew: true }
  } catch (error) {
    if (error instanceof UnchangedContent) return { manifest: former!, isNew: false }
    throw error
  }
}

async function* abortableContent(
  content: AsyncIterable<Uint8Array>,
  { signal, diskSpace }: BuildContext,
): AsyncGenerator<Uint8Array> {
  for await (const piece of content) {
    signal.throwIfAborted()
    await diskSpace?.wait(signal)
    yield piece
  }
}

async function* withLockCheck(
  packed: AsyncIterable<Uint8Array>,
  { signal, requireLock: stands }: BuildContext,
): AsyncGenerator<Uint8Array> {
  yield* packed
  signal.throwIfAborted()
  await stands()
}

/** Throws BuildFault where the disk of the shelf has less than `bytes` free, and some more. */
export async function requireDiskSpace(
  { freeBytes: diskSpace }: Pick<FileStore, 'freeBytes'>,
  what: string,
  bytes: number,
): Promise<void> {
  const [free, needed] = [await diskSpace(), bytes + SPARE_BYTES]
  if (free >= needed) return
  const words = `${what} needs ${Math.ceil(needed / MEBIBYTE)} MiB, and the disk of DOMAINDEX_FILES has ${Math.floor(free / MEBIBYTE)} MiB free`
  throw new BuildFault(`${words}: make room, or name a folder on another disk`)
}
