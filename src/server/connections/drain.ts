/** The end of a server without a lost request: answers are awaited, connections closed once they are idle, and none of them by a reset. */

import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import type { ConnectionManager } from '../../api/http/connection-manager.ts'

/** Milliseconds for which idle connections stay open, so that a request already on its way is answered. */
const IDLE_GRACE_MS = 1_000
/** Milliseconds after which connections are closed under their answers. */
const DRAIN_TIMEOUT_MS = 20_000
/** Milliseconds between two looks at what is still open. */
const DRAIN_CHECK_MS = 25
/** Milliseconds of a turn of the event loop in which everything that had come was read: then what seems idle is idle. */
const QUIET_TICK_MS = 5
/** Milliseconds after which idle connections are closed though no turn is quiet. */
const MAX_BUSY_MS = 5_000

/** Waits for answers, and closes what is idle; resolves when every connection is closed. */
export async function drainConnections(connections: ConnectionManager): Promise<void> {
  const began = performance.now()
  for (;;) {
    await sleep(DRAIN_CHECK_MS)
    const passed = performance.now() - began
    if (connections.openConnections === 0) return
    if (passed > DRAIN_TIMEOUT_MS) return connections.destroyAll()
    if (passed >= IDLE_GRACE_MS && ((await isEventLoopQuiet()) || passed > MAX_BUSY_MS))
      connections.closeIdle(IDLE_GRACE_MS)
  }
}

/** Lets sockets be read, and says whether that was done in no time. */
async function isEventLoopQuiet(): Promise<boolean> {
  await turn()
  const before = performance.now()
  await turn()
  return performance.now() - before < QUIET_TICK_MS
}
