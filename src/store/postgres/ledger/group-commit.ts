/** Group commit: calls that come while a process writes are written together in its next transaction. */

import type { Instant } from '../../../values/time.ts'
import { StoreFault } from '../../port/fault.ts'

/** Writes calls in one transaction, at one time (null: the server's); tells what came of each, in their order. */
type WriteGroup<Call> = (calls: readonly Call[], now: Instant | null) => Promise<readonly unknown[]>

type QueuedCall<Call> = {
  call: Call
  now: Instant | null
  resolve: (value: unknown) => void
  reject: (why: unknown) => void
}

export function groupCommit<Call>(write: WriteGroup<Call>) {
  const waiting: QueuedCall<Call>[] = []
  let writing: Promise<void> | null = null

  async function writeAll(): Promise<void> {
    await new Promise(setImmediate) // what this turn of the event loop still brings is written with it
    while (waiting.length > 0) await writeSome()
    writing = null
  }

  /** All that wait and are of one time. */
  async function writeSome(): Promise<void> {
    const { now } = waiting[0]!
    const other = waiting.findIndex((each) => each.now !== now)
    const taken = waiting.splice(0, other < 0 ? waiting.length : other)
    try {
      const values = await write(
        taken.map(({ call }) => call),
        now,
      )
      for (const [index, { resolve }] of taken.entries()) resolve(values[index])
    } catch (error) {
      // those that came meanwhile have waited as well, and would wait as long again
      const others = error instanceof StoreFault ? waiting.splice(0) : []
      for (const { reject } of [...taken, ...others]) reject(error)
    }
  }

  return {
    /** Resolves with what came of the call. */
    send: (call: Call, now: Instant | null): Promise<unknown> =>
      new Promise((resolve, reject) => {
        waiting.push({ call, now, resolve, reject })
        writing ??= writeAll()
      }),
    /** Resolves when nothing waits to be written. */
    idle: async (): Promise<void> => void (await writing),
  }
}
