/** The keys of the inverse index: one for each value, in the documented order, and as they were stored. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BlockWriter, EntryCursor, MAX_KEY_BYTES } from '../../../src/inverse/entries/block.ts'
import { EventCollector } from '../../../src/inverse/entries/event-collector.ts'
import { Rotations, unpackRotation } from '../../../src/inverse/entries/rotation.ts'
import {
  addressKey,
  certificateKey,
  forwardNamePrefix,
  hostKey,
  hostOfValueKey,
  hostPrefix,
  isKeyOfName,
  KEY_KIND,
  keysOfLastLabel,
  keysOfName,
  knownNameOfKey,
  latin1Bytes,
  namedHostKeys,
  nameOfSetKey,
  nameSetKey,
  namesHost,
  parseEntryKey,
  parseNamedHostKey,
  textKey,
  valueKeysOfRecord,
  valueKeysOfValues,
} from '../../../src/inverse/entries/value-key.ts'
import { compareAddresses, type IpAddress, parseAddress } from '../../../src/values/ip-address.ts'
import { parseHostName } from '../../../src/values/records/host-name.ts'

const NAME = 'owner.example'

const address = fc
  .oneof(fc.ipV4(), fc.ipV6())
  .map(parseAddress)
  .filter((each): each is IpAddress => each !== null)
const host = fc
  .oneof(
    fc.constantFrom(
      '.',
      'example',
      'b.example',
      'a\\.b.example',
      'a.b.example',
      '\\000.example',
      '*.example',
      'exampl',
    ),
    fc.domain(),
    fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => {
      return `${[...bytes].map((byte) => `\\${String(byte).padStart(3, '0')}`).join('')}.example`
    }),
  )
  .map(parseHostName)
  .filter((each): each is string => each !== null)
const parts = fc.array(fc.string({ maxLength: 300, unit: 'binary' }), { minLength: 1, maxLength: 3 })

/** A record as stored, with a text that tells it apart. */
const record = fc.oneof(
  address.map((each) => ['A', each] as const),
  fc.tuple(fc.constantFrom('NS' as const, 'CNAME' as const), host),
  fc.tuple(fc.constantFrom(0, 1, 255, 256, 65535), host).map((each) => ['MX', each] as const),
  parts.map((each) => ['TXT', each] as const),
)

test('different values have different keys, of which none continues another, and equal ones the same', () => {
  fc.assert(
    fc.property(record, record, ([type, value], [otherType, other]) => {
      const [key, otherKey] = [valueKeysOfRecord(type, value), valueKeysOfRecord(otherType, other)]
      const isSame = type === otherType && JSON.stringify(value) === JSON.stringify(other)
      assert.equal(key[0] === otherKey[0], isSame)
      assert.ok(isSame || !key[0]!.startsWith(otherKey[0]!), 'a name that follows changes nothing')
    }),
    { numRuns: 2000 },
  )
})

test('the key of an entry gives back its value and its name', () => {
  fc.assert(
    fc.property(record, ([type, value]) => {
      const parsed = parseEntryKey(valueKeysOfRecord(type, value)[0]! + NAME)!
      assert.equal(parsed.name, NAME)
      if (type === 'A') assert.deepEqual(parsed.value, { kind: 'address', address: value })
      else if (type === 'TXT') assert.deepEqual(parsed.value, { kind: 'text' })
      else {
        const expected = type === 'MX' ? value[1] : value
        const priority = type === 'MX' ? String.fromCharCode((value[0] as number) >> 8, (value[0] as number) & 255) : ''
        assert.deepEqual(parsed.value, { kind: 'host', host: expected, type, detail: priority })
      }
    }),
    { numRuns: 1000 },
  )
})

test('an SOA has the keys of its server and of its mailbox as a host', () => {
  const keys = valueKeysOfRecord('SOA', ['ns.example', 'a.b@example', 1, 2, 3, 4, 5])
  const values = keys.map((key) => parseEntryKey(key + NAME)!.value)
  assert.deepEqual(values, [
    { kind: 'host', host: 'ns.example', type: 'SOA', detail: '\x00' },
    { kind: 'host', host: 'a\\.b.example', type: 'SOA', detail: '\x01' },
  ])
})

test('addresses sort as the responses list them', () => {
  fc.assert(
    fc.property(address, address, (a, b) => {
      const order = Buffer.compare(latin1Bytes(addressKey(a)), latin1Bytes(addressKey(b)))
      assert.equal(order, Math.sign(compareAddresses(a, b)))
    }),
  )
})

test('all hosts below a host are one range of keys, which begins after those of the host itself', () => {
  const sorted = ['.', 'example', 'b.example', 'a.b.example', 'a\\.b.example', 'c.example', 'exampl0'].map((each) =>
    hostKey(each, 'NS'),
  )
  const order = sorted.toSorted((a, b) => Buffer.compare(latin1Bytes(a), latin1Bytes(b)))
  const hosts = order.map((key) => (parseEntryKey(key + NAME)!.value as { host: string }).host)
  assert.deepEqual(hosts, ['.', 'exampl0', 'example', 'a\\.b.example', 'b.example', 'a.b.example', 'c.example'])
  const below = order.filter((key) => key.startsWith(hostPrefix('b.example')))
  assert.deepEqual(
    below,
    ['b.example', 'a.b.example'].map((each) => hostKey(each, 'NS')),
  )
})

test('keys are those of every release', () => {
  const sha256 = 'ab'.repeat(32)
  const digest = '\xab'.repeat(32)
  const redirecting: unknown[] = [0, 0, 0, 0, 'b.example', 'www.b.example', 'valid']
  for (const [keys, expected] of [
    [valueKeysOfRecord('A', '192.0.2.1'), ['\x04\xc0\x00\x02\x01']],
    [valueKeysOfRecord('NS', 'ns.example'), ['hexample\x01ns\x01\x00\x02']],
    [valueKeysOfRecord('CNAME', 'ns.example'), ['hexample\x01ns\x01\x00\x05']],
    [valueKeysOfRecord('MX', [258, 'mx.example']), ['hexample\x01mx\x01\x00\x0f\x01\x02']],
    [valueKeysOfRecord('TXT', ['v']), ['t\x05["v"]']],
    [valueKeysOfValues('web', redirecting), ['rexample\x01b\x01www\x01\x00']],
    [valueKeysOfValues('web', redirecting.with(4, null)), []],
    [valueKeysOfValues('certificate', sha256), [`c${digest}`]],
    [namedHostKeys({ sha256, names: ['*.a.example'] }), [`mexample\x01a\x01*\x01\x00${digest}`]],
    [[nameSetKey('knownHost', 'a.example')], ['ka\x01example\x01']],
    [keysOfName('a.b').slice(0, 2), ['ob\x01a\x01', 'sa\x01b\x01']],
    [[forwardNamePrefix('a.b.c')], ['sa\x01b\x01c']],
  ])
    assert.deepEqual(keys, expected)
})

test('the keys of a redirect, of a certificate and of its names give back what they say', () => {
  const sha256 = '0123456789abcdef'.repeat(4)
  const [redirect] = valueKeysOfValues('web', [0, 0, 0, 0, 'b.example', null, 'valid'])
  assert.deepEqual(parseEntryKey(redirect! + NAME), { value: { kind: 'redirect', host: 'b.example' }, name: NAME })
  const certificate = certificateKey(sha256)
  assert.deepEqual(parseEntryKey(certificate + NAME), { value: { kind: 'certificate', sha256 }, name: NAME })
  const names = ['*.a.example', 'a.example']
  const parsed = namedHostKeys({ sha256, names }).map(parseNamedHostKey)
  assert.deepEqual(
    parsed,
    names.map((host) => ({ host, sha256 })),
  )
  assert.equal(parseEntryKey(namedHostKeys({ sha256, names })[0]!), null, 'a set has no values')
  const key = hostKey('ns.example', 'NS')
  assert.deepEqual([namesHost(key), namesHost(certificate), hostOfValueKey(key)], [true, false, 'ns.example'])
})

test('a known name has one key in each order of its labels, and one for each place before its last dot', () => {
  fc.assert(
    fc.property(fc.domain(), fc.domain(), (name, other) => {
      const keys = keysOfName(name)
      assert.equal(new Set(keys).size, 1 + name.lastIndexOf('.'))
      for (const key of keys) {
        assert.equal(knownNameOfKey(key), name)
        assert.ok(isKeyOfName(name, key))
        assert.equal(isKeyOfName(other, key), name === other)
      }
    }),
  )
  const rotations = new Rotations()
  rotations.begin('ab.cd')
  const rotated = (at: number): string => KEY_KIND.rotatedName + rotations.packAt(at).toString('latin1')
  assert.deepEqual(
    [0, 1, 2, 3].map((at) => isKeyOfName('ab.cd', rotated(at))),
    [false, true, false, false],
  )
  assert.equal(knownNameOfKey(nameSetKey('knownHost', 'a.example')), null)
  assert.deepEqual(
    keysOfLastLabel('ab.cd').map((key) => [key[0], unpackRotation(key.slice(1))]),
    [0, 1, 2].map((at) => ['l', { name: '.cd', at }]),
  )
})

test('a text of any length has a key of at most 66 bytes', () => {
  const lengths = Array.from({ length: 301 }, (_, length) => textKey(['x'.repeat(length)]))
  assert.equal(new Set(lengths).size, 301)
  assert.ok(lengths.every((key) => key.length <= 66))
})

test('a set key gives back its name', () => {
  fc.assert(
    fc.property(host, fc.constantFrom('knownHost', 'reversedName', 'forwardName'), (each, kind) => {
      if (each !== '.') assert.equal(nameOfSetKey(nameSetKey(kind, each)), each)
    }),
  )
})

test('the longest host and the longest name make a key that is stored whole', () => {
  const label = (bytes: number): string => '\\255'.repeat(bytes)
  const longest = [63, 63, 63, 61].map(label).join('.')
  assert.equal(parseHostName(longest), longest)
  const name = `${['a', 'b', 'c'].map((each) => each.repeat(63)).join('.')}.${'d'.repeat(61)}`
  const keys = valueKeysOfRecord('MX', [65535, longest])
  assert.ok(keys[0]!.length + name.length <= MAX_KEY_BYTES, `${keys[0]!.length + name.length} bytes`)
  const collector = new EventCollector()
  for (let count = 0; count < 200; count++) collector.add(keys[0]!, name, 2 + count)
  const blocks = collector.pack()
  const cursor = new EntryCursor(blocks.map(({ bytes }) => bytes))
  assert.ok(cursor.next())
  assert.equal(cursor.key.toString('latin1', 0, cursor.keyLength), keys[0]! + name)
  const writer = new BlockWriter()
  const bytes = latin1Bytes(keys[0]! + name)
  writer.add(bytes, bytes.length, [2, 4], 2)
  assert.equal(writer.take(true)[0]!.last.length, bytes.length + 6)
})
