/** The ledger's writes as calls that can be gathered and sent, and their execution, many in one transaction. */

import type { DatabaseSync } from 'node:sqlite'
import type { Instant } from '../../../words/time.ts'
import { isOfDisk } from '../../fault.ts'
import { transaction } from '../connection.ts'
import { accountWrites } from './accounts.ts'
import { budgetWrites } from './budget.ts'
import { proofWrite } from './file.ts'
import { writeWithReserve } from './reserve.ts'
import { secretWrites } from './secrets.ts'
import { tokenWrites } from './tokens.ts'
import { usageWrites } from './usage.ts'
import { wishWrites } from './wishes.ts'

const writesOf = (database: DatabaseSync) => ({
  ...accountWrites(database),
  ...tokenWrites(database),
  ...budgetWrites(database),
  ...usageWrites(database),
  ...secretWrites(database),
  ...wishWrites(database),
  ...proofWrite(database),
})

/** Every write, by name; the first argument of each is the time. */
export type Writes = ReturnType<typeof writesOf>

export type Arguments<Method extends keyof Writes> = Writes[Method] extends (
  now: Instant,
  ...rest: infer Rest
) => unknown
  ? Rest
  : never

/** Sends a write to the pen. Without `now` the time is that at which it gets there. */
export type Write = <Method extends keyof Writes>(
  method: Method,
  values: Arguments<Method>,
  now?: Instant | null,
) => Promise<ReturnType<Writes[Method]>>

/** A write under way: plain JSON. `now` null is the time at which the process that has the pen gets it. */
export type Call = { method: keyof Writes; values: readonly unknown[]; now: Instant | null }

/** What came of a call: plain JSON too. */
export type Reply = { value: unknown } | { fault: Fault }
type Fault = { message: string; stack?: string | undefined; errcode?: number | undefined }

/** Where calls go: replies come in their order, once what they wrote is durable. */
export type Writer = { send(calls: readonly Call[]): Promise<readonly Reply[]>; close(): Promise<void> }

/** `path`: that of the ledger. Runs calls in one transaction; a call that fails takes nothing but itself back. Throws where nothing was written. */
export function executor(database: DatabaseSync, path: string): (calls: readonly Call[]) => Reply[] {
  const writes = writesOf(database) as Record<string, (now: Instant, ...values: readonly unknown[]) => unknown>
  const [begin, undo, end] = ['savepoint call', 'rollback to call', 'release call'].map((sql) => database.prepare(sql))
  const run = ({ method, values, now }: Call): Reply => {
    begin!.run()
    try {
      const value = writes[method]!(now!, ...values)
      end!.run()
      return { value }
    } catch (error) {
      if (!database.isTransaction || isOfDisk(error)) throw error // nothing of what came with it can be written either
      undo!.run()
      end!.run()
      return { fault: faultOf(error) }
    }
  }
  return (calls) => writeWithReserve(database, path, () => transaction(database, () => calls.map(run)))
}

/** The replies of calls; where the whole transaction failed, that is each one's fault. */
export function replies(execute: (calls: readonly Call[]) => Reply[], calls: readonly Call[]): Reply[] {
  try {
    return execute(calls)
  } catch (error) {
    const fault = faultOf(error)
    return calls.map(() => ({ fault }))
  }
}

/** An error in a form that passes through every channel. */
export function faultOf(error: unknown): Fault {
  const { message, stack, errcode } = error as Error & { errcode?: number }
  return { message, stack, errcode }
}

/** The value of a reply; throws its fault. */
export function outcome(reply: Reply): unknown {
  if (!('fault' in reply)) return reply.value
  const { message, stack, errcode } = reply.fault
  throw Object.assign(new Error(message), { stack, errcode })
}

/** Calls whose time is not said get the time of the process that has the pen. */
export function stamped(calls: readonly Call[], now: () => Instant): Call[] {
  return calls.map((call) => (call.now === null ? { ...call, now: now() } : call))
}

/** Gathers the calls of one turn of the event loop and sends them together. */
export function gather(writer: Writer): (call: Call) => Promise<unknown> {
  let waiting: { call: Call; resolve: (reply: Reply) => void; reject: (error: unknown) => void }[] = []
  const send = async (): Promise<void> => {
    const sent = waiting
    waiting = []
    try {
      const replies = await writer.send(sent.map(({ call }) => call))
      for (const [index, { resolve }] of sent.entries()) resolve(replies[index]!)
    } catch (error) {
      for (const { reject } of sent) reject(error)
    }
  }
  return async (call) => {
    const reply = await new Promise<Reply>((resolve, reject) => {
      if (waiting.push({ call, resolve, reject }) === 1) setImmediate(send)
    })
    return outcome(reply)
  }
}
