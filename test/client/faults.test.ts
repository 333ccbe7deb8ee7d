/**
 * How the client library handles faults: retries, aborts, broken and hostile responses, and the token in all of them.
 */

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { DomaindexClient, DomaindexError, InvalidResponseError, NetworkError } from '../../client/src/client.ts'
import { clientOf, collect, json, streamOf } from './answers.ts'

const OK = { meta: { query: 'a.example', rcode: 200, msg: 'ok' }, result: {} }
const INTERNAL = { result: { rcode: 500, error: 'internal_error', msg: 'Try again.' } }
const LIMITED = { result: { rcode: 429, error: 'rate_limited', msg: 'Wait.', limit: 100, used: 100 } }
const broken = () =>
  new TypeError('fetch failed', { cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) })
const html = (status: number) => new Response('<html>Bad gateway</html>', { status })

test('given status 500, faults of the network or half a body, a call is repeated after delays with full jitter', async () => {
  const half = new Response(streamOf(Buffer.from('{"meta"'), new Error('reset')))
  const { client, waits, sent } = clientOf([json(INTERNAL, 500), broken(), half, json(OK)])
  assert.deepEqual(await client.lookup('a.example'), OK)
  assert.deepEqual(waits, [250, 500, 1000])
  assert.deepEqual(new Set(sent.map(({ init }) => init.body)), new Set([sent[0]!.init.body]))
})

test('given further faults, the call fails with the last one after the given number of repetitions', async () => {
  const { client, sent } = clientOf([broken(), html(500), json(INTERNAL, 500)], { retries: 2 })
  await assert.rejects(client.lookup('a.example'), { name: 'DomaindexError', error: 'internal_error', status: 500 })
  assert.equal(sent.length, 3)
  const unreachable = clientOf([broken()], { retries: 0 }).client.lookup('a.example')
  await assert.rejects(unreachable, (error) => error instanceof NetworkError && error.code === 'ECONNREFUSED')
})

test('given any other status, a call is not repeated', async () => {
  for (const status of [400, 401, 403, 404, 413, 429]) {
    const { client } = clientOf([json({ result: { rcode: status, error: 'a_newer_key', msg: 'No.' } }, status)])
    await assert.rejects(client.lookup('a.example'), { name: 'DomaindexError', error: 'a_newer_key', rcode: status })
  }
  for (const status of [404, 413, 501])
    await assert.rejects(clientOf([html(status)]).client.lookup('a.example'), { name: 'InvalidResponseError', status })
})

test('given status 502, 503 or 504, also of a proxy, a call is repeated, and after the Retry-After that is named', async () => {
  const named = new Response('<html>', { status: 503, headers: { 'Retry-After': '1' } })
  const { client, waits } = clientOf([html(502), named, html(504), json(OK)])
  assert.deepEqual(await client.lookup('a.example'), OK)
  assert.deepEqual(waits, [250, 1_500, 1_000])
})

test('a call is repeated within a total time, also if Retry-After is later', async () => {
  const clock = { ms: 0 }
  const wait = async (ms: number): Promise<void> => {
    clock.ms += ms
  }
  const options = { wait, monotonicMs: () => clock.ms, random: () => 0.999 }
  const down = clientOf(Array.from({ length: 50 }, broken), options)
  await assert.rejects(down.client.lookup('a.example'), { name: 'NetworkError' })
  assert.ok(clock.ms <= 60_000 && clock.ms > 40_000, `${clock.ms}`)
  clock.ms = 0
  const short = clientOf(Array.from({ length: 50 }, broken), { ...options, maxRetrySeconds: 2 })
  await assert.rejects(short.client.lookup('a.example'), { name: 'NetworkError' })
  assert.ok(clock.ms <= 2_000 && clock.ms > 0, `${clock.ms}`)
  const late = clientOf([json(INTERNAL, 500, { 'Retry-After': '61' })], options)
  await assert.rejects(late.client.lookup('a.example'), { error: 'internal_error' })
  assert.equal(late.sent.length, 1)
})

test('a walk goes on after its server was restarted', async (t) => {
  const all = Array.from({ length: 6 }, (_, n) => ({ target: `n${n}.example` }))
  let [port, isRestarted] = [0, false]
  const open = async () => {
    const server = createServer((request, response) => {
      request.resume().on('end', () => {
        const from = pages++
        const next = from < 2 ? `cursor-${from}` : null
        response.end(JSON.stringify({ meta: { query: 'a.example', next }, result: all.slice(2 * from, 2 * from + 2) }))
        if (from > 0) return
        response.once('close', () => {
          server.close()
          server.closeAllConnections()
        })
      })
    })
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
    t.after(() => server.close())
  }
  let pages = 0
  await open()
  const client = new DomaindexClient({
    server: `http://127.0.0.1:${port}`,
    token: 'secret-token',
    wait: async () => {
      if (!isRestarted) await open()
      isRestarted = true
    },
  })
  const rows = await collect(client.redirectRows('a.example'))
  assert.deepEqual([rows, isRestarted], [all, true])
})

test('a Retry-After of 429 counts only if the caller allows it, up to the seconds that the caller names', async () => {
  const limited = () => json(LIMITED, 429, { 'Retry-After': '60' })
  const ignoring = clientOf([limited()])
  await assert.rejects(ignoring.client.lookup('a.example'), { limit: 100, used: 100, retryAfter: 60 })
  const options = { maxRetryAfter: 60, maxRetrySeconds: 100 }
  const patient = clientOf([limited(), json(INTERNAL, 500, { 'Retry-After': '1' }), json(OK)], options)
  await patient.client.lookup('a.example')
  assert.deepEqual(patient.waits, [60_500, 1_500])
  const impatient = clientOf([limited()], { ...options, maxRetryAfter: 59 })
  await assert.rejects(impatient.client.lookup('a.example'), { error: 'rate_limited' })
})

test('waits after 429 count into the total time, and a Retry-After that does not fit ends the call at once', async () => {
  const clock = { ms: 0 }
  const wait = async (ms: number): Promise<void> => {
    clock.ms += ms
  }
  const limited = Array.from({ length: 50 }, () => json(LIMITED, 429, { 'Retry-After': '10' }))
  const options = { maxRetryAfter: 60, wait, monotonicMs: () => clock.ms }
  const { client, sent } = clientOf(limited, options)
  await assert.rejects(client.lookup('a.example'), { error: 'rate_limited', retryAfter: 10 })
  assert.deepEqual([clock.ms, sent.length], [52_500, 6])
  clock.ms = 0
  const late = clientOf([json(LIMITED, 429, { 'Retry-After': '60' })], options)
  await assert.rejects(late.client.lookup('a.example'), { error: 'rate_limited', retryAfter: 60 })
  assert.deepEqual([clock.ms, late.sent.length], [0, 1])
})

test('a runtime without fetch is refused with what to do, unless the caller passes one', () => {
  const original = globalThis.fetch
  try {
    Reflect.deleteProperty(globalThis, 'fetch') // as in Node before 18
    assert.throws(() => new DomaindexClient({ server: 'https://api.example.com' }), {
      name: 'TypeError',
      message: /This runtime has no fetch: use Node 18 or later/,
    })
    new DomaindexClient({ server: 'https://api.example.com', fetch: original })
  } finally {
    globalThis.fetch = original
  }
})

test('given an aborted signal, a call ends with its reason, before, during and between requests', async () => {
  const reason = new Error('stopped by the caller')
  const early = clientOf([])
  await assert.rejects(early.client.lookup('a.example', { signal: AbortSignal.abort(reason) }), reason)
  assert.equal(early.sent.length, 0)

  const during = new AbortController()
  const { client } = clientOf([], {
    fetch: (_url, { signal }) => {
      const closed = new Promise<never>((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason)))
      during.abort(reason)
      return closed
    },
  })
  await assert.rejects(client.lookup('a.example', { signal: during.signal }), reason)

  const between = new AbortController()
  const waiting = clientOf([json(INTERNAL, 500, { 'Retry-After': '3600' })], { wait: undefined, maxRetrySeconds: 9000 })
  const call = waiting.client.lookup('a.example', { signal: between.signal })
  setImmediate(() => between.abort(reason))
  await assert.rejects(call, reason)
})

test('given a body that is not JSON or not an object, the error says so', async () => {
  for (const body of ['<html>', '', '[]', '"text"', 'null', '{"meta":'])
    await assert.rejects(clientOf([new Response(body)]).client.lookup('a.example'), InvalidResponseError)
  const page = clientOf([new Response('<!doctype html><title>Sign in</title>')]).client
  await assert.rejects(page.lookup('a.example'), { message: /status 200 is not a JSON object but HTML/, status: 200 })
  for (const body of [{}, { meta: {} }, { meta: {}, result: 'text' }, { result: [] }])
    await assert.rejects(clientOf([json(body)]).client.redirect('a.example'), { message: /no "meta" or no "result"/ })
  const strange = clientOf([json({ ok: false }, 403)]).client
  await assert.rejects(strange.lookup('a.example'), { message: /has no "error"/, status: 403 })
})

test('a body larger than the limit is not read to its end', async () => {
  let pulled = 0
  const endless = new ReadableStream({
    pull(controller) {
      pulled++
      controller.enqueue(new Uint8Array(1_000))
    },
  })
  const { client } = clientOf([new Response(endless)], { maxResponseBytes: 10_000 })
  await assert.rejects(client.lookup('a.example'), { name: 'InvalidResponseError', message: /more than 10000 bytes/ })
  assert.ok(pulled <= 15, String(pulled))
})

test('a message of the server cannot be long and has no control characters', async () => {
  const msg = `\u001b[31mred\u0007${'x'.repeat(10_000)}`
  const { client } = clientOf([json({ result: { rcode: 400, error: 'domain_format', msg } }, 400)])
  await assert.rejects(
    client.lookup('a'),
    ({ message }: Error) => message.length <= 1_000 && /^ \[31mred x/.test(message),
  )
})

test('a server that repeats or omits a cursor does not keep an iterator in a loop', async () => {
  for (const meta of [{ next: 'same' }, {}, { next: 5 }]) {
    const page = () => json({ meta, result: [{ target: 'b.example' }] })
    const { client, sent } = clientOf([page(), page(), page()])
    await assert.rejects(collect(client.redirectRows('a.example', { next: 'same' })), InvalidResponseError)
    assert.equal(sent.length, 1)
  }
  const { client } = clientOf([json({ meta: { next: null }, result: {} })])
  await assert.rejects(collect(client.redirectRows('a.example')), InvalidResponseError)
})

test('the token is in the body or the header Authorization, and nowhere else', async () => {
  const { client, sent } = clientOf([json(OK), json({})])
  await client.lookup('a.example')
  await client.quota()
  assert.deepEqual(JSON.parse(sent[0]!.init.body as string), { query: 'a.example', token: 'secret-token' })
  assert.equal(new Headers(sent[0]!.init.headers).get('authorization'), null)
  assert.equal(new Headers(sent[1]!.init.headers).get('authorization'), 'Bearer secret-token')
  for (const { url } of sent) assert.doesNotMatch(url, /secret/)
  assert.doesNotMatch(inspect(client, { depth: 9, showHidden: true }) + JSON.stringify(client), /secret/)
})

test('given a server or a runtime that repeats the token, no error has it', async () => {
  const echoing = { result: { rcode: 401, error: 'token_invalid', msg: 'secret-token is unknown' } }
  const failed = new TypeError('cannot send secret-token', { cause: new Error('secret-token') })
  for (const answer of [json(echoing, 401), failed]) {
    const { client } = clientOf([answer], { retries: 0 })
    await assert.rejects(client.lookup('a.example'), (error) => !inspect(error, { depth: 9 }).includes('secret'))
  }
})

test('given an address or a token that cannot be one, the constructor says so without repeating it', () => {
  const token = 'secret-token'
  for (const server of [
    'secret',
    'ftp://secret',
    'https://secret@x.example',
    'https://x.example?secret',
    'https://x.example#secret',
  ])
    assert.throws(
      () => new DomaindexClient({ server, token }),
      (error: Error) => error instanceof TypeError && !error.message.includes('secret'),
    )
  for (const wrong of ['', ' ', 'secret token', 'secret\nX: y', 'sécret'])
    assert.throws(
      () => new DomaindexClient({ server: 'https://x.example', token: wrong }),
      (error: Error) => error instanceof TypeError && !error.message.includes('cret'),
    )
  new DomaindexClient({ server: 'https://x.example', token: 'secret-token\n' }) // as a file has it
})

test('given a redirect to another address, the client does not follow it', async (context) => {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(request.url!)
    response.writeHead(307, { Location: '/elsewhere' }).end('moved')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  context.after(() => server.close())
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = new DomaindexClient({ server: address, token: 'secret-token', retries: 0 })
  for (const call of [() => client.lookup('a.example'), () => client.quota()])
    await assert.rejects(call, { name: 'InvalidResponseError', status: 307, message: /redirects/ })
  assert.deepEqual(requests.toSorted(), ['/account/quota', '/v1.0/lookup'])
  server.closeAllConnections()
})

test('an error of the library is recognised by its class', () => {
  const details = {
    status: 404,
    rcode: 404,
    error: 'no_data',
    limit: null,
    used: null,
    retryAfter: null,
    requestId: null,
  }
  const error = new DomaindexError('Nothing.', details)
  assert.ok(error instanceof Error)
  assert.equal(String(error), 'DomaindexError: Nothing.')
})
