/**
 * A process that opens a store and is killed just before one of its steps. Arguments: location, options, the step. If the
 * options are null, it migrates the store instead.
 */

import { Socket } from 'node:net'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { migrateStore, openStore } from '../../../src/store/open.ts'

const [location, options, lastStep] = process.argv.slice(2).map((text) => JSON.parse(text))
let steps = 0

/** Counts the calls of a method, each of which is a step. */
function countCalls(owner: object, method: string): void {
  const original = Reflect.get(owner, method) as (...values: unknown[]) => unknown
  Reflect.set(owner, method, function (this: unknown, ...values: unknown[]) {
    if (++steps === lastStep) process.kill(process.pid, 'SIGKILL')
    return original.apply(this, values)
  })
}

countCalls(DatabaseSync.prototype, 'exec')
countCalls(StatementSync.prototype, 'run')
countCalls(Socket.prototype, 'write')
if (options === null) await migrateStore(location, false)
else await (await openStore(location, options)).close()
