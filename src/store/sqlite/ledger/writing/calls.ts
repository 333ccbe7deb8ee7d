/** The ledger's writes as calls that can be queued and sent, and their execution, many in one transaction. */

import type { DatabaseSync } from 'node:sqlite'
import type { Instant } from '../../../../values/time.ts'
import type { LedgerWrite } from '../../../ledger/session.ts'
import { writeTransaction } from '../../database/connection.ts'
import { faultOf, isDiskError, type SerializedFault, serializeFault } from '../../database/errors.ts'
import { sqliteBudgetWrites } from '../budget.ts'
import { crawlRequestWrites } from '../crawl-requests.ts'
import { probeWrite } from '../file.ts'
import { sqliteLedgerMethods } from '../session.ts'
import { writeWithReserve } from './disk-reserve.ts'

/**
 * The shared transactions, and the writes that this engine does in its own way. The first argument of each is the time.
 */
const sqliteWriteMethods = (database: DatabaseSync) => ({
  ...sqliteLedgerMethods(database),
  ...sqliteBudgetWrites(database),
  ...crawlRequestWrites(database),
  ...probeWrite(database),
})

export type SqliteWriteMethods = ReturnType<typeof sqliteWriteMethods>

/** Sends a write to the process that writes the ledger. Without `now`, its time of arrival is used. */
export type SqliteLedgerWrite = LedgerWrite<SqliteWriteMethods>

/**
 * A write as values that a thread can be sent. `now` null: the time at which it reaches the process that writes the
 * ledger.
 */
export type LedgerCall = { method: keyof SqliteWriteMethods; values: readonly unknown[]; now: Instant | null }

/** The result of a call as plain JSON. */
export type LedgerCallResult = { value: unknown } | { fault: SerializedFault }

/** Executes calls. Replies arrive in the order of the calls, after their writes are durable. */
export type LedgerWriter = {
  send(calls: readonly LedgerCall[]): Promise<readonly LedgerCallResult[]>
  close(): Promise<void>
}

/**
 * Runs calls in one transaction. A failed call is rolled back alone. Throws if nothing was written. `path`: that of the
 * ledger.
 */
export function ledgerExecutor(
  database: DatabaseSync,
  path: string,
): (calls: readonly LedgerCall[]) => LedgerCallResult[] {
  const writes = sqliteWriteMethods(database) as Record<
    string,
    (now: Instant, ...values: readonly unknown[]) => unknown
  >
  const [begin, rollback, release] = ['savepoint call', 'rollback to call', 'release call'].map((sql) =>
    database.prepare(sql),
  )
  const run = ({ method, values, now }: LedgerCall): LedgerCallResult => {
    begin!.run()
    try {
      const value = writes[method]!(now!, ...values)
      release!.run()
      return { value }
    } catch (error) {
      if (!database.isTransaction || isDiskError(error)) throw error // the other calls cannot be written either
      rollback!.run()
      release!.run()
      return { fault: serializeFault(error) }
    }
  }
  return (calls) => writeWithReserve(database, path, () => writeTransaction(database, () => calls.map(run)))
}

/** The replies of calls. If the whole transaction failed, each reply is that fault. */
export function executeAll(
  execute: (calls: readonly LedgerCall[]) => LedgerCallResult[],
  calls: readonly LedgerCall[],
): LedgerCallResult[] {
  try {
    return execute(calls)
  } catch (error) {
    const fault = serializeFault(error)
    return calls.map(() => ({ fault }))
  }
}

/** The value of a reply. Throws its fault. */
export function resultOrThrow(reply: LedgerCallResult): unknown {
  if (!('fault' in reply)) return reply.value
  throw faultOf(reply.fault)
}

/** Calls without a time get the time of the process that writes the ledger. */
export function withTimestamps(calls: readonly LedgerCall[], now: () => Instant): LedgerCall[] {
  return calls.map((call) => (call.now === null ? { ...call, now: now() } : call))
}

/** Queues the calls of one iteration of the event loop and sends them together. */
export function batchPerTick(writer: LedgerWriter): (call: LedgerCall) => Promise<unknown> {
  let queued: { call: LedgerCall; resolve: (reply: LedgerCallResult) => void; reject: (error: unknown) => void }[] = []
  const send = async (): Promise<void> => {
    const sent = queued
    queued = []
    try {
      const replies = await writer.send(sent.map(({ call }) => call))
      for (const [index, { resolve }] of sent.entries()) resolve(replies[index]!)
    } catch (error) {
      for (const { reject } of sent) reject(error)
    }
  }
  return async (call) => {
    const reply = await new Promise<LedgerCallResult>((resolve, reject) => {
      if (queued.push({ call, resolve, reject }) === 1) setImmediate(send)
    })
    return resultOrThrow(reply)
  }
}
