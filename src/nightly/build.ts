/** What every build has in common: how it is packed, put on the shelf, and given up. */

import type { DiskRoom } from '../store/disk-room.ts'
import { BuildFault } from './fault.ts'
import { gzip } from './gzip.ts'
import type { Description, FileName, Manifest, Shelf } from './shelf.ts'

/** What a build is told by whoever runs it. */
export type Run = {
  /** Gives it up: nothing of it is seen. */
  signal: AbortSignal
  /** Throws where the work is another process's now; asked just before a file is published. */
  stands: () => Promise<void>
  /** Told now and then how many rows are written. */
  onRows: (rows: number) => void
  /** Of the packing. */
  threads: number
  /** Where there is too little room on a disk the build waits; without, it does not. */
  room?: Pick<DiskRoom, 'wait'> | undefined
}

/** A file that is on the shelf; `isNew` where this build has put it there. */
export type Built = { manifest: Manifest; isNew: boolean }

/** `isSame`: whether a file of the same content may stay. `level`: of zlib. */
type Publication = {
  describe: () => Description
  isSame: (former: Manifest, now: Description) => boolean
  level?: number
}

/** Bytes that are free beside what a file takes, at least: for the store, which grows on the same disk. */
const SPARE = 2 ** 26
const MIB = 2 ** 20
const LEVEL = 6

/** Says that the file on the shelf is what was built. */
class Unchanged extends Error {}

/**
 * Packs the content and puts it on the shelf, unless the file there has the same content and `isSame` says that it may stay.
 * What the content, or the run, throws leaves the former file.
 */
export async function publish(
  shelf: Shelf,
  name: FileName,
  content: AsyncIterable<Uint8Array>,
  { describe, isSame, level = LEVEL }: Publication,
  run: Run,
): Promise<Built> {
  const former = await shelf.manifest(name)
  const describeNew = (): Description => {
    const description = describe()
    if (former?.plain_sha256 === description.plain_sha256 && isSame(former, description)) throw new Unchanged()
    return description
  }
  try {
    const packed = gzip(watched(content, run), { level, threads: run.threads })
    return { manifest: await shelf.publish(name, standing(packed, run), describeNew), isNew: true }
  } catch (error) {
    if (error instanceof Unchanged) return { manifest: former!, isNew: false }
    throw error
  }
}

async function* watched(content: AsyncIterable<Uint8Array>, { signal, room }: Run): AsyncGenerator<Uint8Array> {
  for await (const piece of content) {
    signal.throwIfAborted()
    await room?.wait(signal)
    yield piece
  }
}

async function* standing(packed: AsyncIterable<Uint8Array>, { signal, stands }: Run): AsyncGenerator<Uint8Array> {
  yield* packed
  signal.throwIfAborted()
  await stands()
}

/** Throws BuildFault where the disk of the shelf has less than `bytes` free, and some more. */
export async function expectRoom({ room }: Pick<Shelf, 'room'>, what: string, bytes: number): Promise<void> {
  const [free, needed] = [await room(), bytes + SPARE]
  if (free >= needed) return
  const words = `${what} needs ${Math.ceil(needed / MIB)} MiB, and the disk of DOMAINDEX_FILES has ${Math.floor(free / MIB)} MiB free`
  throw new BuildFault(`${words}: make room, or name a folder on another disk`)
}
