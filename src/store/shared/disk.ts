/** Free space of disks, and errors of the file system. */

import { existsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { StoreFault } from '../port/fault.ts'
import { accessDeniedMessage } from './access.ts'

/** Reserved space: a share of the disk (0 to 1) or a number of bytes, whichever is less. Infinity is ignored. */
export type FreeSpace = { share: number; bytes: number }

/** Bytes of the file system of a path. */
export type DiskSpace = { free: number; total: number }

export const MEBIBYTE = 2 ** 20

/** Null if it is unknown. `path` need not exist. */
export async function diskSpaceAt(path: string): Promise<DiskSpace | null> {
  const { bavail, blocks, bsize } = (await statfs(nearestExisting(path)).catch(() => null)) ?? {}
  return bsize === undefined ? null : { free: bavail! * bsize, total: blocks! * bsize }
}

/** The path, or its nearest existing parent folder. */
export function nearestExisting(path: string): string {
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

/** The end of the message of a write that failed. */
export const NOT_WRITTEN_MESSAGE = 'what was not finished was not written'

/** The message for an error of the file system that a user can fix; null for any other. */
export function fileMessageOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  const { code, path } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC')
    return `${path === undefined ? 'the disk is full' : diskFullMessage(path)}; ${NOT_WRITTEN_MESSAGE}`
  if (code === 'EACCES' || code === 'EPERM')
    return path === undefined ? `${error.message}: permission denied` : accessDeniedMessage(path)
  if (code === 'EROFS') return `${path ?? error.message}: the file system is read-only`
  return null
}

export function diskFullMessage(path: string): string {
  return `no space is left on the disk of ${path}`
}

/** Whether no space was left, for a file of this process or for the store. */
export function isDiskFull(error: unknown): boolean {
  if (error instanceof StoreFault && error.isDiskFull) return true
  const { code, cause } = error as NodeJS.ErrnoException
  return code === 'ENOSPC' || (cause instanceof Error && isDiskFull(cause))
}
