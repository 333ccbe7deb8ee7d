/** The disks that are written to: what is free on them, and waiting where that is too little. */

import { accessSync, constants, existsSync, statfsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DiskFault, isDiskError } from '../port/fault.ts'

/** What stays free: a share of the disk (0 to 1) or a number of bytes, whichever is less; infinity counts for none. */
export type FreeSpace = { share: number; bytes: number }

/** Bytes of the file system that a path lies on. */
export type DiskSpace = { free: number; total: number }

const MEBIBYTE = 2 ** 20

/** Null if it cannot be told. `path` need not be there yet. */
export async function diskSpaceAt(path: string): Promise<DiskSpace | null> {
  const { bavail, blocks, bsize } = (await statfs(nearestExisting(path)).catch(() => null)) ?? {}
  return bsize === undefined ? null : { free: bavail! * bsize, total: blocks! * bsize }
}

/** The path, or the nearest folder above it that is there. */
function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path))
}

/** What is too little on the disk of a path, in words that stay the same while it is so; null if there is enough. */
export async function shortageAt(path: string, { share, bytes }: FreeSpace): Promise<string | null> {
  const space = await diskSpaceAt(path)
  if (space === null) return null
  const wanted = Math.min(share * space.total, bytes)
  if (space.free >= wanted) return null
  return `the disk of ${path} has less than ${mebibyteText(wanted)} free (DOMAINDEX_MIN_DISK_FREE): free disk space`
}

function mebibyteText(bytes: number): string {
  return `${(bytes / MEBIBYTE).toFixed(bytes < 10 * MEBIBYTE ? 1 : 0)} MiB`
}

/** Free bytes below which a file cannot be said to have room: SQLite needs a page of its log and one of its index. */
const MIN_FREE_BYTES = 64 * 1024

/**
 * Why files cannot be written: no space, a read-only file system, or no permission; null if none of that is so. For SQLite,
 * which says "disk I/O error" and "unable to open" of all of them, and of its -shm file as well.
 */
export function writeFailureCause(path: string): { words: string; isFull: boolean } | null {
  for (const each of [dirname(path), path, `${path}-wal`, `${path}-shm`]) {
    if (!existsSync(each)) continue
    try {
      accessSync(each, constants.W_OK)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EROFS')
        return { words: `the file system of ${each} is read-only: mount it for writing`, isFull: false }
      if (code === 'EACCES' || code === 'EPERM')
        return { words: `${each} may not be written: look at its permissions`, isFull: false }
    }
  }
  const { bavail, bsize } = statfsSync(nearestExisting(path))
  return bavail * bsize < MIN_FREE_BYTES ? { words: `no space is left on the disk of ${path}`, isFull: true } : null
}

/** The error of SQLite with its cause in words; any other as it is. `path` is that of the database. */
export function toDiskFault(error: unknown, path: string): unknown {
  if (!isDiskError(error)) return error
  const cause = writeFailureCause(path)
  if (cause === null) return (error.errcode & 255) === 13 ? DiskFault.full(path) : error
  return new DiskFault(cause.words, cause.isFull ? 13 : error.errcode)
}
