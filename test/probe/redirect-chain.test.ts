/** The redirect chain: which redirects are followed, where a chain ends, and where it cannot lead the crawler. */

import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { isProbeable, resolveRedirect } from '../../src/probe/http/redirect-location.ts'
import { MAX_REDIRECT_HOPS } from '../../src/probe/probe-result.ts'
import { type Answerer, answer, authority, certify, HOME, Internet, page, paths } from './internet.ts'

const OTHER = '127.0.0.2'
const PRIVATE = '127.0.0.66'

/**
 * `example.com` with `www.`, and `other.com`, each on its own address over http. `inside.com` leads to an unmapped
 * port.
 */
async function open(t: TestContext, own: Answerer, other: Answerer = paths({ '/': page() })): Promise<Internet> {
  const internet = new Internet(t)
    .name('example.com', HOME)
    .name('www.example.com', HOME)
    .name('other.com', OTHER)
    .name('inside.com', PRIVATE)
    .name('deaf.com', '127.0.0.3')
  await internet.plain(own)
  await internet.refuse(443)
  await internet.plain(other, OTHER)
  await internet.refuse(443, OTHER)
  await internet.refuse(80, '127.0.0.3')
  await internet.stand(createServer(), 80, PRIVATE) // listens, but is not mapped
  internet.stands.pop()
  return internet
}

/** The chain from example.com with this first response. */
async function walk(t: TestContext, start: Buffer, more: Record<string, Buffer> = {}, other?: Answerer) {
  const internet = await open(t, paths({ '/': start, ...more }), other)
  const seen = await internet.look('example.com')
  assert.ok(!internet.taken.includes(`${PRIVATE}:80`))
  return { ...(seen?.bare ?? assert.fail('nothing was seen')), taken: internet.taken, asked: internet.asked }
}

const to = (location: string, status = 301) => answer(status, { location })
const refresh = (content: string) => page(`<meta http-equiv="refresh" content="${content}"><p>Words</p>`)

test('each 3xx with a Location is followed, and its kind is recorded', async (t) => {
  for (const status of [300, 301, 302, 303, 307, 308]) {
    const { hops, end, page: read } = await walk(t, to('/there', status), { '/there': page() })
    assert.deepEqual(hops, [
      { url: 'http://example.com/', status, to: 'http://example.com/there', by: 'location' },
      { url: 'http://example.com/there', status: 200, to: null, by: null },
    ])
    assert.equal(end, 'answered')
    assert.deepEqual(read?.text, ['Words of the page.'])
  }
})

test('a meta refresh of at most 5 seconds is followed, unless it leads to the page itself', async (t) => {
  const there = { '/there': page() }
  const { hops, end, page: read } = await walk(t, refresh('5; url=/there'), there)
  assert.deepEqual(
    hops.map(({ to, by }) => [to, by]),
    [
      ['http://example.com/there', 'refresh'],
      [null, null],
    ],
  )
  assert.deepEqual([end, read?.base], ['answered', 'http://example.com/there'])
  for (const content of ['6; url=/there', '0', '0; url=/', '0; url=http://example.com/#top', '0; url=mailto:a@b.c']) {
    const still = await walk(t, refresh(content), there)
    assert.deepEqual([still.hops.length, still.end, still.page?.text], [1, 'answered', ['Words']], content)
  }
})

test('3xx without a Location, or with one that is not a web URL, ends the chain', async (t) => {
  for (const start of [
    answer(301),
    answer(304),
    to('http://'),
    to('http://[::1'),
    to('http://exa mple.com/'),
    to('mailto:someone@example.com'),
    to('javascript:alert(1)'),
    to('ftp://example.com/'),
    to('file:///etc/passwd'),
    to('data:text/html,x'),
    answer(200, { location: '/there', 'content-type': 'text/plain' }),
    answer(404, { location: '/there' }),
  ]) {
    const { hops, end, page: read } = await walk(t, start)
    assert.deepEqual([hops.length, hops[0]?.to, end, read], [1, null, 'answered', null])
  }
})

test('fragments and credentials are dropped, and the host is canonical', () => {
  const from = new URL('http://example.com/a/b')
  for (const [text, spelled] of [
    ['//EXAMPLE.com./x?y#z', 'http://example.com/x?y'],
    ['http://user:secret@example.com/', 'http://example.com/'],
    ['https://user@example.com:443/', 'https://example.com/'],
    ['c', 'http://example.com/a/c'],
    ['?q', 'http://example.com/a/b?q'],
    ['  /x\t/y\n ', 'http://example.com/x/y'],
    ['http:\\\\example.com\\x', 'http://example.com/x'],
    ['http://münchen.de/ü', 'http://xn--mnchen-3ya.de/%C3%BC'],
    ['http://xn--mnchen-3ya.de/', 'http://xn--mnchen-3ya.de/'],
    ['/x\r\nhost: evil', 'http://example.com/xhost:%20evil'],
  ] as const)
    assert.equal(resolveRedirect(text, from)?.href, spelled, text)
})

test('a redirect to an IDN host is followed', async (t) => {
  const internet = await open(t, (_, socket) => void socket.write(to('http://b\u00fccher.example/')))
  internet.name('xn--bcher-kva.example', OTHER)
  const seen = await internet.look('example.com')
  assert.deepEqual(
    seen?.bare.hops.map(({ url }) => url),
    ['http://example.com/', 'http://xn--bcher-kva.example/'],
  )
})

test('a redirect to another port, an IP address or an invalid name is not followed', async (t) => {
  for (const location of [
    'http://example.com:8080/',
    'http://example.com:443/',
    'https://example.com:80/',
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://017700000001/',
    'http://93.184.216.34/',
    'http://[::1]/',
    'http://[::ffff:7f00:1]/',
    'http://localhost/',
    'http://exa*mple.com/',
  ]) {
    const { hops, end, taken } = await walk(t, to(location))
    assert.deepEqual([hops.length, end, taken.length], [1, 'not_allowed', 1], location)
  }
})

test('a redirect to a name with a private address is not connected to', async (t) => {
  const { hops, end } = await walk(t, to('http://inside.com/'))
  assert.deepEqual([hops.length, end], [1, 'not_allowed'])
})

test('a name that answers with a public address first and a private one later is not connected to there', async (t) => {
  const internet = await open(t, paths({ '/': to('http://rebind.com/'), '/again': page() }))
  let asked = 0
  internet.nameBy('rebind.com', () => (asked++ < 2 ? [OTHER] : [PRIVATE]))
  const web = internet.web()
  const look = () => web.probe('example.com' as never, { addresses: [HOME as never] })
  assert.equal((await look())?.bare.end, 'answered')
  assert.equal((await look())?.bare.end, 'not_allowed')
  assert.ok(!internet.taken.includes(`${PRIVATE}:80`))
  assert.deepEqual(internet.taken.filter((door) => door === `${OTHER}:80`).length, 1)
})

test('one probe resolves the addresses of a host once and keeps them', async (t) => {
  const internet = await open(t, paths({ '/': to('http://rebind.com/') }), paths({ '/': to('http://rebind.com/2') }))
  let asked = 0
  internet.nameBy('rebind.com', () => (asked++ < 2 ? [OTHER] : [PRIVATE]))
  const seen = await internet.look('example.com')
  assert.deepEqual([seen?.bare.end, seen?.bare.hops.length], ['answered', 3])
  assert.deepEqual(internet.asked, ['rebind.com A', 'rebind.com AAAA'])
})

test('a redirect to a host that does not answer, or does not exist, ends without a response', async (t) => {
  for (const location of ['http://deaf.com/', 'http://nowhere.com/', 'https://example.com/', 'https://other.com/']) {
    const { hops, end } = await walk(t, to(location))
    assert.deepEqual([hops.length, end], [1, 'no_response'], location)
  }
})

test('10 redirects are followed, and an eleventh is too many', async (t) => {
  const steps = (count: number, last: Buffer) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`/${index}`, index + 1 === count ? last : to(`/${index + 1}`)]),
    )
  const ten = await walk(t, to('/0'), steps(MAX_REDIRECT_HOPS, page()))
  assert.deepEqual(
    [ten.end, ten.hops.length, ten.page?.text],
    ['answered', MAX_REDIRECT_HOPS + 1, ['Words of the page.']],
  )
  const eleven = await walk(t, to('/0'), steps(MAX_REDIRECT_HOPS + 1, page()))
  assert.deepEqual([eleven.end, eleven.hops.length, eleven.page], ['too_many_redirects', MAX_REDIRECT_HOPS + 1, null])
})

test('loops are too many redirects: to itself, over two URLs, over two domains, by refresh', async (t) => {
  const back: Answerer = (_, socket) => void socket.write(to('http://example.com/'))
  assert.equal((await walk(t, to('/'))).end, 'too_many_redirects')
  assert.equal((await walk(t, to('/a'), { '/a': to('/') })).end, 'too_many_redirects')
  assert.equal((await walk(t, to('http://other.com/'), {}, back)).end, 'too_many_redirects')
  assert.equal((await walk(t, refresh('0;/a'), { '/a': refresh('0;/') })).end, 'too_many_redirects')
})

test('a page of another registrable domain is never read, and its robots.txt is not requested', async (t) => {
  const received: string[] = []
  const {
    hops,
    end,
    page: read,
  } = await walk(t, to('http://other.com/'), {}, (request, socket) => {
    received.push(request.split(' ')[1] ?? '')
    socket.write(refresh('0; url=http://example.com/'))
  })
  assert.deepEqual([hops.length, end, read, received], [2, 'answered', null, ['/']])
})

test('a page is read on any host of the registrable domain, if it is 2xx and HTML or without a type', async (t) => {
  const read = async (there: Buffer) => (await walk(t, to('http://www.example.com/x'), { '/x': there })).page !== null
  assert.equal(await read(page()), true)
  assert.equal(await read(page('<p>x', { 'content-type': 'application/xhtml+xml' })), true)
  assert.equal(await read(page('<p>x', { 'content-type': 'Text/HTML;charset=x' })), true)
  assert.equal(await read(answer(203, {}, '<p>x')), true)
  for (const type of ['text/plain', 'image/png', 'application/json', 'text/htmlx'])
    assert.equal(await read(page('<p>x', { 'content-type': type })), false, type)
  for (const status of [204, 400, 401, 403, 404, 429, 500, 503])
    assert.equal(
      await read(answer(status, { 'content-type': 'text/html' }, status === 204 ? '' : '<p>x')),
      status === 204,
      `${status}`,
    )
})

test('a Location in UTF-8 is read, and of several Locations the first counts', async (t) => {
  const utf8 = Buffer.from('HTTP/1.1 301 x\r\nlocation: /ü\r\ncontent-length: 0\r\n\r\n')
  assert.equal((await walk(t, utf8)).hops[0]?.to, 'http://example.com/%C3%BC')
  const two = Buffer.from('HTTP/1.1 301 x\r\nlocation: /a\r\nLocation: /b\r\ncontent-length: 0\r\n\r\n')
  assert.equal((await walk(t, two)).hops[0]?.to, 'http://example.com/a')
})

test('a chain goes from http to https and from the bare name to www.', async (t) => {
  const internet = new Internet(t).name('example.com', HOME).name('www.example.com', OTHER)
  await internet.plain(paths({ '/': to('https://www.example.com/') }))
  await internet.secure(paths({ '/': page() }), await certify(['www.example.com'], authority), OTHER)
  const seen = await internet.look('example.com')
  assert.deepEqual(
    seen?.bare.hops.map(({ url }) => url),
    ['http://example.com/', 'https://www.example.com/'],
  )
  assert.equal(seen?.bare.page?.base, 'https://www.example.com/')
})

test('whatever a redirect says, the next request is to a name over http or https on the default port', () => {
  const piece = fc.constantFrom(
    'http:',
    'https:',
    '//',
    '/',
    '\\',
    '@',
    ':',
    '80',
    '8080',
    '[',
    ']',
    '::1',
    '127.1',
    'a.com',
    '.',
    '?',
    '#',
    '%',
    '\t',
    'é',
    'xn--',
  )
  const texts = fc.oneof(
    fc.string(),
    fc.array(piece).map((all) => all.join('')),
  )
  fc.assert(
    fc.property(texts, (text) => {
      const url = resolveRedirect(text, new URL('http://example.com/'))
      if (url === null || !isProbeable(url)) return
      assert.match(url.href, /^https?:\/\/[a-z0-9_-]+(\.[a-z0-9_-]+)+\/[!-~]*$/)
      assert.doesNotMatch(url.href, /[#\r\n]/)
    }),
    { numRuns: 500 },
  )
})
