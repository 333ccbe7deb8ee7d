/** Calls of one account in flight: 8 at once, the others in their order, and not without end. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { buildApi } from '../../src/api/api.ts'
import { Refusal } from '../../src/api/errors.ts'
import { Lanes } from '../../src/api/lanes.ts'
import { Metrics } from '../../src/api/metrics.ts'
import { openRetrieval } from '../../src/retrieval/retrieval.ts'
import { makeWorld } from '../spec/world.ts'

test('per account 8 calls are in flight; the next ones wait in their order', async () => {
  const lanes = new Lanes()
  const order: number[] = []
  for (let call = 0; call < 8; call++) assert.equal(lanes.enter(1), null)
  const waiting = [8, 9].map((call) => lanes.enter(1)?.then(() => order.push(call)))
  assert.equal(lanes.enter(2), null)
  await Promise.resolve()
  assert.deepEqual(order, [])
  lanes.leave(1)
  await waiting[0]
  assert.deepEqual(order, [8])
  lanes.leave(1)
  await waiting[1]
  assert.deepEqual(order, [8, 9])
})

test('overloaded: 500 internal_error with Retry-After: 1', () => {
  const lanes = new Lanes()
  for (let call = 0; call < 1_008; call++) void lanes.enter(1)
  assert.throws(
    () => lanes.enter(1),
    (refusal: Refusal) => {
      assert.ok(refusal instanceof Refusal)
      assert.deepEqual([refusal.status, refusal.key, refusal.retryAfter], [500, 'internal_error', 1])
      return true
    },
  )
  assert.equal(lanes.enter(2), null)
})

test('one account never has more than 8 questions open at the store, and all its calls are answered', async (t) => {
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
  const { app } = await buildApi({
    retrieval: openRetrieval(world.store),
    shelf: world.shelf,
    store: { facts: { ...world.store.facts, lookup }, ledger: world.store.ledger },
    settings: { cors: '*', trustedProxies: [] },
    now: () => world.clock.now,
    log: pino({ level: 'silent' }),
    metrics: new Metrics(),
  })
  t.after(() => app.close())
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const ask = async () => (await fetch(`${address}/v1.0/lookup?token=${token}&query=a.example`)).status
  const statuses = await Promise.all(Array.from({ length: 64 }, ask))
  assert.deepEqual(new Set(statuses), new Set([404]))
  assert.equal(open.most, 8)
})
