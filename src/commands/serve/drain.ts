/** The end of a server without a lost request: answers are awaited, connections closed once they are idle, and none of them by a reset. */

import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import type { Front } from '../../api/front.ts'

/** Milliseconds for which idle connections stay open, so that a request already on its way is answered. */
const GRACE = 1_000
/** Milliseconds after which connections are closed under their answers. */
const PATIENCE = 20_000
/** Milliseconds between two looks at what is still open. */
const LOOK = 25
/** Milliseconds of a turn of the event loop in which everything that had come was read: then what seems idle is idle. */
const QUIET = 5
/** Milliseconds after which idle connections are closed though no turn is quiet. */
const RESTLESS = 5_000

/** Waits for answers, and closes what is idle; resolves when every connection is closed. */
export async function closeConnections(front: Front): Promise<void> {
  const began = performance.now()
  for (;;) {
    await sleep(LOOK)
    const passed = performance.now() - began
    if (front.open === 0) return
    if (passed > PATIENCE) return front.destroyAll()
    if (passed >= GRACE && ((await isQuiet()) || passed > RESTLESS)) front.closeIdle(GRACE)
  }
}

/** Lets sockets be read, and says whether that was done in no time. */
async function isQuiet(): Promise<boolean> {
  await turn()
  const before = performance.now()
  await turn()
  return performance.now() - before < QUIET
}
