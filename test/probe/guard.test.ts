/** The guard: where the crawler may connect to, against spellings and tricks that try to lead elsewhere. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type AddressRange,
  classifyRange,
  effectiveAddress,
  makeGuard,
  parseAddressRange,
} from '../../src/probe/guard.ts'
import { isProbeable, resolveRedirect } from '../../src/probe/http/redirect-location.ts'
import { addressFamily, type IpAddress, parseAddress, unpackAddress } from '../../src/values/ip-address.ts'

const guard = makeGuard()

/**
 * The first and last address of every block of the IANA special-purpose registries, and of the space outside global
 * unicast.
 */
const SPECIAL = `
0.0.0.0 0.255.255.255 0.0.0.1  10.0.0.0 10.255.255.255 10.0.0.1  100.64.0.0 100.127.255.255 100.100.100.200
127.0.0.0 127.255.255.255 127.0.0.1 127.0.1.1 127.1.1.1  169.254.0.0 169.254.255.255 169.254.169.254 169.254.170.2
172.16.0.0 172.31.255.255 172.17.0.1  192.0.0.0 192.0.0.255 192.0.0.7 192.0.0.8 192.0.0.9 192.0.0.10 192.0.0.170 192.0.0.171
192.0.0.192 192.0.2.0 192.0.2.255  192.31.196.0 192.31.196.255  192.52.193.0 192.52.193.255  192.88.99.0 192.88.99.2 192.88.99.255
192.168.0.0 192.168.255.255 192.168.1.1  192.175.48.0 192.175.48.255  198.18.0.0 198.19.255.255  198.51.100.0 198.51.100.255
203.0.113.0 203.0.113.255  224.0.0.0 224.0.0.1 239.255.255.250 239.255.255.255  240.0.0.0 250.1.2.3 255.255.255.254 255.255.255.255
168.63.129.16
:: ::1 ::2 ::ffff ::1:0:0 ::7fff:ffff:ffff 64:ff9a::1 64:ff9b:0:0:0:1:: 64:ff9b:1:: 64:ff9b:1:ffff:ffff:ffff:ffff:ffff 100:: 100::1
100::ffff:ffff:ffff:ffff 100:0:0:1:: 200:: 400::1 800::1 1000::1 1fff:ffff::1 2001:: 2001:0:ffff::1 2001:1::1 2001:1::2 2001:1::3
2001:2:: 2001:2:0:ffff::1 2001:3:: 2001:3:ffff::1 2001:4:112:: 2001:4:112:ffff::1 2001:10:: 2001:1f:ffff::1 2001:20:: 2001:2f:ffff::1
2001:30:: 2001:3f::1 2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff 2001:db8:: 2001:db8::1 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff
2002:: 2002:808:808:: 2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2620:4f:8000:: 2620:4f:8000:ffff:ffff:ffff:ffff:ffff
3ffe:: 3ffe:ffff::1 3fff:: 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff 4000:: 4000::1 5f00:: 5f00::1 5fff::1 6000:: 7fff::1 8000:: 9000::1
a000::1 bfff::1 c000::1 dfff::1 e000::1 f000::1 f800::1 fbff:ffff::1 fc00:: fc00::1 fd00:: fd00::1 fd00:ec2::254 fd20:ce::254
fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff fe00:: fe7f::1 fe80:: fe80::1 fe80::5efe:7f00:1 febf:ffff::1 fec0:: fec0::1 feff::1 ff00:: ff01::1
ff02::1 ff02::fb ff05::2 ff0e::1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
`

/** Private IPv4 addresses, to embed in other forms. */
const PRIVATE =
  '0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1 172.31.255.255 192.168.0.1 198.18.0.1 224.0.0.1 255.255.255.255'

/** How an IPv6 address embeds an IPv4 address: as eight hexadecimal digits in two groups, or as a dotted quad. */
const FORMS: ((groups: string, quad: string, inverted: string) => string)[] = [
  (groups) => `::ffff:${groups}`,
  (_, quad) => `::ffff:${quad}`,
  (_, quad) => `::FFFF:${quad}`,
  (_, quad) => `0:0:0:0:0:ffff:${quad}`,
  (groups) => `0000:0000:0000:0000:0000:ffff:${groups}`,
  (groups) => `::ffff:0:${groups}`,
  (_, quad) => `::${quad}`,
  (groups) => `64:ff9b::${groups}`,
  (_, quad) => `64:ff9b::${quad}`,
  (_, quad) => `0064:FF9B:0:0:0:0:${quad}`,
  (groups) => `64:ff9b:1::${groups}`,
  (groups) => `64:ff9b:1:${groups}::`,
  (groups) => `2002:${groups}::`,
  (groups) => `2002:${groups}::1`,
  (groups) => `2001:0:${groups}::`,
  (_, __, inverted) => `2001:0:808:808::${inverted}`,
  (groups) => `fe80::5efe:${groups}`,
  (groups) => `fe80::200:5efe:${groups}`,
]

/** Spellings of private addresses that some parsers accept, as hosts of a URL or as they are. */
const TRICKS = `
127.1 127.0.1 2130706433 0x7f000001 0x7f.1 0x7f.0.0.1 0177.0.0.1 0177.1 017700000001 127.0.0.1. 127.0.0.01 127.0.0.001 127.00.0.1
0 0. 0x0 00 0.0 0.0.0 1 10.1 0xa.1 012.1 167772161 0xa000001 3232235521 0xc0a80001 192.168.1 0300.0250.1 2852039166 0xa9fea9fe 0251.0376.0251.0376
0xa9.0xfe.0xa9.0xfe 169.16689662 169.254.43518 4294967295 0xffffffff 0x1p1 1e1 +127.0.0.1 -1 127.0.0.1:80 127.0.0.1/8 127.0.0.1%00 127.0.0.1#
127。0。0。1 １２７.０.０.１ ①②⑦.0.0.1 127.0.0.1\\@x 127.0.0.1%2e 127%2e0%2e0%2e1 %31%32%37.0.0.1
[::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [fe80::1%25lo] fe80::1%lo fe80::1%1 ::1%lo [::1]:80 ::1/128 ::127.0.0.1 ::ffff:127.1 ::ffff:2130706433
::ffff:0x7f.1 0:0:0:0:0:0:0:1 0000:0000:0000:0000:0000:0000:0000:0001 ::0001 0::1 ::0:1 0:0::1 [0:0:0:0:0:ffff:127.0.0.1] [0:0:0:0:0:0:127.0.0.1]
localhost LOCALHOST localhost. loopback ip6-localhost broadcasthost local 1::2::3 ::: 12345::1 ::ffff:256.0.0.1 256.256.256.256 1.2.3.4.5
`

const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '')
const groupsOf = (quad: string): string => {
  const [a = 0, b = 0, c = 0, d = 0] = quad.split('.').map(Number)
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
}
const invert = (quad: string): string =>
  quad
    .split('.')
    .map((byte) => 255 - Number(byte))
    .join('.')
const at = (text: string): IpAddress => parseAddress(text) ?? assert.fail(`${text} is no address`)
const range = (text: string): AddressRange => parseAddressRange(text) ?? assert.fail(`${text} is no range`)

/** Where a spelling leads the crawler: as a DNS record, and as the host of a redirect that is an address. */
function reached(spelling: string): unknown[] {
  const record = parseAddress(spelling)
  const url = resolveRedirect(`http://${spelling}/`, new URL('http://example.com/'))
  const host = url === null ? null : parseAddress(url.hostname.replace(/^\[(.*)\]$/, '$1'))
  assert.ok(host === null || url === null || !isProbeable(url))
  return [record, host].flatMap((address) =>
    address === null ? [] : [guard.vet(address, 80), guard.vet(address, 443)],
  )
}

test('none of more than 250 spellings of private, special and reserved addresses is connected to', () => {
  const hidden = words(PRIVATE).flatMap((quad) =>
    FORMS.map((form) => form(groupsOf(quad), quad, groupsOf(invert(quad)))),
  )
  const spellings = new Set([...words(SPECIAL), ...hidden, ...words(TRICKS)])
  assert.ok(spellings.size > 400, `${spellings.size}`)
  for (const spelling of [...words(SPECIAL), ...hidden]) at(spelling) // each is one
  const passed = [...spellings].filter((spelling) => reached(spelling).some((vetted) => vetted !== null))
  assert.deepEqual(passed, [])
})

test('public addresses are connected to on ports 80 and 443', () => {
  for (const text of words(
    '1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 93.184.216.34 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.0.3.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 203.0.112.255 203.0.114.0 223.255.255.255 2001:200:: 2001:4860:4860::8888 2001:db7:ffff::1 2001:db9::1 2003::1 2606:2800:220:1::1 2620:4f:7fff::1 2a00:1450::1 3ffd::1 3fff:1000::1',
  )) {
    for (const port of [80, 443]) assert.deepEqual(guard.vet(at(text), port), { address: text, port })
  }
})

test('no other port is connected to', () => {
  for (const port of [-1, 0, 1, 22, 25, 53, 79, 81, 444, 8080, 8443, 65535, 65616, 80.5, Number.NaN]) {
    assert.equal(guard.vet(at('93.184.216.34'), port), null)
    assert.equal(makeGuard({ allowed: [range('127.0.0.0/8')] }).vet(at('127.0.0.1'), port), null)
  }
})

test('a mapped address counts as its IPv4 address, and a NAT64 address as the embedded one', () => {
  assert.deepEqual(guard.vet(at('::ffff:93.184.216.34'), 80), { address: '93.184.216.34', port: 80 })
  assert.deepEqual(guard.vet(at('64:ff9b::5db8:d822'), 443), { address: '64:ff9b::5db8:d822', port: 443 })
})

test('a port mapping opens one address for one web port, and nothing else', () => {
  const own = makeGuard({ portMappings: [{ address: at('127.0.0.5'), port: 34_567, publicPort: 443 }] })
  assert.deepEqual(own.vet(at('127.0.0.5'), 443), { address: '127.0.0.5', port: 34_567, isOwn: true })
  assert.deepEqual(own.vet(at('::ffff:127.0.0.5'), 443), { address: '127.0.0.5', port: 34_567, isOwn: true })
  for (const [text, port] of [
    ['127.0.0.5', 80],
    ['127.0.0.5', 34_567],
    ['127.0.0.4', 443],
    ['::1', 443],
    ['64:ff9b::7f00:5', 443],
  ] as const)
    assert.equal(own.vet(at(text), port), null)
  assert.throws(
    () => makeGuard({ portMappings: [{ address: at('127.0.0.5'), port: 1, publicPort: 8080 }] }),
    RangeError,
  )
})

test('ranges of --allow are opened, and the blocked address in them is closed, also if it listens on every address', () => {
  const opened = [range('127.0.0.0/8'), range('::1')]
  const own = makeGuard({ allowed: opened, blocked: [{ address: at('127.0.0.1'), port: 80 }] })
  assert.deepEqual(own.vet(at('127.0.0.2'), 80), { address: '127.0.0.2', port: 80, isOwn: true })
  assert.deepEqual(own.vet(at('127.0.0.1'), 443), { address: '127.0.0.1', port: 443, isOwn: true })
  assert.deepEqual(own.vet(at('::1'), 80), { address: '::1', port: 80, isOwn: true })
  for (const text of ['127.0.0.1', '::ffff:127.0.0.1', '10.0.0.1', '::2']) assert.equal(own.vet(at(text), 80), null)
  for (const anywhere of ['0.0.0.0', '::']) {
    const closed = makeGuard({ allowed: opened, blocked: [{ address: at(anywhere), port: 80 }] })
    for (const text of ['127.0.0.1', '127.9.9.9', '::1']) assert.equal(closed.vet(at(text), 80), null)
    assert.deepEqual(closed.vet(at('127.0.0.1'), 443), { address: '127.0.0.1', port: 443, isOwn: true })
    assert.deepEqual(closed.vet(at('93.184.216.34'), 80), { address: '93.184.216.34', port: 80 })
  }
  const stands = [{ address: at('127.0.0.7'), port: 8080, publicPort: 80 }]
  const listener = [{ address: at('127.0.0.7'), port: 8080 }]
  assert.equal(makeGuard({ portMappings: stands, blocked: listener }).vet(at('127.0.0.7'), 80), null)
})

test('an opted-out address is not connected to in any form, even if it is opened or mapped', () => {
  const isLeftOut = (address: IpAddress) => ['127.0.0.5', '93.184.216.34', '2001:db9::1'].includes(address)
  const stands = [{ address: at('127.0.0.5'), port: 8080, publicPort: 80 }]
  const left = makeGuard({ isOptedOut: isLeftOut, portMappings: stands, allowed: [range('127.0.0.0/8')] })
  for (const text of words(
    '127.0.0.5 ::ffff:127.0.0.5 93.184.216.34 ::ffff:93.184.216.34 64:ff9b::5db8:d822 2001:db9::1',
  )) {
    for (const port of [80, 443]) assert.equal(left.vet(at(text), port), null, text)
  }
  assert.notEqual(left.vet(at('64:ff9b::5db8:d823'), 80), null)
})

test('no range and no port mapping opens link-local addresses, cloud metadata, the unspecified address or NAT64 of them', () => {
  const all = [range('0.0.0.0/0'), range('::/0')]
  const texts = words(
    '169.254.0.0 169.254.169.254 169.254.255.255 ::ffff:169.254.169.254 64:ff9b::a9fe:a9fe 2002:a9fe:a9fe::1 2001:0:a9fe:a9fe::1 2001::5601:5601 ::a9fe:a9fe 0.0.0.0 :: ::ffff:0.0.0.0 64:ff9b:1::1 fd00:ec2::254 fe80::1 ff02::1 224.0.0.1 255.255.255.255 100.100.100.200 168.63.129.16',
  )
  const stands = texts.map((text) => ({ address: at(text), port: 80, publicPort: 80 }))
  const open = makeGuard({ allowed: all })
  assert.deepEqual(
    texts.filter((text) => open.vet(at(text), 80) !== null),
    [],
  )
  const never = texts.filter((text) => !/^(64:ff9b::|2002|2001|::a9)/.test(text))
  const stood = makeGuard({ portMappings: stands })
  assert.deepEqual(
    never.filter((text) => stood.vet(at(text), 80) !== null),
    [],
  )
  assert.deepEqual(open.vet(at('10.0.0.1'), 80), { address: '10.0.0.1', port: 80, isOwn: true })
})

test('in an opened range, an address goes by the IPv4 address that it embeds', () => {
  const open = makeGuard({ allowed: [range('2001::/32'), range('::ffff:0:0:0/96')] })
  const teredo = (quad: string) => `2001:0:808:808::${groupsOf(invert(quad))}`
  const translated = (quad: string) => `::ffff:0:${groupsOf(quad)}`
  for (const form of [teredo, translated]) {
    assert.deepEqual(open.vet(at(form('8.8.4.4')), 80), { address: at(form('8.8.4.4')), port: 80, isOwn: true })
    for (const quad of words(PRIVATE)) assert.equal(open.vet(at(form(quad)), 80), null, form(quad))
  }
})

test('a port mapping leads to another address, unless one of the two is blocked', () => {
  const stands = [{ address: at('127.0.0.5'), port: 8080, publicPort: 80, connectTo: at('127.0.0.1') }]
  const vet = (blocked: { address: IpAddress; port: number }[]) =>
    makeGuard({ portMappings: stands, blocked }).vet(at('127.0.0.5'), 80)
  assert.deepEqual(vet([]), { address: '127.0.0.5', port: 8080, isOwn: true, connectTo: '127.0.0.1' })
  for (const text of ['127.0.0.5', '127.0.0.1']) assert.equal(vet([{ address: at(text), port: 8080 }]), null, text)
  assert.notEqual(vet([{ address: at('127.0.0.1'), port: 80 }]), null)
})

test('a connection to a mapped or NAT64 address reaches the IPv4 address', () => {
  for (const [text, reachedAddress] of [
    ['93.184.216.34', '93.184.216.34'],
    ['::ffff:93.184.216.34', '93.184.216.34'],
    ['64:ff9b::5db8:d822', '93.184.216.34'],
    ['64:ff9b:1::5db8:d822', '64:ff9b:1::5db8:d822'],
    ['2002:5db8:d822::', '2002:5db8:d822::'],
    ['2606:2800:220:1::1', '2606:2800:220:1::1'],
  ] as const)
    assert.equal(effectiveAddress(at(text)), reachedAddress)
})

test('a range of one family opens nothing of the other', () => {
  assert.equal(makeGuard({ allowed: [range('::/0')] }).vet(at('10.0.0.1'), 80), null)
  assert.equal(makeGuard({ allowed: [range('0.0.0.0/0')] }).vet(at('fd00::1'), 80), null)
})

test('a range is an address and a prefix length, without bits after it', () => {
  assert.deepEqual(parseAddressRange('127.0.0.0/8'), { base: '127.0.0.0', bits: 8 })
  assert.deepEqual(parseAddressRange('::1/128'), { base: '::1', bits: 128 })
  assert.deepEqual(parseAddressRange('10.0.0.1'), { base: '10.0.0.1', bits: 32 })
  assert.deepEqual(parseAddressRange('0.0.0.0/0'), { base: '0.0.0.0', bits: 0 })
  assert.deepEqual(parseAddressRange('172.16.0.0/12'), { base: '172.16.0.0', bits: 12 })
  for (const text of words(
    '127.0.0.1/8 10.128.0.0/8 172.24.0.0/12 10.0.0.0/33 10.0.0.0/-1 10.0.0.0/08 10.0.0.0/ 10.0.0.0/8/8 10.0.0.0/255.0.0.0 /8 10/8 ::1/129 fd00::1/8 ::ffff:10.0.0.0/104 example.com',
  ))
    assert.equal(parseAddressRange(text), null, text)
  assert.equal(parseAddressRange(''), null)
  assert.equal(parseAddressRange(' 10.0.0.0/8'), null)
})

test('whatever address is vetted, the connection goes to it or to the IPv4 address that it maps', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ minLength: 4, maxLength: 4 }).map((four) => Uint8Array.of(4, ...four)),
    fc.uint8Array({ minLength: 16, maxLength: 16 }).map((sixteen) => Uint8Array.of(6, ...sixteen)),
    fc
      .uint8Array({ minLength: 4, maxLength: 4 })
      .map((four) => Uint8Array.of(6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, ...four)),
  )
  fc.assert(
    fc.property(bytes, fc.constantFrom(80, 443), (packed, port) => {
      const address = unpackAddress(packed)
      const vetted = guard.vet(address, port)
      if (vetted === null) return
      assert.equal(vetted.port, port)
      if (address.startsWith('::ffff:')) assert.equal(`::ffff:${vetted.address}`, address)
      else assert.equal(vetted.address, address)
      const first = packed[1]!
      if (addressFamily(vetted.address) === 4)
        assert.ok(!vetted.address.startsWith('127.') && !vetted.address.startsWith('10.'))
      else assert.ok((first >= 0x20 && first <= 0x3f) || vetted.address.startsWith('64:ff9b::'))
    }),
  )
})

test('a range is described by its content: addresses that stay closed, only special ones, or also public ones', () => {
  for (const [kind, ...texts] of [
    ['closed', '169.254.0.0/16', '169.254.169.254', '224.0.0.0/4', 'fe80::/10', 'ff02::/16'],
    ['special', '10.0.0.0/8', '127.91.0.0/16', '::1', 'fd00::/8', '2001:db8:1::/48'],
    ['public', '0.0.0.0/0', '8.0.0.0/7', '93.184.216.34', '::/0', '2000::/3', '2606:2800::/32'],
  ] as const) {
    for (const text of texts) assert.equal(classifyRange(parseAddressRange(text) as AddressRange), kind, text)
  }
})

test('without a contact, only opened addresses are connected to, in whatever form', () => {
  const strict = makeGuard({ allowed: [range('127.0.0.0/8'), range('192.0.2.7')], onlyAllowed: true })
  for (const address of [
    '93.184.216.34',
    '2606:2800:220:1::1',
    '::ffff:93.184.216.34',
    '64:ff9b::5db8:d822',
    '10.0.0.1',
  ])
    assert.equal(strict.vet(at(address), 443), null, address)
  for (const address of ['127.0.0.1', '192.0.2.7']) assert.notEqual(strict.vet(at(address), 443), null, address)
  assert.notEqual(makeGuard({ allowed: [range('127.0.0.0/8')] }).vet(at('93.184.216.34'), 443), null)
})
