/** Servers that only speak HTTP/2: read like others, within the same limits, whatever frames they send. */

import assert from 'node:assert/strict'
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import { createServer, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type TestContext, test } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import { authority, certify, HOME, Internet, verdictOf } from '../internet.ts'

const valid = await certify(['example.com', 'www.example.com'], authority)
const PAGE = { 'content-type': 'text/html' }

function* endlessPage(): Generator<string> {
  yield '<p>Hello'
  for (;;) yield '<!--'.padEnd(16_384, 'x')
}

type Serve = (request: Http2ServerRequest, response: Http2ServerResponse) => void

async function internetOf(t: TestContext, serve: Serve): Promise<Internet> {
  const internet = new Internet(t).name('example.com', HOME).name('www.example.com', HOME)
  await internet.refuse(80)
  return internet.stand(createSecureServer(valid, serve), 443, HOME)
}

test('a site that only speaks HTTP/2 is read, its robots.txt first, over one connection', async (t) => {
  const asked: string[] = []
  const internet = await internetOf(t, ({ url, headers }, response) => {
    asked.push(`${headers[':authority']}${url} ${headers['user-agent']}`)
    if (url === '/robots.txt') response.writeHead(404).end()
    else if (url === '/') response.writeHead(302, { location: '/start' }).end()
    else response.writeHead(200, PAGE).end('<p>Hello')
  })
  const seen = await internet.look('example.com')
  assert.deepEqual(seen?.bare.page?.text, ['Hello'])
  assert.deepEqual(
    seen.bare.hops.map(({ status }) => status),
    [302, 200],
  )
  assert.deepEqual(verdictOf(seen), { kind: 'presented', error: null })
  assert.deepEqual(
    asked.map((each) => each.split(' ')[0]),
    ['example.com/robots.txt', 'example.com/', 'example.com/start'],
  )
  assert.match(asked[0]!, /domaindex/)
  assert.deepEqual(internet.taken, [`${HOME}:443`, `${HOME}:443`], 'the first handshake names HTTP/1.1')
})

test('a site that closes a connection without HTTP/2 and without an alert is read as well', async (t) => {
  const modern = createSecureServer(valid, ({ url }, response) => {
    if (url === '/robots.txt') response.writeHead(404).end()
    else response.writeHead(200, PAGE).end('<p>Hello')
  })
  const deaf = createTlsServer(valid, (socket) => socket.on('error', () => {}).once('data', () => socket.end(SETTINGS)))
  const server = createServer((socket) =>
    socket.once('data', (hello) => {
      socket.pause()
      socket.unshift(hello)
      ;(hello.includes('\x02h2') ? modern : deaf).emit('connection', socket)
    }),
  )
  const internet = new Internet(t).name('example.com', HOME)
  await internet.refuse(80)
  await internet.stand(server, 443, HOME)
  const seen = await internet.look('example.com')
  assert.deepEqual([seen?.bare.page?.text, verdictOf(seen)], [['Hello'], { kind: 'presented', error: null }])
})

test('its robots.txt is obeyed, and its errors and redirects are handled like those of any site', async (t) => {
  const internet = await internetOf(t, ({ url }, response) => {
    if (url === '/robots.txt')
      response.writeHead(200, { 'content-type': 'text/plain' }).end('User-agent: *\nDisallow: /')
    else response.writeHead(200, PAGE).end('<p>Secret')
  })
  const seen = await internet.look('example.com')
  assert.deepEqual([seen?.bare.end, seen?.bare.hops[0]?.status, seen?.bare.page], ['answered', 200, null])
})

test('an endless body is cut off at the limit of HTTP/1.1', async (t) => {
  const internet = await internetOf(t, ({ url }, response) => {
    if (url === '/robots.txt') response.writeHead(404).end()
    else {
      response.writeHead(200, PAGE)
      pipeline(Readable.from(endlessPage()), response).catch(() => {})
    }
  })
  const seen = await internet.look('example.com', { wireBytes: 200_000 })
  assert.deepEqual([seen?.bare.end, seen?.bare.hops[0]?.status, seen?.bare.page?.text], ['answered', 200, ['Hello']])
  await internet.idle()
})

test('a head above the limit of HTTP/1.1 is no response', async (t) => {
  const internet = await internetOf(t, (_, response) => {
    response.writeHead(200, { ...PAGE, ...Object.fromEntries([1, 2, 3, 4].map((n) => [`x-${n}`, 'x'.repeat(9000)])) })
    response.end('<p>Hello')
  })
  const seen = await internet.look('example.com')
  assert.deepEqual(seen?.bare, { hops: [], end: 'no_response', page: null })
})

/** HTTP/2 frames (RFC 9113, section 4.1). */
function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

const SETTINGS = frame(4, 0, 0)
/** `:status: 100`, with a name from the static table (RFC 7541, appendix A). */
const STATUS_100 = Buffer.concat([Buffer.from([0x08, 3]), Buffer.from('100')])
const STATUS_200 = Buffer.from([0x88])
/** A literal field without indexing. */
const field = (name: string, value: string) =>
  Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([value.length]), Buffer.from(value)])

/** What a hostile server repeats after a request, for as long as the client reads. */
const FLOODS: Record<string, { first?: Buffer; again: Buffer }> = {
  PING: { again: frame(6, 0, 0, Buffer.alloc(8)) },
  SETTINGS: { again: SETTINGS },
  'empty DATA': { first: frame(1, 4, 1, STATUS_200), again: frame(0, 0, 1) },
  CONTINUATION: { first: frame(1, 0, 1, STATUS_200), again: frame(9, 0, 1, field('a', 'x'.repeat(100))) },
  'interim answers': { again: frame(1, 4, 1, STATUS_100) },
  RST_STREAM: { again: frame(3, 0, 1, Buffer.from([0, 0, 0, 8])) },
  PRIORITY: { again: frame(2, 0, 1, Buffer.alloc(5)) },
  WINDOW_UPDATE: { again: frame(8, 0, 0, Buffer.from([0, 0, 0, 1])) },
  GOAWAY: { again: frame(7, 0, 0, Buffer.alloc(8)) },
  'unknown frames': { again: frame(99, 0, 1, Buffer.alloc(100)) },
  PUSH_PROMISE: { again: frame(5, 4, 1, Buffer.concat([Buffer.from([0, 0, 0, 2]), STATUS_200])) },
}

for (const [what, { first, again }] of Object.entries(FLOODS)) {
  test(`a flood of ${what} ends the exchange before the client has taken a gigabyte`, async (t) => {
    const internet = new Internet(t).name('example.com', HOME)
    await internet.refuse(80)
    let sent = 0
    const many = Buffer.concat(Array.from({ length: Math.ceil(16_384 / again.length) }, () => again))
    const flood = (socket: Socket): void => {
      while (!socket.destroyed && socket.writable) {
        sent += many.length
        if (!socket.write(many)) break
      }
    }
    const server = createTlsServer({ ...valid, ALPNProtocols: ['h2'] }, (socket) => {
      socket.on('error', () => {})
      socket.write(SETTINGS)
      socket.on('drain', () => flood(socket))
      socket.once('data', () => {
        if (first !== undefined) socket.write(first)
        flood(socket)
      })
    })
    server.on('tlsClientError', () => {})
    await internet.stand(server, 443, HOME)
    // undici can lose a request among GOAWAY frames and read no more. Then a timeout ends the exchange.
    const seen = await internet.look('example.com', {
      headMs: 10_000,
      bodyMs: 10_000,
      robotsMs: 10_000,
      probeMs: 60_000,
      drainBytes: 20_000,
      headBytes: 20_000,
      wireBytes: 20_000,
    })
    assert.ok(seen === null || seen.bare.page === null || seen.bare.page.text.length === 0)
    assert.deepEqual(verdictOf(seen), { kind: 'presented', error: null })
    await internet.idle()
    assert.ok(sent < 1024 * 1024 * 1024, `${sent} bytes were taken`)
  })
}

test('a server that sends GOAWAY before each request is given up after a few connections', async (t) => {
  const internet = new Internet(t).name('example.com', HOME)
  await internet.refuse(80)
  let connections = 0
  const server = createTlsServer({ ...valid, ALPNProtocols: ['h2'] }, (socket) => {
    connections++
    socket.on('error', () => {})
    socket.write(Buffer.concat([SETTINGS, FLOODS.GOAWAY!.again]))
  })
  server.on('tlsClientError', () => {})
  await internet.stand(server, 443, HOME)
  const seen = await internet.look('example.com', { headMs: 30_000, probeMs: 60_000 })
  assert.equal(seen?.bare.page ?? null, null)
  assert.ok(connections < 10, `${connections} connections`)
})
