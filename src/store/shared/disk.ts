/** Free space of disks, and the causes of failed writes. */

import { accessSync, constants, existsSync, statfsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DiskFault, isDiskError, isDiskFull, SQLITE_FULL } from '../port/fault.ts'

/** Reserved space: a share of the disk (0 to 1) or a number of bytes, whichever is less. Infinity is ignored. */
export type FreeSpace = { share: number; bytes: number }

/** Bytes of the file system of a path. */
export type DiskSpace = { free: number; total: number }

const MEBIBYTE = 2 ** 20

/** Null if it is unknown. `path` need not exist. */
export async function diskSpaceAt(path: string): Promise<DiskSpace | null> {
  const { bavail, blocks, bsize } = (await statfs(nearestExisting(path)).catch(() => null)) ?? {}
  return bsize === undefined ? null : { free: bavail! * bsize, total: blocks! * bsize }
}

/** The path, or its nearest existing parent folder. */
function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path))
}

/**
 * Describes the shortage on the disk of a path, in text that does not change while it lasts; null if there is enough
 * space.
 */
export async function shortageAt(path: string, { share, bytes }: FreeSpace): Promise<string | null> {
  const space = await diskSpaceAt(path)
  if (space === null) return null
  const required = Math.min(share * space.total, bytes)
  if (space.free >= required) return null
  return `the disk of ${path} has less than ${mebibyteText(required)} free (DOMAINDEX_MIN_DISK_FREE): free disk space`
}

function mebibyteText(bytes: number): string {
  return `${(bytes / MEBIBYTE).toFixed(bytes < 10 * MEBIBYTE ? 1 : 0)} MiB`
}

/** Below this many free bytes, SQLite may fail: it needs a page of its log and one of its index. */
const MIN_FREE_BYTES = 64 * 1024

/**
 * Why files cannot be written: no space, a read-only file system, or no permission; null otherwise. SQLite reports all
 * of them, also for its -shm file, as "disk I/O error" or "unable to open".
 */
export function writeFailureCause(path: string): { message: string; isFull: boolean } | null {
  for (const file of [dirname(path), path, `${path}-wal`, `${path}-shm`]) {
    if (!existsSync(file)) continue
    try {
      accessSync(file, constants.W_OK)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EROFS')
        return { message: `the file system of ${file} is read-only: mount it for writing`, isFull: false }
      if (code === 'EACCES' || code === 'EPERM')
        return { message: `${file} is not writable: check its permissions`, isFull: false }
    }
  }
  const { bavail, bsize } = statfsSync(nearestExisting(path))
  return bavail * bsize < MIN_FREE_BYTES ? { message: `no space is left on the disk of ${path}`, isFull: true } : null
}

/** Adds the cause to an error of SQLite; returns any other error unchanged. `path` is that of the database. */
export function toDiskFault(error: unknown, path: string): unknown {
  if (!isDiskError(error)) return error
  const cause = writeFailureCause(path)
  if (cause === null) return isDiskFull(error) ? DiskFault.full(path) : error
  return new DiskFault(cause.message, cause.isFull ? SQLITE_FULL : error.errcode)
}
