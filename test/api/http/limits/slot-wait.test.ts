/** A call that waits for a slot of its account is rejected after 10 seconds, also if no slot ever becomes free. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ApiMetrics } from '../../../../src/api/http/metrics.ts'
import { makeWorld } from '../../../spec/world.ts'
import { until } from '../../../until.ts'
import { createWorldApi } from '../../world-api.ts'

const world = await makeWorld()
const { token } = await world.account({ plan: 'premium' })
const { token: other } = await world.account({ plan: 'premium' })

/** A server whose look-ups of `held.example` end with the test. `asked` is their number. */
async function serve(t: TestContext) {
  const gate = Promise.withResolvers<null>()
  const state = { ticks: 0, asked: 0 }
  const metrics = new ApiMetrics()
  const lookup: typeof world.store.facts.lookup = (name, ...rest) => {
    if (name !== 'held.example') return world.store.facts.lookup(name, ...rest)
    state.asked++
    return gate.promise
  }
  const { app } = await createWorldApi(world, {
    store: { ...world.store, facts: { ...world.store.facts, lookup } },
    monotonicMs: () => state.ticks,
    metrics,
  })
  t.after(() => {
    gate.resolve(null)
    return app.close()
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const ask = (query: string, of = token) =>
    fetch(`${url}/v1.0/lookup`, { method: 'POST', body: JSON.stringify({ token: of, query }) })
  /** The result of a request that waits, while time passes. */
  const afterWait = async <Result>(waiting: Promise<Result>): Promise<Result> => {
    let isDone = false
    const result = waiting.finally(() => {
      isDone = true
    })
    await until(() => {
      state.ticks += 1_000
      return isDone
    })
    return result
  }
  return { url, state, metrics, ask, afterWait, end: () => gate.resolve(null) }
}

test('a call behind eight that never end gets a 500 with Retry-After, and other accounts are answered', async (t) => {
  const { state, metrics, ask, afterWait } = await serve(t)
  for (let call = 0; call < 8; call++) void ask('held.example')
  await until(() => state.asked === 8)
  const waiting = ask('one.example')
  assert.equal((await ask('one.example', other)).status, 404)
  const response = await afterWait(waiting)
  assert.deepEqual([response.status, response.headers.get('retry-after')], [500, '1'])
  assert.match(await response.text(), /"error":"internal_error".*read their responses/)
  assert.match(await metrics.registry.metrics(), /domaindex_requests_rejected_total\{reason="account_calls"\} 1/)
})

test('a line of a batch behind eight that never end is a 500, and the batch ends', async (t) => {
  const { url, state, end, afterWait } = await serve(t)
  const send = (lines: string[]) =>
    fetch(`${url}/batch`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}` },
      body: lines.map((query) => `${JSON.stringify({ endpoint: 'lookup', query })}\n`).join(''),
    })
  const held = send(Array.from({ length: 8 }, () => 'held.example')).then((response) => response.text())
  await until(() => state.asked === 8)
  const waiting = send(['one.example']).then((response) => response.text())
  assert.match(await afterWait(waiting), /^\{"status":500,"body":\{.*"error":"internal_error"/)
  end()
  assert.equal((await held).split('\n').length, 9)
})
