/** How the answers of a batch are sent: as they are ready, and not faster than the client reads them. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { ApiMetrics } from '../../src/api/http/metrics.ts'
import type { FactsReader, RowPage } from '../../src/store/port/store.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import { type Known, makeWorld } from '../spec/world.ts'
import { until } from '../until.ts'
import { createWorldApi } from './world-api.ts'

const MIB = 2 ** 20

const world = await makeWorld()
const { token } = await world.account({ plan: 'premium' })
/** What each test does with a query. */
let redirects: (query: string) => Promise<RowPage<DomainName>>
const page = (text: string): RowPage<DomainName> => ({ rows: [`[{"target":"${text}"}]`], count: 1, last: null })
const facts = { ...world.store.facts, redirects: (query: string) => redirects(query) } as unknown as FactsReader
const metrics = new ApiMetrics()
/** Milliseconds that a test adds to the monotonic clock. */
let advanced = 0
const { app } = await createWorldApi(world, {
  store: { ...world.store, facts },
  monotonicMs: () => performance.now() + advanced,
  metrics,
})
const address = await app.listen({ host: '127.0.0.1', port: 0 })
after(() => app.close())

const linesFor = (count: number) =>
  Array.from({ length: count }, (_, index) => `{"endpoint":"redirect","query":"n${index}.example"}`).join('\n')
const unsentBytes = async () => Number(/^domaindex_unsent_bytes (\d+)$/m.exec(await metrics.registry.metrics())?.[1])

for (const encoding of ['identity', 'gzip']) {
  test(`an answer is sent while the next line is still in progress (${encoding})`, async () => {
    const second = Promise.withResolvers<void>()
    redirects = async (query) => {
      if (query === 'n1.example') await second.promise
      return page(query)
    }
    const response = await fetch(`${address}/batch`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Accept-Encoding': encoding },
      body: linesFor(3),
    })
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (!text.includes('\n')) text += (await reader.read()).value
    assert.equal(text.split('\n').length, 2)
    second.resolve()
    for (let read = await reader.read(); !read.done; read = await reader.read()) text += read.value
    const targets = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).body.result[0].target)
    assert.deepEqual(targets, ['n0.example', 'n1.example', 'n2.example'])
  })
}

/** Sends a batch on a connection that does not read. */
async function sendUnread(body: string) {
  const socket = connect(Number(new URL(address).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.pause()
  socket.write(
    `POST /batch HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  return socket
}

test('a client that does not read stops the work, and its disconnection ends it', async () => {
  let begun = 0
  redirects = async () => {
    begun++
    return page('x'.repeat(4 * MIB))
  }
  const socket = await sendUnread(linesFor(500))
  await until(async () => begun >= 8)
  const settled = async () => {
    const before = begun
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
    return begun === before
  }
  await until(settled)
  assert.ok(begun <= 24, `${begun} lines`)
  assert.ok((await unsentBytes()) <= 24 * 4.1 * MIB)
  const atDisconnection = begun
  socket.destroy()
  await until(async () => (await unsentBytes()) === 0)
  await until(settled)
  assert.ok(begun <= atDisconnection + 9, `${begun - atDisconnection} lines after the client disconnected`)
})

test('batches that nobody reads hold up no single call of their account', async () => {
  redirects = async (query) => page(query.startsWith('n') ? 'x'.repeat(4 * MIB) : query)
  const sockets = await Promise.all(Array.from({ length: 10 }, () => sendUnread(linesFor(50))))
  await until(async () => (await unsentBytes()) > 2 * MIB)
  const answers = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const body = JSON.stringify({ token, query: `call${index}.example` })
      return (await fetch(`${address}/v1.0/redirect`, { method: 'POST', body })).status
    }),
  )
  assert.deepEqual(answers, Array(20).fill(200))
  for (const socket of sockets) socket.destroy()
  await until(async () => (await unsentBytes()) === 0)
})

test('the lines of batches are counted by endpoint and status', async () => {
  const unknown = ['a', 'b', 'c'].map((label) => `{"endpoint":"lookup","query":"${label}.example"}`)
  const body = [...unknown, 'nonsense', '{"endpoint":"reverseip","query":"?"}'].join('\n')
  const countOf = async (labels: string): Promise<number> => {
    const text = await metrics.registry.metrics()
    return Number(new RegExp(`^domaindex_batch_lines_total\\{${labels}\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
  }
  const headers = { Authorization: `Bearer ${token}` }
  await (await fetch(`${address}/batch`, { method: 'POST', headers, body })).text()
  assert.equal(await countOf('endpoint="lookup",status="404"'), 3)
  assert.equal(await countOf('endpoint="other",status="400"'), 1)
  assert.equal(await countOf('endpoint="reverseip",status="400"'), 1)
})

test('after a disconnection the account has all its slots', async () => {
  redirects = async (query) => page(query)
  const body = linesFor(20)
  const answers = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const response = await fetch(`${address}/batch`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}` },
        body,
      })
      return (await response.text()).trimEnd().split('\n').length
    }),
  )
  assert.deepEqual(answers, Array(10).fill(20))
})

/** Sends a batch of 50 lines to another account, and calls `change` while its first 8 lines are in progress. */
async function changedDuring(change: (known: Known) => void | Promise<void>) {
  const known = await world.account({ plan: 'basic' })
  const started = Promise.withResolvers<void>()
  const changed = Promise.withResolvers<void>()
  let begun = 0
  redirects = async (query) => {
    if (++begun === 8) started.resolve()
    await changed.promise
    return page(query)
  }
  const headers = { Authorization: `Bearer ${known.token}` }
  const response = fetch(`${address}/batch`, { method: 'POST', headers, body: linesFor(50) })
  await started.promise
  await change(known)
  advanced += 1_000
  changed.resolve()
  const lines = (await (await response).text()).trimEnd().split('\n')
  return { statuses: lines.map((line) => JSON.parse(line).status as number), headers }
}

test('a token that is revoked during a batch is refused from the next line on', async () => {
  const { statuses } = await changedDuring((known) => world.revoke(known))
  assert.deepEqual(statuses, [...Array(8).fill(200), ...Array(42).fill(401)])
})

test('lines that start on the next day are charged to that day', async () => {
  const { statuses, headers } = await changedDuring(() => {
    world.clock.now += 86_400
  })
  assert.deepEqual(statuses, Array(50).fill(200))
  const quota = (await (await fetch(`${address}/account/quota`, { headers })).json()) as { used: number }
  assert.equal(quota.used, 42)
})
