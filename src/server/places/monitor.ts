/** Monitors the places for files, so that a server with a wrong place is not ready. */

import { FileStoreFault } from '../../jobs/file-store/build-fault.ts'
import { errorText } from '../../jobs/job-lock.ts'

export type PlaceMonitor = {
  /** Whether the last check found all places right. False until a check has ended. */
  areRight(): boolean
  close(): void
}

type PlaceEvents = {
  /** Receives a line for each wrong place; none when all are right again. */
  onChange(faults: readonly string[]): void
  /** A check failed, and the result of the one before counts. Called once while checks fail for the same reason. */
  onFailure(reason: string): void
}

/** Milliseconds between two checks. */
const CHECK_INTERVAL_MS = 10_000

const NO_EVENTS: PlaceEvents = { onChange() {}, onFailure() {} }

/**
 * Checks the places once, and then every CHECK_INTERVAL_MS. A check that throws, because the store or a place does not
 * respond, leaves the last result. If there is none, or if only a change of settings or rights helps, the places count as
 * wrong.
 */
export async function monitorPlaces(
  check: () => Promise<string[]>,
  { onChange, onFailure }: PlaceEvents = NO_EVENTS,
): Promise<PlaceMonitor> {
  let wasChecked = false
  let faults = ''
  let failure = ''
  const report = (found: readonly string[]): void => {
    if (found.join('\n') === faults) return
    faults = found.join('\n')
    onChange(found)
  }
  const update = async (): Promise<void> => {
    try {
      report(await check())
      wasChecked = true
      failure = ''
    } catch (error) {
      const reason = errorText(error)
      if (!wasChecked || (error instanceof FileStoreFault && error.isLasting)) report([reason])
      else if (reason !== failure) onFailure(reason)
      failure = reason
    }
  }
  await update()
  const timer = setInterval(() => void update(), CHECK_INTERVAL_MS).unref()
  return { areRight: () => faults === '', close: () => clearInterval(timer) }
}
