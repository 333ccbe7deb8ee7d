/** Concurrent calls of one account: 8 at once, the others in order, and not without limit. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../../../src/api/http/errors.ts'
import { AccountConcurrencyLimiter } from '../../../../src/api/http/limits/concurrency-limiter.ts'
import { makeWorld } from '../../../spec/world.ts'
import { createWorldApi } from '../../world-api.ts'

test('per account 8 calls run at once, and the next ones wait in order', async () => {
  const lanes = new AccountConcurrencyLimiter()
  const order: number[] = []
  for (let call = 0; call < 8; call++) assert.equal(lanes.acquire(1), null)
  const waiting = [8, 9].map((call) => lanes.acquire(1)?.then(() => order.push(call)))
  assert.equal(lanes.acquire(2), null)
  await Promise.resolve()
  assert.deepEqual(order, [])
  lanes.release(1)
  await waiting[0]
  assert.deepEqual(order, [8])
  lanes.release(1)
  await waiting[1]
  assert.deepEqual(order, [8, 9])
})

test('overloaded: 500 internal_error with Retry-After: 1', () => {
  const lanes = new AccountConcurrencyLimiter()
  for (let call = 0; call < 1_008; call++) void lanes.acquire(1)
  assert.throws(
    () => lanes.acquire(1),
    (refusal: ApiError) => {
      assert.ok(refusal instanceof ApiError)
      assert.deepEqual([refusal.status, refusal.key, refusal.retryAfter], [500, 'internal_error', 1])
      return true
    },
  )
  assert.equal(lanes.acquire(2), null)
  for (let call = 0; call < 1_008; call++) lanes.release(1)
})

test('one account never has more than 8 queries in the store, and all its calls are answered', async (t) => {
  const world = await makeWorld()
  const { token } = await world.account({ plan: 'basic' })
  const open = { now: 0, most: 0 }
  const eight = Promise.withResolvers<void>()
  const lookup = async () => {
    open.most = Math.max(open.most, ++open.now)
    if (open.now === 8) eight.resolve()
    await eight.promise
    await new Promise(setImmediate)
    open.now--
    return null
  }
  const { app } = await createWorldApi(world, {
    store: { ...world.store, facts: { ...world.store.facts, lookup } },
  })
  t.after(() => app.close())
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const ask = async () => (await fetch(`${address}/v1.0/lookup?token=${token}&query=a.example`)).status
  const statuses = await Promise.all(Array.from({ length: 64 }, ask))
  assert.deepEqual(new Set(statuses), new Set([404]))
  assert.equal(open.most, 8)
})
