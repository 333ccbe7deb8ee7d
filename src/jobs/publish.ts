/** Compresses and publishes the content of a file: common to all builds. */

import type { DiskSpaceMonitor } from '../store/disk-space.ts'
import { MEBIBYTE } from '../store/shared/disk.ts'
import { BuildFault } from './file-store/build-fault.ts'
import type { FileDescription, FileManifest, FileName, FileStore } from './file-store/file-store.ts'
import { gzipParallel } from './gzip/gzip.ts'

/** The context in which a build runs. */
export type BuildContext = {
  /** Stops the build, which then publishes nothing. */
  signal: AbortSignal
  /** Throws if this process has lost the lock. Called just before a file is published. */
  requireLock: () => Promise<void>
  /** Called now and then with the number of rows written. */
  onRows: (rows: number) => void
  /** Number of compression threads. */
  threads: number
  /** If set, the build waits while a disk has too little free space. */
  diskSpace?: Pick<DiskSpaceMonitor, 'wait'> | undefined
}

/** A published file. `isNew`: this build has published it. */
export type BuildResult = { manifest: FileManifest; isNew: boolean }

/**
 * `isSame`: whether an existing file with the same content may stay. `level`: of zlib; null: it is compressed already.
 */
type PublishOptions = {
  describe: () => FileDescription
  isSame: (former: FileManifest, now: FileDescription) => boolean
  level?: number | null
}

/** Bytes that must remain free for the store, which may be on the same disk. */
const SPARE_BYTES = 2 ** 26
const GZIP_LEVEL = 6

/** Thrown if the published file already has the built content. */
class UnchangedContent extends Error {}

/**
 * Compresses and publishes the content, unless the existing file has the same content and `isSame` allows it to stay.
 * If the content or the build throws, the existing file stays.
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
    const plain = abortableContent(content, context)
    const packed = level === null ? plain : gzipParallel(plain, { level, threads: context.threads })
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
  { signal, requireLock }: BuildContext,
): AsyncGenerator<Uint8Array> {
  yield* packed
  signal.throwIfAborted()
  await requireLock()
}

/** Throws BuildFault if the disk of the file store has less free space than `bytes` and a reserve. */
export async function requireDiskSpace(
  { freeBytes }: Pick<FileStore, 'freeBytes'>,
  what: string,
  bytes: number,
): Promise<void> {
  const [free, needed] = [await freeBytes(), bytes + SPARE_BYTES]
  if (free >= needed) return
  const words = `${what} needs ${Math.ceil(needed / MEBIBYTE)} MiB, and the disk of DOMAINDEX_FILES has ${Math.floor(free / MEBIBYTE)} MiB free`
  throw new BuildFault(`${words}: free disk space, or name a folder on another disk`)
}
