/** Drains a worker: waits for its responses, and closes its connections when they are idle, without a reset. */

import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises'
import type { ConnectionManager } from '../../api/http/connection-manager.ts'

/** Milliseconds for which idle connections stay open, so that a request already on its way is answered. */
const IDLE_GRACE_MS = 1_000
/** Milliseconds after which all connections are closed, even during a response. */
const DRAIN_TIMEOUT_MS = 20_000
/** Milliseconds between two checks for open connections. */
const DRAIN_CHECK_MS = 25
/** If an iteration of the event loop takes less, all data that had arrived was read, and idle connections are idle. */
const QUIET_TICK_MS = 5
/** Milliseconds after which idle connections are closed even if no iteration is quiet. */
const MAX_BUSY_MS = 5_000

/** Waits for responses and closes idle connections. Resolves when every connection is closed. */
export async function drainConnections(connections: ConnectionManager): Promise<void> {
  const startedAt = performance.now()
  for (;;) {
    await sleep(DRAIN_CHECK_MS)
    const passed = performance.now() - startedAt
    if (connections.openConnections === 0) return
    if (passed > DRAIN_TIMEOUT_MS) return connections.destroyAll()
    if (passed >= IDLE_GRACE_MS && ((await isEventLoopQuiet()) || passed > MAX_BUSY_MS))
      connections.closeIdle(IDLE_GRACE_MS)
  }
}

/** Lets the event loop read sockets, and returns whether that took less than QUIET_TICK_MS. */
async function isEventLoopQuiet(): Promise<boolean> {
  await immediate()
  const startedAt = performance.now()
  await immediate()
  return performance.now() - startedAt < QUIET_TICK_MS
}
