/** Batches of the client library against a real server, over connections that break. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BatchRequest, DomaindexClient, type Fetch } from '../../client/src/client.ts'
import { look, ok, redirecting, site } from '../spec/observations.ts'
import { makeWorld } from '../spec/world.ts'
import { clientOf, collect, json, streamOf } from './answers.ts'

const world = await makeWorld()
const { token } = await world.account({ plan: 'premium' })
await world.ingest(
  look('one.example', { dns: ok({ A: ['192.0.2.1'] }), web: site() }),
  redirecting('two.example', 'one.example'),
)

const CALLS: BatchRequest[] = [
  { endpoint: 'lookup', query: 'one.example' },
  { endpoint: 'redirect', query: 'one.example', limit: 1 },
  { endpoint: 'reverseip', query: '192.0.2.1' },
  { endpoint: 'dnshistory', query: 'one.example', type: 'A' },
]

test('each call is answered by the body of its endpoint, in order', async () => {
  const client = new DomaindexClient({ server: world.address, token })
  const answers = await collect(client.batch(CALLS))
  assert.deepEqual(
    answers.map(({ request }) => request),
    CALLS,
  )
  const bodies = [
    client.lookup('one.example'),
    client.redirect('one.example', { limit: 1 }),
    client.reverseip('192.0.2.1'),
  ]
  const single = await Promise.all([...bodies, client.dnshistory('one.example', { type: 'A' })])
  assert.deepEqual(
    answers.map(({ body }) => body),
    single,
  )
})

test('a call that the server refuses has an error, and the others go on', async () => {
  const client = new DomaindexClient({ server: world.address, token })
  const queries = ['unknown.example', 'nodot', 'one.example']
  const answers = await collect(client.batch(queries.map((query) => ({ endpoint: 'lookup', query }))))
  assert.deepEqual(
    answers.map(({ error }) => error?.error ?? null),
    ['no_data', 'domain_format', null],
  )
  for (const { body, error } of answers) if (error === null) assert.equal(body.result.ip, 'v4only')
  assert.equal(answers[0]!.error?.status, 404)
})

test('more calls than one request may have are sent in several, also from an asynchronous source', async () => {
  const sizes: number[] = []
  const counting: Fetch = (url, init) => {
    sizes.push(String(init.body).trim().split('\n').length)
    return fetch(url, init)
  }
  const client = new DomaindexClient({ server: world.address, token, fetch: counting })
  async function* queries() {
    for (let count = 0; count < 2_345; count++) yield { endpoint: 'lookup', query: `name${count}.example` } as const
  }
  const answers = await collect(client.batch(queries()))
  assert.deepEqual(sizes, [1_000, 1_000, 345])
  assert.deepEqual(
    answers.map(({ request }) => request.query),
    Array.from({ length: 2_345 }, (_, count) => `name${count}.example`),
  )
  assert.ok(answers.every(({ error }) => error?.error === 'no_data'))
  assert.deepEqual(await collect(client.batch([])), [])
})

test('given a connection that breaks within a batch, only the unanswered calls are sent again', async () => {
  const queries = Array.from({ length: 30 }, (_, count) => `name${count}.example`)
  const line = (query: string) => `${JSON.stringify({ status: 200, body: { meta: { query } } })}\n`
  const text = (from: number, to: number) => Buffer.from(queries.slice(from, to).map(line).join(''))
  const { client, sent, waits } = clientOf([
    new Response(streamOf(text(0, 7), Buffer.from('{"status":2'), new Error('reset'))),
    new Response(streamOf(text(7, 8), Buffer.from('{"status":200'))),
    json({ rcode: 500, error: 'internal_error', msg: 'Try again.' }, 500),
    new Response(streamOf(text(8, 30))),
  ])
  const answers = await collect(client.batch(queries.map((query) => ({ endpoint: 'lookup', query }))))
  assert.deepEqual(
    answers.map(({ body }) => body!.meta.query),
    queries,
  )
  const firstLines = sent.map(({ init }) => JSON.parse(String(init.body).split('\n')[0]!).query)
  assert.deepEqual(firstLines, ['name0.example', 'name7.example', 'name8.example', 'name8.example'])
  assert.deepEqual(waits, [250, 250, 500])
})

test('the time that the caller takes for an answer is none of the time in which a batch is repeated', async () => {
  const clock = { ms: 0 }
  const text = '{"status":200,"body":{}}\n'
  const broken = new Response(streamOf(Buffer.from(text), new Error('reset')))
  const answers = [broken, new Response(text.repeat(CALLS.length - 1))]
  const { client, sent } = clientOf(answers, { monotonicMs: () => clock.ms })
  let count = 0
  for await (const _ of client.batch(CALLS)) if (++count === 1) clock.ms += 3_600_000
  assert.deepEqual([count, sent.length], [CALLS.length, 2])
})

test('a batch that the server refuses as a whole throws its error, and a strange answer is invalid', async () => {
  const stranger = new DomaindexClient({ server: world.address, token: 'unknown' })
  await assert.rejects(collect(stranger.batch(CALLS)), { name: 'DomaindexError', error: 'token_invalid', status: 401 })
  for (const answer of ['{"status":200}\n', '[]\n', 'text\n', '{"status":200,"body":{}}\n{"status":200,"body":{}}\n'])
    await assert.rejects(collect(clientOf([new Response(answer)]).client.batch([CALLS[0]!])), {
      name: 'InvalidResponseError',
    })
  const endless = new Response(streamOf(...Array(9).fill(Buffer.from('x'.repeat(1_000)))))
  const { client } = clientOf([endless], { maxResponseBytes: 5_000 })
  await assert.rejects(collect(client.batch([CALLS[0]!])), { message: /more than 5000 characters/ })
})

test('after an abort, no row follows that has already arrived', async () => {
  const reason = new Error('stopped by the caller')
  const text = CALLS.map(() => `${JSON.stringify({ status: 200, body: { meta: {}, result: {} } })}\n`).join('')
  const { client } = clientOf([new Response(text)])
  const controller = new AbortController()
  let rows = 0
  await assert.rejects(async () => {
    for await (const _ of client.batch(CALLS, { signal: controller.signal })) if (++rows === 1) controller.abort(reason)
  }, reason)
  assert.equal(rows, 1)
})

test('given a stop or an abort, no further call is sent', async () => {
  const { client, sent } = clientOf([new Response(streamOf(Buffer.from('{"status":200,"body":{}}\n'.repeat(2))))])
  for await (const { error } of client.batch(CALLS)) {
    assert.equal(error, null)
    break
  }
  assert.equal(sent.length, 1)
  const reason = new Error('enough')
  await assert.rejects(collect(client.batch(CALLS, { signal: AbortSignal.abort(reason) })), reason)
  assert.equal(sent.length, 1)
})
