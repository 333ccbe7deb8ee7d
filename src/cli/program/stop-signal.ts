/** Handles SIGINT and SIGTERM: the first one stops a command gracefully, a second one ends it at once. */

const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** Starts listening. `end` stops listening and, if a signal arrived, ends the process with it as the sender expects. */
export function listenForStop() {
  const controller = new AbortController()
  let received: NodeJS.Signals | null = null
  const stop = (name: NodeJS.Signals): void => {
    received = name
    ignore()
    controller.abort()
  }
  const ignore = (): void => {
    for (const name of STOP_SIGNALS) process.off(name, stop)
  }
  for (const name of STOP_SIGNALS) process.on(name, stop)
  return {
    signal: controller.signal,
    end(): void {
      ignore()
      if (received !== null) process.kill(process.pid, received)
    },
  }
}
