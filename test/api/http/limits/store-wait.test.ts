/** Store wait: time in which the store ends no call of an account does not count as overload. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { connectionOf } from '../../../../src/api/http/connection.ts'
import { ConnectionManager } from '../../../../src/api/http/connection-manager.ts'
import { ApiError } from '../../../../src/api/http/errors.ts'
import { AccountConcurrencyLimiter } from '../../../../src/api/http/limits/concurrency-limiter.ts'
import { rejectIfWaitedTooLong } from '../../../../src/api/http/limits/overload.ts'
import { ApiMetrics } from '../../../../src/api/http/metrics.ts'
import { until } from '../../../until.ts'

test('a call waits for the store while no call of its account ends for more than 50 milliseconds', async () => {
  const clock = { now: 0 }
  const limiter = new AccountConcurrencyLimiter({ maxInFlight: 1, maxWaiting: 10, maxWaitMs: 10_000 }, () => clock.now)
  assert.equal(limiter.acquire(1), null)
  const waiting = [limiter.acquire(1), limiter.acquire(1), limiter.acquire(1)]
  for (const at of [51, 101, 1_101]) {
    clock.now = at
    limiter.release(1)
  }
  assert.deepEqual(await Promise.all(waiting), [51, 51, 1_051])
})

test('of many requests, one that has waited for more than a second, besides its store wait, is rejected', async (t) => {
  const clock = { ticks: 0 }
  const requests: IncomingMessage[] = []
  const server = createServer((request) => void requests.push(request))
  const manager = new ConnectionManager(server, () => clock.ticks, null)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const clients = Array.from({ length: 120 }, () => connect(port, '127.0.0.1').on('error', () => {}))
  t.after(() => {
    for (const client of clients) client.destroy()
    manager.close()
    server.close()
  })
  for (const client of clients) client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await until(() => requests.length === clients.length)
  const context = { metrics: new ApiMetrics(), monotonicMs: () => clock.ticks }
  const judge = (storeWait: number) => () => rejectIfWaitedTooLong(context, { raw: requests[0] } as never, storeWait)
  const { arrivedAt } = connectionOf(requests[0]!.socket)!.load // estimated, so it can be before 0
  clock.ticks = arrivedAt + 1_000
  judge(0)()
  clock.ticks = arrivedAt + 1_500
  assert.throws(judge(0), ApiError)
  assert.throws(judge(499), ApiError)
  judge(500)()
})
