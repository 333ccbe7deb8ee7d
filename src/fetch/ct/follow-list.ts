/** Follows the logs of a list, and reads the list again each day: logs come and go. */

import { followLogs, type LogFollowing } from './follow-logs.ts'
import type { CertificateLog } from './log.ts'

export type ListFollowing = Omit<LogFollowing, 'logs'> & {
  /** Returns the logs to follow. Its first failure ends the following; later ones leave the logs as they are. */
  readLogs(): Promise<CertificateLog[]>
  /** Called if the list cannot be read again. */
  onListProblem(error: Error): void
  /** Milliseconds after which the list is read again. By default a day. */
  rereadMs?: number
}

const REREAD_MS = 86_400_000

/** Follows until the signal, or once. Rejects if the first list or the store fails. */
export async function followListedLogs(following: ListFollowing): Promise<void> {
  const { readLogs, onListProblem, rereadMs = REREAD_MS, isOnce, wait, signal } = following
  let logs = await readLogs()
  if (isOnce) return followLogs({ ...following, logs })
  while (!signal.aborted) {
    const round = new AbortController()
    const both = AbortSignal.any([signal, round.signal])
    const isOver = wait(rereadMs, both).catch(() => {})
    const reading = followLogs({ ...following, logs, signal: both })
    try {
      await Promise.race([isOver, reading.then(() => isOver)])
    } finally {
      round.abort()
    }
    await reading
    if (signal.aborted) return
    logs = await readLogs().catch((error: Error) => {
      onListProblem(error)
      return logs
    })
  }
}
