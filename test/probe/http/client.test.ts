/** The HTTP client of the crawler: bodies and their encodings, and servers that break every rule. */

import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  constants as zlib,
  zstdCompressSync,
} from 'node:zlib'
import fc from 'fast-check'
import { makeBodyDecoder, parseContentEncoding } from '../../../src/probe/http/body.ts'
import { WEB_LIMITS, type WebLimits } from '../../../src/probe/http/limits.ts'
import { MAX_REDIRECT_HOPS, type WebProbeResult } from '../../../src/probe/probe-result.ts'
import { AGENT, type Answerer, answer, endless, HOME, Internet, PAGE, page, paths } from '../internet.ts'

/** The bare chain of a probe of `example.com`, with this answer on port 80 and port 443 refused. */
async function look(
  t: TestContext,
  converse: Answerer,
  limits: Partial<WebLimits> = {},
): Promise<WebProbeResult['bare']> {
  const internet = new Internet(t).name('example.com', HOME)
  await internet.plain(converse)
  await internet.refuse(443)
  const seen = await internet.look('example.com', limits)
  await internet.idle()
  return seen?.bare ?? assert.fail('nothing was seen')
}

/** The text of the start page in this answer, or null without a page. */
async function text(
  t: TestContext,
  response: Buffer | ((socket: Socket) => void),
  limits: Partial<WebLimits> = {},
): Promise<string | null> {
  const { page, end } = await look(
    t,
    (request, socket) => {
      if (request.startsWith('GET /robots.txt')) socket.write(answer(404))
      else if (typeof response === 'function') response(socket)
      else socket.write(response)
    },
    limits,
  )
  assert.equal(end, 'answered')
  return page === null ? null : page.text.join('\n')
}

const WORDS = 'Words of the page.'
const raw = (head: string, body: string | Uint8Array = '') =>
  Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body as string)])
const OK = 'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n'
const silent = { hops: [], end: 'no_response', page: null }

test('the request names the host, the agent and the supported encodings, and nothing else', async (t) => {
  let received = ''
  await look(t, (request, socket) => {
    received ||= request
    socket.end(answer(404))
  })
  assert.deepEqual(
    received
      .split('\r\n')
      .map((line) => line.toLowerCase())
      .sort(),
    [
      'accept-encoding: gzip, deflate, br, zstd',
      'accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.1',
      'connection: keep-alive',
      'get / http/1.1',
      'host: example.com',
      `user-agent: ${AGENT.toLowerCase()}`,
    ],
  )
})

test('one layer of gzip, deflate with and without header, br or zstd is decoded', async (t) => {
  for (const [name, body] of [
    ['identity', Buffer.from(PAGE)],
    ['gzip', gzipSync(PAGE)],
    ['GZip', gzipSync(PAGE)],
    ['x-gzip', gzipSync(PAGE)],
    ['deflate', deflateSync(PAGE)],
    ['deflate', deflateRawSync(PAGE)],
    ['br', brotliCompressSync(PAGE)],
    ['zstd', zstdCompressSync(PAGE)],
    ['identity, gzip', gzipSync(PAGE)],
    ['UTF-8', Buffer.from(PAGE)],
    ['', Buffer.from(PAGE)],
  ] as const)
    assert.equal(await text(t, page(body, { 'content-encoding': name })), WORDS, name)
})

test('two layers, in one field or in two, and an unsupported encoding give no page', async (t) => {
  const twice = gzipSync(gzipSync(PAGE))
  const two = `${OK}content-encoding: gzip\r\nContent-Encoding: gzip\r\ncontent-length: ${twice.length}\r\n\r\n`
  assert.equal(await text(t, page(twice, { 'content-encoding': 'gzip, gzip' })), null)
  assert.equal(await text(t, raw(two, twice)), null)
  assert.equal(await text(t, page(brotliCompressSync(gzipSync(PAGE)), { 'content-encoding': 'gzip,br' })), null)
  assert.equal(await text(t, page(PAGE, { 'content-encoding': 'compress' })), null)
  assert.equal(parseContentEncoding('gzip, x-gzip'), 'unreadable')
})

/** The decoded body of an encoding, and how many of its chunks were read. */
async function unpack(
  encoding: 'gzip' | 'br' | 'zstd' | 'deflate',
  body: Buffer,
): Promise<{ out: number; taken: number }> {
  let out = 0
  let taken = 0
  const unpacking = makeBodyDecoder(encoding, WEB_LIMITS, (chunk) => {
    out += chunk.length
  })
  for (; taken < body.length && !unpacking.done; taken += 16_384) {
    unpacking.write(body.subarray(taken, taken + 16_384))
    await new Promise(setImmediate)
  }
  await unpacking.end()
  return { out, taken }
}

test('a compression bomb is cut off at the limit of decoded bytes', async () => {
  const zeros = Buffer.alloc(64 * 1024 * 1024)
  const quick = { params: { [zlib.BROTLI_PARAM_QUALITY]: 1 } }
  for (const [encoding, bomb] of [
    ['gzip', gzipSync(zeros, { level: 1 })],
    ['deflate', deflateSync(zeros, { level: 1 })],
    ['br', brotliCompressSync(zeros, quick)],
    ['zstd', zstdCompressSync(zeros)],
  ] as const) {
    const { out } = await unpack(encoding, bomb)
    assert.ok(out > 0 && out <= WEB_LIMITS.decodedBytes, `${encoding} gave ${out} bytes`)
    assert.ok((await unpack(encoding, bomb.subarray(0, 60))).out <= 2 * WEB_LIMITS.ratioFrom, encoding)
  }
})

test('a compression bomb as a start page is cut off, and its beginning is read', async (t) => {
  const bomb = Buffer.from(PAGE + ' '.repeat(8 * 1024 * 1024))
  for (const [encoding, body] of [
    ['gzip', gzipSync(bomb)],
    ['br', brotliCompressSync(bomb, { params: { [zlib.BROTLI_PARAM_QUALITY]: 4 } })],
    ['zstd', zstdCompressSync(bomb)],
  ] as const)
    assert.equal((await text(t, page(body, { 'content-encoding': encoding })))?.trim(), WORDS)
})

test('a body of any size and encoding is decoded unchanged up to its limits', async () => {
  const packers = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync, zstd: zstdCompressSync }
  const sizes = fc.integer({ min: 0, max: 400_000 })
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('gzip', 'deflate', 'br', 'zstd'),
      sizes,
      fc.nat(255),
      async (encoding, size, seed) => {
        const body = Buffer.from(Uint8Array.from({ length: size }, (_, index) => (index * index * 31 + seed) >> 5))
        assert.equal((await unpack(encoding, packers[encoding](body) as Buffer)).out, size)
      },
    ),
    { numRuns: 12 },
  )
})

test('a truncated or corrupt compressed body gives what can be decoded', async (t) => {
  const long = `${PAGE}${'<p>more and more</p>'.repeat(500)}`
  for (const [encoding, packed] of [
    ['gzip', gzipSync(long)],
    ['deflate', deflateSync(long)],
    ['br', brotliCompressSync(long, { params: { [zlib.BROTLI_PARAM_QUALITY]: 1 } })],
  ] as const) {
    const half = packed.subarray(0, packed.length - 20)
    assert.match((await text(t, page(half, { 'content-encoding': encoding }))) ?? '', /^Word/, encoding)
  }
  for (const encoding of ['gzip', 'deflate', 'br', 'zstd'])
    assert.equal(await text(t, page('no such thing', { 'content-encoding': encoding })), '', encoding)
})

test('an endless body is cut off, and its beginning is read', async (t) => {
  let bytes = 0
  const piece = Buffer.from('<p>again</p>'.repeat(4096))
  const read = await text(t, (socket) => {
    socket.on('close', () => {
      bytes = socket.bytesWritten
    })
    endless(socket, `${OK}\r\n${PAGE}`, piece)
  })
  assert.match(read ?? '', /^Words of the page.\nagain/)
  assert.ok(bytes < 16 * 1024 * 1024, `${bytes} bytes were taken`)
})

test('an endless body whose chunks contain only extensions is cut off', async (t) => {
  const chunk = Buffer.from(`1;${'x'.repeat(2000)}\r\na\r\n`.repeat(16))
  const read = await text(t, (socket) => endless(socket, `${OK}transfer-encoding: chunked\r\n\r\n`, chunk))
  assert.ok(read === null || read.length < 2000)
})

test('a slowly dripping body is read as far as it arrived', async (t) => {
  const read = await text(
    t,
    (socket) => {
      socket.write(`${OK}\r\n${PAGE}`)
      const drip = setInterval(() => socket.write('<p>drop</p>'), 20)
      socket.on('close', () => clearInterval(drip))
    },
    { bodyMs: 300 },
  )
  assert.match(read ?? '', /^Words of the page.\ndrop/)
})

test('a body that is shorter or longer than announced is read as far as it goes', async (t) => {
  assert.equal(await text(t, (socket) => void socket.end(raw(`${OK}content-length: 5000\r\n\r\n`, PAGE))), WORDS)
  assert.equal(
    await text(t, (socket) => void socket.write(raw(`${OK}content-length: ${PAGE.length}\r\n\r\n`, `${PAGE}<p>more`))),
    WORDS,
  )
  assert.equal(await text(t, (socket) => void socket.end(raw(`${OK}\r\n`, PAGE))), WORDS)
  assert.equal(
    await text(
      t,
      (socket) =>
        void socket.end(
          raw(`${OK}transfer-encoding: chunked\r\n\r\n`, `${PAGE.length.toString(16)}\r\n${PAGE}\r\nzz\r\n`),
        ),
    ),
    WORDS,
  )
  assert.equal(await text(t, (socket) => void socket.end(raw(`HTTP/1.0 200 OK\r\n\r\n`, PAGE))), WORDS)
})

test('a body that exceeds its limit before it is requested is read once', async (t) => {
  const body = gzipSync(PAGE)
  const head = `${OK}content-encoding: gzip\r\ncontent-length: ${body.length + 1}\r\n\r\n`
  assert.equal(await text(t, raw(head, body), { wireBytes: body.length }), WORDS)
})

test('if a server resets the connection within a body, the received part counts', async (t) => {
  const read = await text(t, (socket) => {
    socket.write(raw(`${OK}content-length: 5000\r\n\r\n`, PAGE), () => setImmediate(() => socket.resetAndDestroy()))
  })
  assert.ok(read === WORDS || read === '')
})

test('responses that are not HTTP, or violate it, count as no response', async (t) => {
  for (const response of [
    '<html><p>HTTP/0.9 was like that</p></html>',
    'HTTP/2 200 OK\r\n\r\nx',
    'HTTP/1.1 20 OK\r\n\r\nx',
    'HTTP/1.1 99999 OK\r\n\r\nx',
    'HTTP/1.1 abc OK\r\n\r\nx',
    'ICY 200 OK\r\n\r\nx',
    'SSH-2.0-OpenSSH_9.2\r\n',
    '220 mail.example.com ESMTP\r\n',
    '\0\0\0\0\0\0\0\0',
    '',
    `${OK}content-length: 5\r\ncontent-length: 6\r\n\r\nhello!`,
    `${OK}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    `${OK}content-length: -5\r\n\r\nhello`,
    `${OK}content-length: 99999999999999999999999\r\n\r\nhello`,
    `${OK}na me: value\r\n\r\nhello`,
    `${OK}name: va\0lue\r\n\r\nhello`,
    `${OK}: nothing\r\n\r\nhello`,
    `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n`,
    `HTTP/1.1 301 Moved\r\nlocation: /a\rset-cookie: x=y\r\n\r\n`,
  ])
    assert.deepEqual(await look(t, (_, socket) => void socket.end(response, 'latin1')), silent, response)
})

test('an endless head, in fields, in one field, in its first line or in 1xx responses, counts as no response', async (t) => {
  for (const [start, piece] of [
    [OK, 'name: value\r\n'],
    [OK, 'a:\r\n'],
    [`${OK}name: `, 'value'],
    [`${OK}`, 'name'],
    ['HTTP/1.1 200 ', 'OK'],
    ['', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'],
    ['', 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['', '\r\n'],
    ['', 'x'],
  ] as const) {
    let bytes = 0
    const chain = await look(t, (_, socket) => {
      socket.on('close', () => {
        bytes = socket.bytesWritten
      })
      endless(socket, start, Buffer.from(piece.repeat(Math.ceil(4096 / piece.length))))
    })
    assert.deepEqual(chain, silent, piece)
    assert.ok(bytes < 8 * 1024 * 1024, `${piece}: ${bytes} bytes were taken`)
  }
})

test('a dripping head, also in 1xx responses, and a missing one count as no response', async (t) => {
  for (const [start, piece] of [
    [OK, 'a: b\r\n'],
    ['', 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['', ''],
  ] as const) {
    const chain = await look(
      t,
      (_, socket) => {
        socket.write(start)
        const drip = setInterval(() => socket.write(piece), 60)
        socket.on('close', () => clearInterval(drip))
      },
      { headMs: 200 },
    )
    assert.deepEqual(chain, silent, piece)
  }
})

test('a response after 1xx responses counts', async (t) => {
  const hints = Buffer.from('HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\n'.repeat(3))
  assert.equal(await text(t, (socket) => void socket.write(Buffer.concat([hints, page()]))), WORDS)
})

test('a head of the maximum size is read, and a larger one counts as no response', async (t) => {
  const filled = (bytes: number) => page(PAGE, { filling: 'x'.repeat(bytes) })
  assert.equal(await text(t, filled(30_000)), WORDS)
  assert.deepEqual(await look(t, (_, socket) => void socket.write(filled(33_000))), silent)
})

test('heads that are torn, doubled, shuffled or noisy never make a probe fail', async (t) => {
  const internet = new Internet(t).name('example.com', HOME)
  let response: Uint8Array = Buffer.alloc(0)
  await internet.plain((_, socket) => void socket.end(response))
  await internet.refuse(443)
  const web = internet.web()
  const pieces = fc.constantFrom(
    ...[
      'HTTP/1.1 200 OK',
      'HTTP/1.0 301 x',
      'HTTP/1.1 100 Continue',
      'HTTP/1.1 204 No',
      'HTTP/1.1 304 Not',
      'HTTP/1.1 999 x',
    ],
    ...[
      '\r\n',
      '\n',
      '\r',
      '\r\n\r\n',
      ': ',
      ' ',
      '\t',
      '\0',
      'location: /',
      'Location: http://example.com/x',
      'location: //',
    ],
    ...[
      'content-length: 3',
      'content-length: 0',
      'Content-Length: 1e3',
      'transfer-encoding: chunked',
      'connection: close',
    ],
    ...[
      'content-encoding: gzip',
      'content-type: text/html',
      '5\r\nhello\r\n',
      '0\r\n\r\n',
      'keep-alive: timeout=0',
      'upgrade: h2c',
    ],
    ...['<meta http-equiv=refresh content="0;url=/y">', '__proto__: x', 'constructor: y', 'é', '🎈', 'a'.repeat(3000)],
  )
  const heads = fc.oneof(
    fc.array(pieces, { maxLength: 30 }).map((all) => Buffer.from(all.join(''))),
    fc
      .array(pieces, { maxLength: 12 })
      .map((all) => Buffer.from(`HTTP/1.1 200 OK\r\n${all.join('\r\n')}\r\n\r\n${PAGE}`)),
    fc.uint8Array({ maxLength: 300 }),
  )
  await fc.assert(
    fc.asyncProperty(heads, async (head) => {
      response = head
      const seen = await web.probe('example.com' as never, { addresses: [HOME as never] })
      assert.ok(seen !== null && seen.bare.hops.length <= MAX_REDIRECT_HOPS + 1)
    }),
    { numRuns: 300 },
  )
  await internet.idle()
})

test('redirects within one origin share a connection, even if their bodies arrive late', async (t) => {
  const internet = new Internet(t).name('example.com', HOME)
  await internet.plain(
    paths({
      '/': answer(302, { location: '/a' }, 'x'.repeat(20_000)),
      '/a': answer(302, { location: '/b' }),
      '/b': answer(403),
    }),
  )
  await internet.refuse(443)
  const seen = await internet.look('example.com')
  assert.deepEqual(
    seen?.bare.hops.map(({ status }) => status),
    [302, 302, 403],
  )
  assert.deepEqual(internet.taken, [`${HOME}:80`])
})

test('a server that closes the connection after each response is requested again', async (t) => {
  const internet = new Internet(t).name('example.com', HOME)
  await internet.plain(
    (request, socket) => void socket.end(request.startsWith('GET / ') ? answer(302, { location: '/a' }) : page()),
  )
  await internet.refuse(443)
  assert.equal((await internet.look('example.com'))?.bare.end, 'answered')
})
