/** The web part of a domain: its start URLs, what is left out for a local reason, and what a probe leaves behind. */

import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { AGENT, answer, authority, certify, HOME, Internet, page, paths, verdictOf } from './internet.ts'

const SITE = paths({ '/': page() })
const WWW = '127.0.0.2'

test('if the bare name answers over http, www. is not probed', async (t) => {
  const internet = new Internet(t).name('example.com', HOME).name('www.example.com', WWW)
  await internet.plain(SITE)
  await internet.refuse(443)
  await internet.plain(SITE, WWW)
  const seen = await internet.look('example.com')
  assert.deepEqual([seen?.bare.hops[0]?.url, seen?.bare.end, seen?.www], ['http://example.com/', 'answered', null])
  assert.deepEqual(internet.asked, [])
})

test('a bare name that only answers over https is probed there', async (t) => {
  const internet = new Internet(t).name('example.com', HOME)
  await internet.refuse(80)
  await internet.secure(SITE, await certify(['example.com'], authority))
  const seen = await internet.look('example.com')
  assert.deepEqual(
    [seen?.bare.hops[0]?.url, verdictOf(seen)],
    ['https://example.com/', { kind: 'presented', error: null }],
  )
})

test('if the bare name does not answer, www. is probed if it has an address', async (t) => {
  const internet = new Internet(t).name('example.com', HOME).name('www.example.com', WWW)
  for (const port of [80, 443]) await internet.refuse(port)
  await internet.plain(SITE, WWW)
  await internet.refuse(443, WWW)
  const seen = await internet.look('example.com')
  assert.deepEqual(seen?.bare, { hops: [], end: 'no_response', page: null })
  assert.deepEqual([seen?.www?.hops[0]?.url, seen?.www?.end], ['http://www.example.com/', 'answered'])
  assert.deepEqual(seen?.certificate, { kind: 'none' })
})

test('a name without addresses and without www. has no response', async (t) => {
  const internet = new Internet(t).name('example.com')
  assert.deepEqual(await internet.look('example.com'), {
    bare: { hops: [], end: 'no_response', page: null },
    www: null,
    certificate: { kind: 'none' },
  })
  assert.deepEqual(internet.asked, ['www.example.com A', 'www.example.com AAAA'])
})

test('a response of any status is a response', async (t) => {
  for (const status of [204, 401, 403, 404, 429, 500, 503]) {
    const internet = new Internet(t).name('example.com', HOME).name('www.example.com', WWW)
    await internet.plain((_, socket) => void socket.write(answer(status)))
    await internet.refuse(443)
    const seen = await internet.look('example.com')
    assert.deepEqual([seen?.bare.hops[0]?.status, seen?.www], [status, null])
  }
})

test('a name with only private addresses is left out and not connected to', async (t) => {
  const internet = new Internet(t).name('example.com', '127.0.0.66', '10.0.0.1', '::1', 'fd00::1', '169.254.169.254')
  await internet.stand(createServer(), 80, '127.0.0.66')
  internet.stands.pop()
  assert.equal(await internet.look('example.com'), null)
  assert.deepEqual(internet.taken, [])
})

test('if the bare name may not be probed, its www. host counts if it answers', async (t) => {
  const internet = new Internet(t).name('example.com', '10.0.0.1').name('www.example.com', WWW)
  await internet.plain(SITE, WWW)
  await internet.refuse(443, WWW)
  const seen = await internet.look('example.com')
  assert.deepEqual([seen?.bare.end, seen?.www?.end], ['not_allowed', 'answered'])
})

test('if www. cannot be resolved for a local reason and nothing answered, the web is left out', async (t) => {
  const internet = new Internet(t)
  for (const port of [80, 443]) await internet.refuse(port)
  const web = internet.web({}, { resolve: async () => null, close: async () => {} })
  assert.equal(await web.probe('example.com' as never, { addresses: [HOME] }), null)
})

test('if a family was not queried for a local reason and nothing answered, the web is left out', async (t) => {
  const internet = new Internet(t).name('www.example.com', WWW)
  for (const address of [HOME, WWW]) for (const port of [80, 443]) await internet.refuse(port, address)
  const look = (unknown: boolean) =>
    internet.web().probe('example.com' as never, { addresses: [HOME], isIncomplete: unknown })
  assert.equal(await look(true), null)
  assert.equal((await look(false))?.bare.end, 'no_response')
})

test('a name that no URL can contain is left out', async (t) => {
  const web = new Internet(t).web()
  for (const name of ['a.xn--a', '1.0xa', 'a.0x7f'])
    assert.equal(await web.probe(name as never, { addresses: [HOME] }), null, name)
})

test('if one address refuses, the next is tried, at most 4, with alternating families', async (t) => {
  const internet = new Internet(t).name('example.com', '127.0.0.3', '127.0.0.4', HOME)
  for (const address of ['127.0.0.3', '127.0.0.4']) for (const port of [80, 443]) await internet.refuse(port, address)
  await internet.plain(SITE)
  await internet.refuse(443)
  assert.equal((await internet.look('example.com'))?.bare.end, 'answered')

  const many = new Internet(t).name('example.com', '127.0.0.3', '127.0.0.4', '127.0.0.5', '127.0.0.6', HOME)
  for (const last of [3, 4, 5, 6]) for (const port of [80, 443]) await many.refuse(port, `127.0.0.${last}`)
  await many.plain(SITE)
  assert.equal((await many.look('example.com'))?.bare.end, 'no_response')
  assert.deepEqual(many.taken, [])
})

test('if an address is not tried for a local reason, no response means unknown', async (t) => {
  const internet = new Internet(t).name('example.com', HOME, '10.0.0.1')
  for (const port of [80, 443]) await internet.refuse(port)
  assert.equal(await internet.look('example.com'), null)
})

test('a server that accepts connections and sends nothing times out', async (t) => {
  const internet = new Internet(t).name('example.com', HOME)
  for (const port of [80, 443]) await internet.stand(createServer(), port, HOME)
  const seen = await internet.look('example.com', { handshakeMs: 200, headMs: 200 })
  assert.deepEqual([seen?.bare.end, seen?.certificate], ['no_response', { kind: 'none' }])
})

test('the timeout of the probe ends everything in progress', async (t) => {
  const internet = new Internet(t).name('example.com', HOME)
  await internet.plain(() => {})
  await internet.refuse(443)
  const seen = await internet.look('example.com', { probeMs: 100, headMs: 60_000 })
  assert.equal(seen?.bare.end, 'no_response')
  await internet.idle()
})

test('close ends all connections, and a probe in progress has no result', async (t) => {
  const internet = new Internet(t).name('example.com', HOME)
  let asked = () => {}
  const received = new Promise<void>((resolve) => {
    asked = resolve
  })
  await internet.plain(() => asked())
  const web = internet.web({})
  const looking = web.probe('example.com' as never, { addresses: [HOME] })
  await received
  await web.close()
  assert.equal(await looking, null)
  assert.equal(await web.probe('example.com' as never, { addresses: [HOME] }), null)
  await internet.idle()
})

test('no connection outlives its probe', async (t) => {
  const internet = new Internet(t).name('example.com', HOME)
  await internet.plain(paths({ '/': answer(301, { location: 'https://example.com/' }) }))
  await internet.secure(SITE, await certify(['example.com'], authority))
  const web = internet.web()
  const visits = Array.from({ length: 20 }, () => web.probe('example.com' as never, { addresses: [HOME] }))
  for (const seen of await Promise.all(visits)) assert.equal(seen?.bare.page?.text[0], 'Words of the page.')
  await internet.idle()
  assert.equal(internet.taken.length, 40)
})

test('every request has the User-Agent, and none has a cookie, credentials or a referrer', async (t) => {
  const received: string[] = []
  const internet = new Internet(t).name('example.com', HOME)
  await internet.plain((request, socket) => {
    received.push(request)
    const cookie = { 'set-cookie': 'a=b; path=/' }
    socket.write(
      request.startsWith('GET / ') ? answer(302, { location: 'http://u:p@example.com/x', ...cookie }) : page(),
    )
  })
  await internet.refuse(443)
  await internet.look('example.com')
  assert.equal(received.length, 3)
  for (const request of received) {
    assert.ok(request.includes(`user-agent: ${AGENT}`))
    assert.doesNotMatch(request, /^(cookie|authorization|referer):/im)
  }
})
