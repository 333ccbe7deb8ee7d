/** Long responses: they are complete, and a client that disconnects leaves nothing behind. */

import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { ApiMetrics } from '../../../src/api/http/metrics.ts'
import type { FactsReader, Histories } from '../../../src/store/port/store.ts'
import { makeWorld } from '../../spec/world.ts'
import { createWorldApi } from '../world-api.ts'

const MIB = 2 ** 20

const world = await makeWorld()
const { token } = await world.account({ plan: 'premium' })
let text = ''
const history = async (): Promise<Histories<'TXT'>> => {
  const records = JSON.stringify([{ text, parts: [text] }])
  const states = [{ first_seen: 1, last_confirmed: null, records }]
  const byType = { TXT: { states, total: 1, more: false, absent_since: null } }
  return { byType, lastObserved: { dns: 1, web: null } }
}
const facts = { ...world.store.facts, history } as unknown as FactsReader
const metrics = new ApiMetrics()
const { app } = await createWorldApi(world, {
  store: { ...world.store, facts },
  metrics,
})
const address = await app.listen({ host: '127.0.0.1', port: 0 })
after(() => app.close())

const path = `/v1.0/dnshistory?token=${token}&query=example.com&type=txt`
const ask = async (encoding: string) => {
  const answer = await fetch(address + path, { headers: { 'Accept-Encoding': encoding } })
  if (text.length > MIB) assert.equal(answer.headers.get('content-encoding'), encoding === 'gzip' ? 'gzip' : null)
  const body = (await answer.json()) as { result: { TXT: { records: { text: string }[] }[] } }
  return body.result.TXT[0]?.records[0]?.text
}

test('a long response is complete, plain and gzipped, whatever characters its chunks end in', async () => {
  const character = fc.constantFrom('a', 'é', '語', '😀')
  const filled = fc.tuple(fc.array(character, { minLength: 1, maxLength: 5 }), fc.integer({ min: 1, max: 150_000 }))
  await fc.assert(
    fc.asyncProperty(filled, fc.nat(3), async ([characters, times], shift) => {
      text = 'x'.repeat(shift) + characters.join('').repeat(times)
      for (const encoding of ['identity', 'gzip']) assert.ok((await ask(encoding)) === text)
    }),
    { numRuns: 12 },
  )
})

test('a client that disconnects within a response leaves nothing behind', async () => {
  text = 'x'.repeat(16 * MIB)
  const unsent = async () => Number(/^domaindex_unsent_bytes (\d+)$/m.exec(await metrics.registry.metrics())?.[1])
  for (let client = 0; client < 10; client++) {
    const socket = connect(Number(new URL(address).port), '127.0.0.1')
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
    await new Promise((resolve) => socket.once('data', resolve))
    assert.ok((await unsent()) >= 32 * MIB)
    socket.destroy()
    while ((await unsent()) > 0) await new Promise(setImmediate)
  }
  text = 'short'
  assert.equal(await ask('identity'), 'short')
})
