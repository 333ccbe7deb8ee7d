/** Stopping by SIGINT or SIGTERM: the first one asks a command to end in order, a second one ends it at once. */

const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** Listens from now on; `end` stops listening and, where a signal came, ends the process by it as its sender expects. */
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
