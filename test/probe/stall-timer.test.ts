/** Timeouts that do not count the time in which this process itself stalled. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { test } from 'node:test'
import { setStallTolerantTimeout, stallAdjustedNow } from '../../src/probe/stall-timer.ts'

const SOON = 20
const PAUSE = 100

/** Blocks this process. The operating system still handles its connections. */
const standStill = (milliseconds: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)

test('data that arrived while the process stalled is read before the timeout', async () => {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const received = await new Promise((resolve) => {
    const stop = setStallTolerantTimeout(SOON, () => resolve('nothing'))
    socket.once('connect', () => {
      stop()
      resolve('the connection')
    })
    setImmediate(() => standStill(PAUSE))
  })
  socket.destroy()
  server.close()
  assert.equal(received, 'the connection')
})

test('if nothing arrives, the timeout occurs', async () => {
  await new Promise<void>((resolve) => {
    setStallTolerantTimeout(1, resolve)
  })
})

test('a stopped timer never fires, even between its time and its call', async () => {
  const calls: string[] = []
  const stopEarly = setStallTolerantTimeout(SOON, () => calls.push('stopped before its time'))
  const stopLate = setStallTolerantTimeout(SOON, () => calls.push('stopped after its time'))
  stopEarly()
  await new Promise<void>((resolve) => {
    setTimeout(() => {
      stopLate()
      setImmediate(resolve)
    }, SOON)
    setImmediate(() => standStill(PAUSE)) // so that both timers expire in one iteration
  })
  assert.deepEqual(calls, [])
})

test('a timer is extended by the time for which the process stalled, and the fair clock stops during it', async () => {
  const calls: string[] = []
  const began = stallAdjustedNow()
  const ended = new Promise<void>((resolve) => {
    setStallTolerantTimeout(10 * SOON, () => {
      calls.push('late')
      resolve()
    })
  })
  for (let pause = 0; pause < 3; pause++) {
    await new Promise(setImmediate)
    standStill(2 * PAUSE)
    await new Promise(setImmediate)
  }
  assert.deepEqual(calls, [], 'though its time was over long ago')
  assert.ok(stallAdjustedNow() - began < 10 * SOON)
  await ended
})
