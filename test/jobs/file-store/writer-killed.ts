/** A process that publishes a file and is killed, without warning, before the step with the given number. */

import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { bytes, description, NAME, pieces } from './conformance.ts'

const [folder = '', last = ''] = process.argv.slice(2)
let steps = 0

/** Wraps a function so that the process dies before the given step. */
function counted<Given extends unknown[], Result>(work: (...given: Given) => Result) {
  return function (this: unknown, ...given: Given): Result {
    if (++steps === Number(last)) process.kill(process.pid, 'SIGKILL')
    return work.apply(this, given)
  }
}

type Functions = Record<string, (...given: unknown[]) => unknown>

const handle = await promises.open(import.meta.filename)
const methods: Functions = Object.getPrototypeOf(handle)
await handle.close()
for (const name of ['write', 'sync', 'datasync', 'close']) methods[name] = counted(methods[name]!)
const functions = promises as unknown as Functions
for (const name of ['open', 'rename', 'rm', 'mkdir']) functions[name] = counted(functions[name]!)
syncBuiltinESMExports()

const { openFolderFileStore: openFileStoreFolder } = await import('../../../src/jobs/file-store/folder.ts')
const source = pieces(bytes(100_000, 2), bytes(100_000, 2), bytes(100_000, 2))
await openFileStoreFolder(folder).publish(NAME, source, () => description())
console.log(steps)
