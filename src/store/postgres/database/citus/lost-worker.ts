/** A worker of Citus that is unavailable: how the coordinator reports it, and how long a call waits for it. */

import { setTimeout as sleep } from 'node:timers/promises'

/** Where the messages of Citus name the worker. They end with the error of the connection, in any language. */
const WORKER_PATTERNS = [
  /^connection to the remote node (?:\S+@)?(\S+:\d+) failed/,
  /^could not establish any connections to the node (\S+:\d+) /,
  /^(?:connection error|failure on connection marked as essential): (\S+:\d+)$/,
  /^failed to COPY to shard \d+ on (\S+:\d+)$/i,
]
/** The context of an error that a worker reported, or that ended the connection to it. */
const WORKER_CONTEXT = /\bwhile executing command on (\S+:\d+)/
/** Codes of a server that shuts down, starts or lost a connection, and messages of libpq, which have no such code. */
const LOST_CODE = /^(08\w{3}|57P0[1-5])$/
const LOST_MESSAGE = /^(server closed the connection|no connection to the server|could not (receive|send) data)/

/** Milliseconds for which a call waits for a worker: as long as for a lost database. */
const WORKER_RETRY_MS = 10_000
const WORKER_RETRY_DELAY_MS = 100

type ServerError = { code?: unknown; message?: unknown; where?: unknown }

/**
 * Returns host and port of the worker that an error of the coordinator blames; null if the error has another cause. The
 * connection to the coordinator remains usable.
 */
export function lostWorkerOf(error: unknown): string | null {
  const { code, message, where } = error as ServerError
  if (typeof code !== 'string' || typeof message !== 'string') return null
  for (const pattern of WORKER_PATTERNS) {
    const worker = pattern.exec(message)?.[1]
    if (worker !== undefined) return worker
  }
  const isLost = LOST_CODE.test(code) || LOST_MESSAGE.test(message)
  return (isLost && WORKER_CONTEXT.exec(String(where ?? ''))?.[1]) || null
}

/** An outage of a worker ends if no call has met it for this time: longer than a try of an unreachable machine. */
const OUTAGE_END_MS = 7_000

/** When a worker was first and last found away, in milliseconds of the process. */
type Outage = { since: number; last: number }
const outages = new Map<string, Outage>()

/**
 * Returns a function for the errors of one call. If a worker is lost and the call may wait for it, the function waits
 * for a moment and returns true: try again. All calls wait for the same outage: those that come after its first
 * `retryMilliseconds` try once. Otherwise they would keep the connections and slots that other calls need.
 */
export function workerRetries(
  retryMilliseconds = WORKER_RETRY_MS,
  known = outages,
  now = () => performance.now(),
): (error: unknown) => Promise<boolean> {
  return async (error) => {
    const worker = lostWorkerOf(error)
    if (worker === null) return false
    const time = now()
    const outage = known.get(worker)
    const since = outage !== undefined && time - outage.last < OUTAGE_END_MS ? outage.since : time
    known.set(worker, { since, last: time })
    if (time >= since + retryMilliseconds) return false
    await sleep(WORKER_RETRY_DELAY_MS)
    return true
  }
}
