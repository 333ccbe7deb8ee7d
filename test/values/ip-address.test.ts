// Tests addresses: spellings, the canonical form of RFC 5952, packing and order.
import assert from 'node:assert/strict'
import { isIPv6 } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import * as address from '../../src/values/ip-address.ts'
import { vectors } from './vectors.ts'

const {
  parseAddress,
  parseQueryAddress: queryAddress,
  packAddress,
  unpackAddress,
  packToHex: packedHex,
  unpackHex,
  compareAddresses,
} = address

/** Any address, from its packed bytes, with many zero groups in the IPv6 ones. */
const someAddress = fc.oneof(
  fc.uint8Array({ minLength: 4, maxLength: 4 }).map((bytes) => unpackAddress(Uint8Array.of(4, ...bytes))),
  fc
    .array(fc.constantFrom(0, 0, 0, 1, 0xdb8, 0xffff, 0xa0b0), { minLength: 8, maxLength: 8 })
    .map((groups) => unpackAddress(Uint8Array.of(6, ...groups.flatMap((group) => [group >>> 8, group & 255])))),
)

test('an IPv4 address is a dotted quad and nothing else', () => {
  for (const text of ['0.0.0.0', '1.2.3.4', '255.255.255.255']) assert.equal(parseAddress(text), text)
  for (const text of [
    '',
    '1.2.3',
    '1.2.3.256',
    '01.2.3.4',
    '0x7f.0.0.1',
    '127.1',
    '2130706433',
    ' 1.2.3.4',
    '1.2.3.4\n',
  ])
    assert.equal(parseAddress(text), null, text)
})

test('an IPv6 address is stored as RFC 5952 writes it', () => {
  const pairs = [
    ['2001:0DB8:0000:0000:0000:0000:0002:0001', '2001:db8::2:1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
    ['::2:3:4:5:6:7:8', '0:2:3:4:5:6:7:8'],
    ['0:0:0:0:0:0:0:0', '::'],
    ['1::', '1::'],
    ['::1', '::1'],
    ['::FFFF:1.2.3.4', '::ffff:1.2.3.4'],
    ['::ffff:102:304', '::ffff:1.2.3.4'],
    ['0:0:0:0:0:ffff:0:0', '::ffff:0.0.0.0'],
    ['::1.2.3.4', '::102:304'],
    ['::ffff:0:1.2.3.4', '::ffff:0:102:304'],
    ['64:ff9b::1.2.3.4', '64:ff9b::102:304'],
  ]
  for (const [text, form] of pairs) assert.equal(parseAddress(text!), form)
})

test('zone, prefix length, brackets and port are rejected', () => {
  for (const text of ['fe80::1%eth0', '::1/128', '[::1]', '[::1]:80', '1.2.3.4:80', '1.2.3.4/32', '::1 '])
    assert.equal(parseAddress(text), null, text)
})

test('in a query a mapped address is the IPv4 address, and white space is removed', () => {
  assert.equal(queryAddress(' ::ffff:1.2.3.4\n'), '1.2.3.4')
  assert.equal(queryAddress('::FFFF:0102:0304'), '1.2.3.4')
  assert.equal(queryAddress(' 2001:DB8::1 '), '2001:db8::1')
  assert.equal(queryAddress('::1.2.3.4'), '::102:304')
  assert.equal(queryAddress('example.com'), null)
})

test('the canonical form is the shortest one and has the same bytes', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV6(), someAddress), (text) => {
      const form = parseAddress(text)!
      const url = (spelling: string) => new URL(`http://[${spelling}]`).hostname.slice(1, -1)
      assert.equal(parseAddress(form), form)
      if (address.addressFamily(form) === 4) return
      assert.equal(url(form), url(text))
      if (!form.includes('.')) assert.equal(form, url(text))
    }),
    { numRuns: 2000 },
  )
})

test('packing preserves the address and the order of the contract: IPv4 before IPv6, numeric', () => {
  const compareBytes = (a: string, b: string) =>
    Math.sign(Buffer.compare(packAddress(a as never), packAddress(b as never)))
  fc.assert(
    fc.property(someAddress, someAddress, (a, b) => {
      assert.equal(unpackAddress(packAddress(a)), a)
      assert.equal(packedHex(a), Buffer.from(packAddress(a)).toString('hex'))
      assert.equal(unpackHex(packedHex(a)), a)
      assert.equal(unpackHex(packedHex(a).toUpperCase()), a)
      assert.equal(compareAddresses(a, b), compareBytes(a, b))
    }),
    { numRuns: 2000 },
  )
  const sorted = ['2.0.0.0', '10.0.0.0', '200.0.0.0', '::', '::2', '::10', '::ffff:1.2.3.4', '2::', '10::', 'a000::']
  assert.deepEqual(sorted.map((text) => parseAddress(text)!).sort(compareAddresses), sorted)
})

test('bytes that are not an address are a fault', () => {
  for (const hex of [
    '',
    '04',
    '0401020304ff',
    '0501020304',
    `06${'00'.repeat(15)}`,
    '04010203zz',
    '0401020304zz'.slice(0, 9),
  ])
    assert.throws(() => unpackHex(hex), RangeError)
})

type Vector = { address: string }

for (const path of ['ipv4/valid-ipv4-addresses', 'ipv6/valid-ipv6-addresses', 'ipv6/intermapper-valid-ipv6-addresses'])
  test(`${path}: accepted, except zones and prefix lengths`, (t) => {
    const { list, skip } = vectors<Vector>(`${path}.json`)
    if (skip) return t.skip(skip)
    assert.ok(list.length > 0)
    for (const { address } of list) assert.equal(parseAddress(address) === null, /[/%]/.test(address), address)
  })

test('ipv4/invalid-ipv4-addresses: rejected', (t) => {
  const { list, skip } = vectors<Vector>('ipv4/invalid-ipv4-addresses.json')
  if (skip) return t.skip(skip)
  for (const { address } of list) assert.equal(parseAddress(address), null, address)
})

for (const path of ['ipv6/invalid-ipv6-addresses', 'ipv6/intermapper-invalid-ipv6-addresses'])
  test(`${path}: not an IPv6 address`, (t) => {
    const { list, skip } = vectors<Vector>(`${path}.json`)
    if (skip) return t.skip(skip)
    for (const { address } of list) assert.equal(isIPv6(parseAddress(address) ?? ''), false, address)
  })
