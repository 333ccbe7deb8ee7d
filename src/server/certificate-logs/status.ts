/** How far the certificate logs were read, from the store: for the command and for metrics. */

import { type FollowedState, parseFollowedState } from '../../fetch/ct/stored-state.ts'
import type { Store } from '../../store/port/store.ts'
import type { Instant } from '../../values/time.ts'

/**
 * The status of a log. `position`, `size`: entries read, and entries of its last head; null before the first. `lag`:
 * seconds that the newest name may be late; null before the first entry. `problem`: why the log is left out.
 */
export type LogStatus = {
  url: string
  position: number | null
  size: number | null
  lag: number | null
  entries: number
  newNames: number
  lastSuccess: Instant | null
  problem: string | null
  holder: string | null
}

export async function readLogStatus({
  certificateLogs,
  now,
}: Pick<Store, 'certificateLogs' | 'now'>): Promise<LogStatus[]> {
  const at = await now()
  return (await certificateLogs.list()).map(({ url, state: text, savedAt, problem, holder }) => {
    const state = parseFollowedState(text)
    return {
      url,
      position: state?.position ?? null,
      size: state?.head.size ?? null,
      lag: state === null ? null : lagOf(state, at),
      entries: state?.entries ?? 0,
      newNames: state?.newNames ?? 0,
      lastSuccess: savedAt,
      problem,
      holder,
    }
  })
}

/** If every entry of the last head was read, the time since that head was signed; else since the last entry. */
function lagOf({ position, head, newest }: FollowedState, now: Instant): number {
  return Math.max(0, now - (position < head.size ? newest : head.time))
}
