/** Listens for SIGINT and SIGTERM: the first one asks a process to stop, a second one to end at once. */

import { constants } from 'node:os'

const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const
export type StopSignal = (typeof STOP_SIGNALS)[number]

/**
 * Signals that arrive within this many milliseconds of the first one belong to it. A signal to the process group
 * arrives several times: from its sender, from the launcher that forwards it, and because a parent has ended.
 */
const SAME_REQUEST_MS = 1_000

/**
 * Calls `onFirst` at the first signal. A second one ends this process at once. Returns a function that stops listening.
 */
export function listenForStopSignals(onFirst: (name: StopSignal) => void): () => void {
  let firstAt: number | null = null
  const onSignal = (name: NodeJS.Signals): void => {
    if (firstAt === null) {
      firstAt = performance.now()
      onFirst(name as StopSignal)
    } else if (performance.now() - firstAt >= SAME_REQUEST_MS) process.exit(128 + constants.signals[name])
  }
  for (const name of STOP_SIGNALS) process.on(name, onSignal)
  return () => {
    for (const name of STOP_SIGNALS) process.off(name, onSignal)
  }
}
