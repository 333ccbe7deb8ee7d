/** A list is asked in batches: in order, without a second charge after a fault, and one by one without /batch. */

import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, suite, type TestContext, test } from 'node:test'
import { EXIT_CODES } from '../../../src/cli/program/client-fault.ts'
import { makeAccount, serverOf } from '../../api/server.ts'
import { until } from '../../until.ts'
import { outcomeOf } from '../run.ts'

const { run, start, serve, withStore } = serverOf({ after } as never)

const NAMES = Array.from({ length: 60 }, (_, at) => `name${at}.example`)
const input = NAMES.map((domain, at) => {
  const dns = { status: 'ok', A: [`192.0.2.${at % 4}`] }
  return JSON.stringify({ domain, observed_at: '2026-11-01T00:00:00Z', dns })
}).join('\n')
assert.equal((await run(['import', '-'], { input })).code, 0)
const { token } = await withStore((store) => makeAccount(store, 'local'))
const { address } = await serve({ DOMAINDEX_WORKERS: '1' })

type Handle = (request: IncomingMessage, body: string, response: ServerResponse) => void

/** A server on loopback. */
async function listen(t: TestContext, handle: Handle): Promise<string> {
  const server = createServer((incoming, response) => {
    void text(incoming).then((body) => handle(incoming, body, response))
  })
  server.listen(0, '127.0.0.1')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  await until(() => server.listening)
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Passes a request on to the real server. `send` gets its response. */
function passOn({ method, url, headers }: IncomingMessage, body: string, send: (response: IncomingMessage) => void) {
  const { 'accept-encoding': _coding, 'content-length': _length, 'transfer-encoding': _transfer, ...passed } = headers
  request(`${address}${url}`, { method: method!, headers: passed }, send).end(body)
}

/** A proxy before the real server: `paths` has the path of each request, `batches` the lines of each batch. */
async function proxyOf(t: TestContext, answer: (at: number, response: ServerResponse, from: IncomingMessage) => void) {
  const paths: string[] = []
  const batches: string[][] = []
  const server = await listen(t, (incoming, body, response) => {
    paths.push(incoming.url!)
    if (incoming.url === '/batch') batches.push(body.trim().split('\n'))
    const at = paths.length - 1
    passOn(incoming, body, (from) => answer(at, response, from))
  })
  return { paths, batches, env: { DOMAINDEX_SERVER: server, DOMAINDEX_TOKEN: token } }
}

const relay = (response: ServerResponse, from: IncomingMessage): void => {
  response.writeHead(from.statusCode!, from.headers)
  from.pipe(response)
}

suite('lists', { concurrency: 2 }, () => {
  test('a list is one request, and its rows, messages and exit code are those of the local store', async (t) => {
    const { paths, env } = await proxyOf(t, (_at, response, from) => relay(response, from))
    const list = NAMES.toSpliced(7, 0, 'unknown.example', 'no name', '192.0.2.1').join('\n')
    for (const command of [['lookup'], ['redirect'], ['reverseip', '--limit', '50'], ['dnshistory', '--type', 'A']]) {
      const remote = await run(command, { env, input: list })
      assert.deepEqual(remote, await run(command, { input: list }), command.join(' '))
      assert.deepEqual(paths.splice(0), ['/batch'])
    }
  })

  test('further pages and registrable domains are asked in the next batches', async (t) => {
    const { paths, env } = await proxyOf(t, (_at, response, from) => relay(response, from))
    const urls = NAMES.map((name) => `https://www.${name}/login`).join('\n')
    const found = await run(['reverseip', '--all'], { env, input: urls })
    assert.deepEqual(paths, ['/batch', '/batch', '/batch'])
    assert.deepEqual(found, await run(['reverseip', '--all'], { input: urls }))
    assert.equal(found.stdout, (await run(['reverseip', '--all'], { input: NAMES.join('\n') })).stdout)
  })

  test('a connection that breaks in a batch costs no answered line a second time', async (t) => {
    const { batches, env } = await proxyOf(t, (at, response, from) => {
      if (at > 0) return relay(response, from)
      void text(from).then((body) => {
        response.writeHead(200, { 'Content-Type': 'application/x-ndjson' })
        response.write(`${body.split('\n').slice(0, 25).join('\n')}\n{"status":20`, () => response.destroy())
      })
    })
    const { code, stdout, stderr } = await run(['lookup', '--fields', 'query'], { env, input: NAMES.join('\n') })
    assert.deepEqual([code, stderr], [0, ''])
    assert.equal(stdout, NAMES.map((query) => `${JSON.stringify({ query })}\n`).join(''))
    assert.deepEqual(
      batches.map((lines) => lines.length),
      [60, 35],
    )
    assert.deepEqual(JSON.parse(batches[1]![0]!), { endpoint: 'lookup', query: NAMES[25] })
  })

  test('a server without /batch, or behind a proxy that refuses it, is asked one by one', async (t) => {
    for (const status of [403, 404, 405, 413]) {
      const { paths, env } = await proxyOf(t, (at, response, from) => {
        if (at > 0) return relay(response, from)
        from.resume()
        response.writeHead(status, { 'Content-Type': 'text/html' }).end('<h1>Not found</h1>')
      })
      const remote = await run(['lookup'], { env, input: NAMES.join('\n') })
      assert.deepEqual(remote, await run(['lookup'], { input: NAMES.join('\n') }))
      assert.deepEqual(paths, ['/batch', ...NAMES.map(() => '/v1.0/lookup')])
    }
  })

  test('a line that the server failed to answer is repeated as a call of its own', async (t) => {
    const { paths, env } = await proxyOf(t, (at, response, from) => {
      if (at > 0) return relay(response, from)
      void text(from).then((body) => {
        const lines = body.split('\n')
        lines[3] = '{"status":500,"body":{"result":{"error":"internal_error","msg":"overloaded","rcode":500}}}'
        response.writeHead(200, { 'Content-Type': 'application/x-ndjson' }).end(lines.join('\n'))
      })
    })
    const { code, stdout, stderr } = await run(['lookup', '--fields', 'query'], { env, input: NAMES.join('\n') })
    assert.deepEqual([code, stderr], [0, ''])
    assert.equal(stdout, NAMES.map((query) => `${JSON.stringify({ query })}\n`).join(''))
    assert.deepEqual(paths, ['/batch', '/v1.0/lookup'])
  })

  test('Ctrl-C writes the answers that have come, and says how many queries are left', async (t) => {
    let isHanging = false
    const { env } = await proxyOf(t, (_at, response, from) => {
      void text(from).then((body) => {
        response.writeHead(200, { 'Content-Type': 'application/x-ndjson' })
        response.write(`${body.split('\n').slice(0, 25).join('\n')}\n`)
        isHanging = true
      })
    })
    const child = start(['lookup', '--fields', 'query'], env)
    let shown = ''
    child.stdout.on('data', (chunk) => (shown += chunk))
    const outcome = outcomeOf(child)
    child.stdin.end(NAMES.join('\n'))
    await until(() => isHanging && shown.includes(NAMES[24]!))
    child.kill('SIGINT')
    const { signal, stdout, stderr } = await outcome
    assert.equal(signal, 'SIGINT')
    assert.equal(
      stdout,
      NAMES.slice(0, 25)
        .map((query) => `${JSON.stringify({ query })}\n`)
        .join(''),
    )
    assert.equal(stderr, `domaindex: not answered: 35 of 60 queries; the first is ${NAMES[25]}\n`)
  })

  test('rows that wait for an earlier query are bounded, and the earlier query goes on', async (t) => {
    const rows = Array.from({ length: 20_000 }, (_, at) => ({ target: `source${at}.example` }))
    const meta = (query: string) => ({ query, rcode: 200, msg: 'ok', next: null })
    let sent = 0
    let sentBeforeRepetition = 0
    const server = await listen(t, ({ url }, body, response) => {
      if (url !== '/batch') {
        sentBeforeRepetition = sent
        return response.end(JSON.stringify({ meta: meta(NAMES[0]!), result: [] }))
      }
      response.writeHead(200, { 'Content-Type': 'application/x-ndjson' })
      const lines = body.trim().split('\n').values()
      const sendNext = (): void => {
        const { value, done } = lines.next()
        if (done) return void response.end()
        const { query } = JSON.parse(value)
        const failed = { status: 500, body: { error: 'internal_error', msg: 'overloaded', rcode: 500 } }
        const answer = query === NAMES[0] ? failed : { status: 200, body: { meta: meta(query), result: rows } }
        sent++
        if (response.write(`${JSON.stringify(answer)}\n`)) setImmediate(sendNext)
        else response.once('drain', sendNext)
      }
      sendNext()
    })
    const env = { DOMAINDEX_SERVER: server, DOMAINDEX_TOKEN: 'token' }
    const { code, stdout, stderr } = await run(['redirect', '--csv', '--fields', 'query'], {
      env,
      input: NAMES.join('\n'),
    })
    assert.deepEqual([code, stderr], [0, ''])
    assert.equal(stdout.split('\n').length - 2, rows.length * (NAMES.length - 1))
    assert.ok(sentBeforeRepetition < NAMES.length, `${sentBeforeRepetition} lines were sent`)
  })

  test('an invalid token ends the command with one request', async (t) => {
    const { paths, env } = await proxyOf(t, (_at, response, from) => relay(response, from))
    const { code, stdout, stderr } = await run(['lookup'], {
      env: { ...env, DOMAINDEX_TOKEN: `${token.slice(0, -1)}x` },
      input: NAMES.join('\n'),
    })
    assert.deepEqual([code, stdout, paths], [EXIT_CODES.token[0], '', ['/batch']])
    assert.match(stderr, /\ndomaindex: not answered: 60 of 60 queries; the first is name0\.example\n$/)
  })
})
