/** Handles SIGINT and SIGTERM: the first one stops a command gracefully, a second one ends it at once. */

import { listenForStopSignals, type StopSignal } from '../../server/stop-signals.ts'

/** Starts listening. `end` stops listening and, if a signal arrived, ends the process with it as the sender expects. */
export function listenForStop() {
  const controller = new AbortController()
  let received: StopSignal | null = null
  const ignore = listenForStopSignals((name) => {
    received = name
    controller.abort()
  })
  return {
    signal: controller.signal,
    end(): void {
      ignore()
      if (received !== null) process.kill(process.pid, received)
    },
  }
}
