/** The published files, and which of them an account may fetch. */

import { dailyAccess } from '../../accounts/daily-access.ts'
import { FILE_KINDS, type FileManifest, snapshotEditionOf } from '../../jobs/file-store/file-store.ts'
import { compareBytewise } from '../../values/bytewise-order.ts'
import type { Caller } from '../auth/authenticator.ts'
import type { FileList } from '../context/context.ts'
import { isFollowup } from '../endpoints/daily.ts'
import { missingAddon } from '../endpoints/snapshot.ts'
import { ApiError } from '../http/errors.ts'
import type { ReadableFileStore } from '../http/files/file-response.ts'

/** Milliseconds for which a list is used. A new file appears in it that much later. */
const FILE_LIST_MS = 5_000

/**
 * The list, kept for a moment: reading thousands of manifests for each request is too slow. Concurrent requests share one
 * reading. A failed one is not kept.
 */
export function cachedFileList(fileStore: Pick<ReadableFileStore, 'list'>, monotonicMs: () => number): FileList {
  let cached: { files: Promise<readonly FileManifest[]>; until: number } | null = null
  return () => {
    if (cached !== null && monotonicMs() < cached.until) return cached.files
    const reading = { files: readFiles(fileStore), until: monotonicMs() + FILE_LIST_MS }
    cached = reading
    reading.files.catch(() => {
      if (cached === reading) cached = null
    })
    return reading.files
  }
}

/** Reads the published files, in the order of a FileList. */
export async function readFiles(fileStore: Pick<ReadableFileStore, 'list'>): Promise<readonly FileManifest[]> {
  const kinds = await Promise.all(FILE_KINDS.map((kind) => fileStore.list(kind)))
  return kinds
    .flat()
    .filter(({ held }) => held === null)
    .sort(compareFiles)
}

/** A compare function for Array.sort: by date, then in the order of FILE_KINDS. */
export function compareFiles(a: Pick<FileManifest, 'date' | 'kind'>, b: Pick<FileManifest, 'date' | 'kind'>): number {
  return compareBytewise(a.date, b.date) || FILE_KINDS.indexOf(a.kind) - FILE_KINDS.indexOf(b.kind)
}

/** Whether an account may fetch a file: the rules of /daily and /snapshot. */
export function mayFetchFile(
  { account, today }: Pick<Caller, 'account' | 'today'>,
  { kind, date }: Pick<FileManifest, 'kind' | 'date'>,
): boolean {
  const edition = snapshotEditionOf(kind)
  if (edition !== null) return missingAddon(account, edition) === null
  const access = dailyAccess(account, date, today)
  return access.state === 'allowed' && (!isFollowup(kind) || access.plan === 'premium')
}

/** Whether a check throws no ApiError. */
export function isAuthorized(check: () => void): boolean {
  try {
    check()
    return true
  } catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}
