/** What the product takes from Node besides files: random bytes, intervals and the ID of the process. */

import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { randomInt, seededRandom } from '../../bench/world/random.ts'
import { SYSTEM_TIMERS } from '../../src/api/http/timers.ts'

/**
 * Makes them the same in each run of a seed. `pass`: lets the time pass that a call waits, in milliseconds. Returns the
 * function that ends that.
 */
export function simulateEnvironment(seed: number, pass: (milliseconds: number) => void): () => void {
  const random = seededRandom(seed, 0, 5)
  const { randomBytes, randomUUID } = crypto
  const { setInterval } = globalThis
  const pid = Object.getOwnPropertyDescriptor(process, 'pid')!
  const bytes = (count: number): Buffer => Buffer.from(Array.from({ length: count }, () => randomInt(random, 256)))
  Object.assign(crypto, {
    randomBytes: bytes,
    randomUUID: () =>
      bytes(16)
        .toString('hex')
        .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
  })
  syncBuiltinESMExports()
  const { wait } = SYSTEM_TIMERS
  SYSTEM_TIMERS.wait = async (milliseconds) => {
    pass(milliseconds)
    await nextTurn()
  }
  const timer = { unref: () => timer, ref: () => timer }
  Object.assign(globalThis, { setInterval: () => timer })
  return () => {
    Object.assign(crypto, { randomBytes, randomUUID })
    syncBuiltinESMExports()
    Object.assign(globalThis, { setInterval })
    SYSTEM_TIMERS.wait = wait
    Object.defineProperty(process, 'pid', pid)
  }
}
