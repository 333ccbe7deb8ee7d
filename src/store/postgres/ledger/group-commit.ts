/** Group commit: calls that arrive while a process writes are written together in its next transaction. */

import type { Instant } from '../../../values/time.ts'
import { StoreFault } from '../../port/fault.ts'

/** Writes calls in one transaction, at one time (null: the server's). Returns the result of each, in their order. */
type WriteGroup<Call> = (calls: readonly Call[], now: Instant | null) => Promise<readonly unknown[]>

type QueuedCall<Call> = {
  call: Call
  now: Instant | null
  resolve: (value: unknown) => void
  reject: (reason: unknown) => void
}

export function groupCommit<Call>(write: WriteGroup<Call>) {
  const queued: QueuedCall<Call>[] = []
  let writing: Promise<void> | null = null

  async function writeAll(): Promise<void> {
    await new Promise(setImmediate) // the calls of the rest of this turn of the event loop are written too
    while (queued.length > 0) await writeBatch()
    writing = null
  }

  /** Writes all queued calls with the same time. */
  async function writeBatch(): Promise<void> {
    const { now } = queued[0]!
    const other = queued.findIndex((queuedCall) => queuedCall.now !== now)
    const batch = queued.splice(0, other < 0 ? queued.length : other)
    try {
      const values = await write(
        batch.map(({ call }) => call),
        now,
      )
      for (const [index, { resolve }] of batch.entries()) resolve(values[index])
    } catch (error) {
      // calls that arrived meanwhile have waited as long, and would wait as long again
      const rest = error instanceof StoreFault ? queued.splice(0) : []
      for (const { reject } of [...batch, ...rest]) reject(error)
    }
  }

  return {
    /** Resolves with the result of the call. */
    send: (call: Call, now: Instant | null): Promise<unknown> =>
      new Promise((resolve, reject) => {
        queued.push({ call, now, resolve, reject })
        writing ??= writeAll()
      }),
    /** Resolves when all queued calls are written. */
    idle: async (): Promise<void> => void (await writing),
  }
}
