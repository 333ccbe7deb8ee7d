/** robots.txt: what it excludes from reading, and how it is requested. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { HttpResponse } from '../../../src/probe/http/exchange.ts'
import { WEB_LIMITS, type WebLimits } from '../../../src/probe/http/limits.ts'
import { createRobotsCache, robotsAllow } from '../../../src/probe/policy/robots.ts'
import { AGENT, answer, authority, certify, endless, HOME, Internet, page, paths } from '../internet.ts'

const ORIGIN = 'http://example.com'
const may = (...lines: string[]): boolean => robotsAllow(lines.join('\n'), ORIGIN, AGENT)

/** Whether the start page was read with this robots.txt, and the other results. */
async function look(
  t: TestContext,
  robots: Buffer,
  more: Record<string, Buffer> = {},
  limits: Partial<WebLimits> = {},
) {
  const internet = new Internet(t).name('example.com', HOME).name('www.example.com', HOME).name('other.com', HOME)
  await internet.plain(paths({ '/': page(), '/robots.txt': robots, ...more }))
  await internet.refuse(443)
  const bare = (await internet.look('example.com', limits))?.bare
  assert.deepEqual(
    [bare?.end, bare?.hops.length, bare?.hops[0]?.status],
    ['answered', 1, 200],
    'status and chain are judged',
  )
  return bare?.page !== null
}

const DISALLOW = 'user-agent: *\ndisallow: /'

test('the group of our agent counts, otherwise the group for all, otherwise everything is allowed', () => {
  assert.equal(may(''), true)
  assert.equal(may('user-agent: *', 'disallow: /'), false)
  assert.equal(may('user-agent: domaindex', 'disallow: /'), false)
  assert.equal(may('User-Agent: DomainDex/9.9', 'Disallow: /'), false)
  assert.equal(may('user-agent: other', 'disallow: /'), true)
  assert.equal(may('user-agent: *', 'disallow: /', '', 'user-agent: domaindex', 'allow: /'), true)
  assert.equal(may('user-agent: domaindex', 'disallow:', '', 'user-agent: *', 'disallow: /'), true)
  assert.equal(may('user-agent: a', 'user-agent: domaindex', 'user-agent: b', 'disallow: /'), false)
  assert.equal(may('user-agent: domaindexer', 'disallow: /'), true)
})

test('groups of one agent are merged', () => {
  assert.equal(
    may('user-agent: domaindex', 'disallow: /a', 'user-agent: x', 'allow: /', 'user-agent: domaindex', 'disallow: /'),
    false,
  )
})

test('the longest rule counts, and of equals the one that allows', () => {
  assert.equal(may('user-agent: *', 'disallow: /', 'allow: /$'), true)
  assert.equal(may('user-agent: *', 'allow: /', 'disallow: /'), true)
  assert.equal(may('user-agent: *', 'disallow: /*', 'allow: /'), false)
  assert.equal(may('user-agent: *', 'disallow: /private'), true)
  assert.equal(may('user-agent: *', 'disallow: *'), false)
  assert.equal(may('user-agent: *', 'disallow: /$'), false)
})

test('comments, odd spacing, other lines, a byte order mark and any line ends are accepted', () => {
  assert.equal(robotsAllow('\ufeffUser-agent : *\r\n  Disallow:/ # all', ORIGIN, AGENT), false)
  assert.equal(may('user-agent: domaindex # us', 'sitemap: x', 'crawl-delay: 3', 'disallow: / # all'), false)
  assert.equal(may('user-agent: domaindex', 'sitemap: x', 'user-agent: other', 'disallow: /'), false)
  assert.equal(robotsAllow('user-agent: *\rdisallow: /', ORIGIN, AGENT), false)
  assert.equal(may('disallow: /'), true, 'a rule before any group')
  assert.equal(may('<html><body>user-agent: *', 'disallow: /</body></html>'), true)
  assert.equal(may('user-agent: __proto__', 'disallow: /', 'user-agent: constructor', 'disallow: /'), true)
})

test('a hostile robots.txt is read in linear time', () => {
  const half = WEB_LIMITS.robotsBytes / 2
  const agents = 'user-agent: a\nuser-agent: b\n'.repeat(half / 28)
  const rules = 'allow: /a\nallow: /b\n'.repeat(half / 20)
  assert.equal(robotsAllow(agents + rules + DISALLOW, ORIGIN, AGENT), false)
  const ours = 'user-agent: *\nuser-agent: domaindex\nuser-agent: a\n'.repeat(half / 49)
  assert.equal(robotsAllow(ours + rules + DISALLOW, ORIGIN, AGENT), true)
  assert.equal(robotsAllow(`${ours + rules}disallow: /`, ORIGIN, AGENT), false)
  assert.equal(may('user-agent: *', `disallow: /${'*a'.repeat(half)}`), true)
  assert.equal(may('user-agent: *', `disallow: ${'*'.repeat(half)}`), false)
  assert.equal(robotsAllow(`${' '.repeat(half)}\n${DISALLOW}`, ORIGIN, AGENT), false)
  assert.equal(robotsAllow(`user-agent${'\t'.repeat(half)}\n${DISALLOW}`, ORIGIN, AGENT), false)
})

test('if it disallows `/`, status and redirects are judged and the body is not read', async (t) => {
  assert.equal(await look(t, answer(200, {}, DISALLOW)), false)
  assert.equal(await look(t, answer(200, {}, 'user-agent: *\ndisallow: /x')), true)
})

test('4xx allows everything, and 5xx or no response allows nothing (RFC 9309, 2.3.1.3 and 2.3.1.4)', async (t) => {
  for (const status of [400, 401, 403, 404, 410, 429]) assert.equal(await look(t, answer(status)), true, `${status}`)
  for (const status of [500, 503]) assert.equal(await look(t, answer(status)), false, `${status}`)
  assert.equal(await look(t, Buffer.from('noise')), false)
  assert.equal(await look(t, Buffer.alloc(0), {}, { robotsMs: 200 }), false, 'no answer in time')
  assert.equal(
    await look(t, Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nuser'), {}, { bodyMs: 200 }),
    false,
    'half of it',
  )
})

test('at most 5 redirects are followed, to any host (RFC 9309, 2.3.1.2)', async (t) => {
  const chain = (length: number) =>
    Object.fromEntries(
      Array.from({ length }, (_, index) => [
        `/${index}`,
        index + 1 === length ? answer(200, {}, DISALLOW) : answer(302, { location: `/${index + 1}` }),
      ]),
    )
  const first = answer(301, { location: '/0' })
  assert.equal(await look(t, first, chain(5)), false)
  assert.equal(await look(t, first, chain(6)), true)
  for (const host of ['www.example.com', 'other.com'])
    assert.equal(await look(t, answer(301, { location: `http://${host}/0` }), chain(1)), false)
  for (const location of ['http://127.0.0.1/0', 'http://example.com:81/0', 'ftp://example.com/0', ''])
    assert.equal(await look(t, answer(301, { location }), chain(1)), true, location)
})

test('a redirect without a target is not a robots.txt', async () => {
  const robots = createRobotsCache({ userAgent: AGENT, limits: WEB_LIMITS })
  const asked: string[] = []
  const get = async (url: URL) => {
    asked.push(url.href)
    return { status: 301, header: () => null, pause() {}, discard() {}, read: async () => 'whole' as const }
  }
  assert.equal(await robots.mayFetch(ORIGIN, get), true)
  assert.deepEqual(asked, [`${ORIGIN}/robots.txt`])
})

test('a Location outside ASCII is read as UTF-8, as that of a page is', async () => {
  const robots = createRobotsCache({ userAgent: AGENT, limits: WEB_LIMITS })
  const asked: string[] = []
  const location = Buffer.from('/bücher.txt').toString('latin1') // as a header value arrives
  const get = async (url: URL) => {
    asked.push(url.href)
    const status = url.pathname === '/robots.txt' ? 301 : 404
    return { status, header: () => location, pause() {}, discard() {}, read: async () => 'whole' as const }
  }
  assert.equal(await robots.mayFetch(ORIGIN, get), true)
  assert.deepEqual(asked.slice(0, 2), [`${ORIGIN}/robots.txt`, `${ORIGIN}/b%C3%BCcher.txt`])
})

test('after its timeout, robots.txt is not requested again', async () => {
  const robots = createRobotsCache({ userAgent: AGENT, limits: { ...WEB_LIMITS, robotsMs: 20 } })
  const asked: string[] = []
  let give: (reply: HttpResponse) => void = () => {}
  const get = (url: URL) => {
    asked.push(url.href)
    return new Promise<HttpResponse>((resolve) => {
      give = resolve
    })
  }
  assert.equal(await robots.mayFetch(ORIGIN, get), false)
  give({ status: 302, header: () => '/later.txt', pause() {}, discard() {}, read: async () => 'whole' })
  await new Promise(setImmediate)
  assert.deepEqual(asked, [`${ORIGIN}/robots.txt`])
})

test('an endless robots.txt is read up to its limit', async (t) => {
  const internet = new Internet(t).name('example.com', HOME)
  await internet.plain((request, socket) => {
    if (!request.startsWith('GET /robots.txt')) return void socket.write(page())
    endless(socket, `HTTP/1.1 200 OK\r\n\r\n${DISALLOW}\n`, Buffer.from('# and so on\n'.repeat(1000)))
  })
  await internet.refuse(443)
  const seen = await internet.look('example.com')
  assert.deepEqual([seen?.bare.end, seen?.bare.page], ['answered', null])
})

test('over http, a page that waited for robots.txt is read on a second connection', async (t) => {
  const internet = new Internet(t).name('example.com', HOME)
  const long = `<p>${'word '.repeat(100_000)}</p>`
  await internet.plain(paths({ '/': page(long) }))
  await internet.refuse(443)
  const seen = await internet.look('example.com')
  assert.ok((seen?.bare.page?.text.join('').length ?? 0) > 10_000)
  assert.equal(internet.taken.length, 2)
})

test('over https, robots.txt is requested first, over the connection of the page', async (t) => {
  const internet = new Internet(t).name('example.com', HOME)
  const asked: string[] = []
  await internet.refuse(80)
  await internet.secure(
    (request, socket) => {
      asked.push(request.split(' ')[1] ?? '')
      paths({ '/': page(), '/robots.txt': answer(200, {}, DISALLOW) })(request, socket)
    },
    await certify(['example.com'], authority),
  )
  const seen = await internet.look('example.com')
  assert.deepEqual([seen?.bare.page, asked, internet.taken], [null, ['/robots.txt', '/'], [`${HOME}:443`]])
})

test('an answer is cached for a day, the oldest is evicted first, and a missing answer is requested again', async () => {
  let now = 0
  const limits = { ...WEB_LIMITS, maxRobotsCached: 2 }
  const robots = createRobotsCache({ userAgent: AGENT, limits, now: () => now })
  const asked: string[] = []
  const ask = (origin: string, silent = false) =>
    robots.mayFetch(origin, async (url) => {
      asked.push(url.href)
      if (silent) return 'no_response'
      return { status: 404, header: () => null, pause() {}, discard() {}, read: async () => 'whole' as const }
    })
  const times = async (...origins: string[]) => {
    asked.length = 0
    for (const origin of origins) await ask(origin)
    return asked.length
  }
  assert.equal(await ask('http://a.com', true), false)
  assert.equal(await times('http://a.com', 'http://a.com', 'https://a.com', 'http://a.com'), 2)
  assert.equal(await times('http://b.com', 'http://a.com', 'https://a.com'), 2)
  now += WEB_LIMITS.robotsCacheMs - 1
  assert.equal(await times('http://a.com'), 0)
  now += 1
  assert.equal(await times('http://a.com'), 1)
})
