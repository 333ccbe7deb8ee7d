/** Which of the finished files an account may fetch: the rules of /daily and /snapshot. */

import { dailyAccess } from '../../../accounts/daily-access.ts'
import { type FileManifest, snapshotEditionOf } from '../../../jobs/file-store/file-store.ts'
import type { Caller } from '../../auth/authenticator.ts'
import { missingAddon } from '../../endpoints/snapshot.ts'
import { ApiError } from '../../errors.ts'

/** Whether an account may fetch a file. */
export function mayFetchFile(
  { account, today }: Pick<Caller, 'account' | 'today'>,
  { kind, date }: Pick<FileManifest, 'kind' | 'date'>,
): boolean {
  const edition = snapshotEditionOf(kind)
  if (edition !== null) return missingAddon(account, edition) === null
  const access = dailyAccess(account, date, today)
  return access.state === 'allowed' && (kind === 'daily' || access.plan === 'premium')
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
