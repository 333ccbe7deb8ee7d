/** Overload: requests that have waited for more than a second are rejected, unless few are in progress. */

import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { makeWorld } from '../../../spec/world.ts'
import { createWorldApi } from '../../world-api.ts'

const world = await makeWorld()
const { token } = await world.account({ plan: 'premium' })

/**
 * Sends, for this many milliseconds, requests that wait, followed by requests for the crawler's page. Returns the
 * statuses of the pages.
 */
async function pagesAfter(t: TestContext, connections: number, milliseconds: number): Promise<string[]> {
  const gate = Promise.withResolvers<null>()
  const clock = { ticks: 0 }
  const { app, connections: front } = await createWorldApi(world, {
    store: { ...world.store, facts: { ...world.store.facts, lookup: () => gate.promise } },
    monotonicMs: () => clock.ticks,
  })
  t.after(() => app.close())
  const port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)
  const ask = `GET /v1.0/lookup?token=${token}&query=a.example HTTP/1.1\r\n\r\nGET /crawler HTTP/1.1\r\nConnection: close\r\n\r\n`
  const texts = Array.from({ length: connections }, async () => {
    const socket = connect(port, '127.0.0.1')
    socket.write(ask)
    let text = ''
    for await (const piece of socket.setEncoding('latin1')) text += piece
    return text.slice(text.indexOf('HTTP/1.1', 9))
  })
  while (front.pendingRequests < connections * 2 && front.openConnections <= connections) {
    await turn()
    if (front.openConnections === connections && front.pendingRequests >= connections + Math.min(connections, 60)) break
  }
  clock.ticks = milliseconds
  gate.resolve(null)
  return Promise.all(texts)
}

test('of many requests, those that have waited for more than a second are rejected with 500 and Retry-After', async (t) => {
  const pages = await pagesAfter(t, 150, 1_101)
  const refused = pages.filter((page) => page.startsWith('HTTP/1.1 500'))
  assert.ok(refused.length > 0)
  for (const page of refused) assert.match(page, /^Retry-After: 1\r$/m)
})

test('of many requests that have waited for less than a second, none is rejected', async (t) => {
  for (const page of await pagesAfter(t, 150, 900)) assert.match(page, /^HTTP\/1.1 200/)
})

test('of few requests none is rejected because the machine or the store is slow', async (t) => {
  for (const page of await pagesAfter(t, 20, 5_000)) assert.match(page, /^HTTP\/1.1 200/)
})
