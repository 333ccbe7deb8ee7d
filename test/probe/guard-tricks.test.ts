/**
 * Attacks on the guard: redirects, refreshes, robots.txt and DNS answers that point to internal addresses, with every
 * socket watched.
 */

import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { before, mock, type TestContext, test } from 'node:test'
import type { Resolver } from '../../src/probe/dns/resolver.ts'
import { makeGuard, parseAddressRange } from '../../src/probe/guard.ts'
import { createWebProber } from '../../src/probe/web.ts'
import type { IpAddress } from '../../src/values/ip-address.ts'
import { AGENT, type Answerer, answer, Internet, named, page, paths } from './internet.ts'

/** The targets of sockets, as `host:port`. */
const dialled: string[] = []

before(() => {
  const { connect } = Socket.prototype
  mock.method(Socket.prototype, 'connect', function (this: Socket, ...given: [unknown]) {
    const [{ host, port }] = given.flat() as [{ host?: string; port?: number }]
    dialled.push(`${host}:${port}`)
    return Reflect.apply(connect, this, given)
  })
})

/**
 * Addresses of this machine and the internal network, in every spelling of RFC 3986, the WHATWG and older lenient
 * parsers.
 */
const PLACES = `
127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7F.1 0x7f.0x0.0x0.0x1 0177.0.0.1 0177.1 017700000001 127.0.0.01 127.0.0.1. 127.000.000.001
0 0.0.0.0 0x0 00 0.0 10.0.0.1 10.1 0xa000001 167772161 172.16.0.1 192.168.1.1 192.168.257 3232235777 169.254.169.254 0xa9fea9fe 2852039166
169.254.43518 0251.0376.0251.0376 100.64.0.1 198.18.0.1 224.0.0.1 255.255.255.255 4294967295 0xffffffff 127%2E0%2E0%2E1 %31%32%37.0.0.1
%3127.0.0.1 １２７.０.０.１ 127。0。0。1 127．0．0．1 127｡0｡0｡1 ①②⑦.0.0.1 ⑫⑦.0.0.1 𝟏𝟐𝟕.𝟎.𝟎.𝟏 0ｘ7f.1 127.0.0.1%E3%80%82 1%C2%AD27.0.0.1 127.0.0.%E2%80%8B1
[::1] [::] [0:0:0:0:0:0:0:1] [0000:0000:0000:0000:0000:0000:0000:0001] [::ffff:127.0.0.1] [::ffff:7f00:1] [::FFFF:7F00:0001] [::127.0.0.1]
[::7f00:1] [::ffff:0:127.0.0.1] [64:ff9b::127.0.0.1] [64:ff9b::7f00:1] [64:ff9b:1::7f00:1] [64:ff9b:1:7f00:0:100::] [2002:7f00:1::1] [2001:0:7f00:1::]
[2001::80ff:fffe] [fe80::1] [fe80::1%25lo] [fe80::1%lo] [::1%25lo] [fc00::1] [fd00:ec2::254] [ff02::1] [2001:db9::5efe:7f00:1] [2001:db9::200:5efe:a00:1]
[::1]. [::1]%00 [[::1]] [v1.127001] [127.0.0.1] ::1
localhost LOCALHOST localhost. LocalHost%2e loc%61lhost ｌｏｃａｌｈｏｓｔ lo%C2%ADcalhost localhost.localdomain ip6-localhost loopback metadata metadata.google.internal
127.0.0.1.nip.example 10.0.0.1.sslip.example www.localhost inside.example xn--127001 xn--127-0-0-1-.example xn--0
`
  .split(/\s+/)
  .filter((word) => word !== '')

/** How an address is written into a URL. Some hide it behind a name that looks public. */
const FRAMES: ((place: string) => string)[] = [
  (place) => `http://${place}/`,
  (place) => `http://example.com@${place}/`,
  (place) => `\\\\${place}/`,
]

const SPELLINGS = [
  ...PLACES.flatMap((place) => FRAMES.map((frame) => frame(place))),
  ...[
    '//127.0.0.1/',
    '///127.0.0.1/',
    '/\\127.0.0.1/',
    '\\/127.0.0.1/',
    'http:\\\\127.0.0.1\\',
    'http:/127.0.0.1/',
    'https:127.0.0.1/',
    'http:////127.0.0.1/',
    'HTTP://127.0.0.1/',
    'ht\ttp://127.0.0.1/',
    'http:\t//127.0.0.1/',
    'http://127.0\t.0.1/',
    ' http://127.0.0.1/',
    'http://user:pass@127.0.0.1/',
    'http://example.com:80@127.0.0.1/',
    'http://example.com%40127.0.0.1/',
    'http://example.com#@127.0.0.1/',
    'http://127.0.0.1#@example.com/',
    'http://127.0.0.1?@example.com/',
    'http://127.0.0.1\\@example.com/',
    'http://127.0.0.1:80\\@example.com/',
    'http://127.0.0.1;@127.0.0.2/',
    'http://127.0.0.1:080/',
    'http://127.0.0.1:0x50/',
    'http://127.0.0.1:80 /',
    'http://127.0.0.1:/',
    'http://127.0.0.1:65616/',
    'http://inside.example:22/',
    'http://inside.example:0/',
    'http://inside.example:8080/',
    'http://inside.example:00443/',
    'https://inside.example:80/',
    'http://inside.example:443/',
    'http://example.com:8080/',
    'http://example.com:443/',
    'https://example.com:80/',
    'http://[::1]:80/',
    'http://[::ffff:127.0.0.1]:80/',
    'http://127.0.0.1:80:80/',
    'ftp://127.0.0.1/',
    'file:///etc/passwd',
    'file://127.0.0.1/',
    'gopher://127.0.0.1:80/_GET',
    'data:text/html,inside',
    'javascript:location="http://127.0.0.1/"',
    'view-source:http://127.0.0.1/',
    'blob:http://127.0.0.1/0',
    'ws://127.0.0.1/',
    'jar:http://127.0.0.1!/',
    'unix:/run/docker.sock',
    'http+unix://%2Frun%2Fdocker.sock/',
  ],
]

/** DNS answers: every form of an internal address. */
const ANSWERS = `
127.0.0.1 0.0.0.0 10.0.0.1 100.64.0.1 100.100.100.200 169.254.169.254 172.16.0.1 192.0.0.192 192.168.0.1 198.18.0.1 168.63.129.16 224.0.0.1 255.255.255.255
::1 :: ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:0:127.0.0.1 ::127.0.0.1 ::a00:1 64:ff9b::127.0.0.1 64:ff9b::10.0.0.1 64:ff9b::a9fe:a9fe
64:ff9b:1::7f00:1 64:ff9b:1:a00:0:100:: 2002:7f00:1:: 2002:a00:1::1 2001:0:7f00:1:: 2001:0:808:808::80ff:fffe 2001:db9::5efe:127.0.0.1 2001:db9::5efe:10.0.0.1
2001:db9::200:5efe:192.168.0.1 fe80::1 fe80::5efe:127.0.0.1 fc00::1 fd00:ec2::254 fd20:ce::254 fec0::1 ff02::1 100::1 2001:db8::1 3fff::1 5f00::1 4000::1
127.1 0x7f.0.0.1 2130706433 0177.0.0.1 ::1%lo [::1] localhost 127.0.0.1:80 ::ffff:127.1
`
  .split(/\s+/)
  .filter((word) => word !== '')

/**
 * The address of the pages that lead to internal addresses. All other names resolve to it unless a test says otherwise.
 */
const OUTSIDE = '127.0.0.77' as IpAddress
const INSIDE = '127.0.0.99'

/** How a page leads elsewhere: by Location, by refresh, and by the Location of its robots.txt. */
const WAYS: Record<string, (to: string) => Answerer> = {
  redirect: (to) => paths({ '/': answer(302, { location: to }) }),
  refresh: (to) => paths({ '/': page(`<meta http-equiv="refresh" content="0;url='${to}'">`) }),
  'robots.txt': (to) => paths({ '/': page(), '/robots.txt': answer(301, { location: to }) }),
}

/**
 * Probes t0.example, t1.example, …, each of which leads to one of the targets. Resolves to the connections besides
 * those to OUTSIDE.
 */
async function dialledFor(
  t: TestContext,
  targets: readonly string[],
  lead: (to: string) => Answerer,
  inside: () => string,
) {
  const internet = new Internet(t)
  await internet.plain((request, socket) => {
    const [, digits = ''] = /^host: t(\d+)\.example$/im.exec(request) ?? []
    lead(targets[Number(digits)] ?? assert.fail(request))(request, socket)
  }, OUTSIDE)
  const resolver = resolverOf((host) => (/^t\d+\.example$/.test(host) ? OUTSIDE : inside()))
  const web = internet.web({ connectMs: 500 }, resolver)
  const before = dialled.length
  for (const index of targets.keys()) await web.probe(named(`t${index}.example`), { addresses: [OUTSIDE] })
  const all = dialled.splice(before)
  assert.ok(all.length >= targets.length, 'every page was asked for')
  return all.filter((door) => door !== `${OUTSIDE}:${internet.stands[0]?.port}`)
}

function resolverOf(addressOf: (host: string) => string): Resolver {
  return {
    async resolve(host, type) {
      const address = addressOf(host)
      const records = (type === 'AAAA') === address.includes(':') ? [address] : []
      return { outcome: 'records', records, aliases: ['localhost'] }
    },
    close: async () => {},
  }
}

for (const [way, lead] of Object.entries(WAYS)) {
  test(`none of ${SPELLINGS.length} spellings by which a ${way} leads to an internal address is connected to`, async (t) => {
    assert.deepEqual(await dialledFor(t, SPELLINGS, lead, () => INSIDE), [])
  })
}

test('a name with internal addresses, in whatever form, is not connected to', async (t) => {
  let asked = -1
  const targets = ANSWERS.map((_, index) => `http://inside${index}.example/`)
  const inside = () => ANSWERS[Math.floor(++asked / 2)] ?? assert.fail('asked too often')
  assert.deepEqual(await dialledFor(t, targets, WAYS.redirect!, inside), [])
  assert.equal(asked, 2 * ANSWERS.length - 1, 'each was asked for A and AAAA')
})

test('a name with rotating addresses is connected to only at a vetted address', async (t) => {
  const internet = new Internet(t)
  await internet.plain((request, socket) => {
    const [, digits = '0'] = /^GET \/(\d*)/.exec(request) ?? []
    const location = `http://flip${Number(digits) % 3}.example/${Number(digits) + 1}`
    socket.end(answer(302, { location, connection: 'close' }))
  }, OUTSIDE)
  for (const first of [0, 1]) {
    let turn = first
    const web = internet.web(
      {},
      resolverOf(() => (turn++ % 4 < 2 ? OUTSIDE : INSIDE)),
    )
    const before = dialled.length
    await web.probe(named('flip.example'), { addresses: [OUTSIDE] })
    const all = new Set(dialled.splice(before))
    assert.deepEqual(all, new Set([`${OUTSIDE}:${internet.stands[0]?.port}`]))
  }
})

test('without the guard, names would lead to internal addresses, and this test would detect it', async (t) => {
  const internet = new Internet(t)
  await internet.plain(paths({ '/': answer(302, { location: 'http://inside.example/' }) }), OUTSIDE)
  const open = makeGuard({ portMappings: internet.stands, allowed: [parseAddressRange('127.0.0.0/8')!] })
  const web = createWebProber({
    resolver: resolverOf(() => INSIDE),
    guard: open,
    userAgent: AGENT,
    limits: { connectMs: 500 },
  })
  t.after(() => web.close())
  const before = dialled.length
  await web.probe(named('t0.example'), { addresses: [OUTSIDE] })
  assert.ok(dialled.splice(before).includes(`${INSIDE}:80`))
})
