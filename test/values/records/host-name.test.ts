// Tests host names in records and the administrator address of an SOA record.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { adminEmail, parseHostName } from '../../../src/values/records/host-name.ts'

/** The presentation form of labels in bytes, with every byte escaped. */
const spell = (labels: Uint8Array[]) =>
  labels.map((label) => Array.from(label, (byte) => `\\${String(byte).padStart(3, '0')}`).join('')).join('.')

test('a host name is stored in lower case without its trailing dot, and the root is a dot', () => {
  const pairs = [
    ['.', '.'],
    ['A.Root-Servers.NET.', 'a.root-servers.net'],
    ['localhost', 'localhost'],
    ['_sip._tcp.example', '_sip._tcp.example'],
    ['*.example', '*.example'],
    ['1.2.3.4', '1.2.3.4'],
    ['John\\.Doe.Example', 'john\\.doe.example'],
    ['a\\046b.example', 'a\\.b.example'],
    ['a\\.', 'a\\.'],
    ['a\\..', 'a\\.'],
    ['\\065\\@\\\\.example', 'a@\\\\.example'],
    ['a\\032b\\000\\255.example', 'a\\032b\\000\\255.example'],
    ['bücher.example', 'b\\195\\188cher.example'],
  ]
  for (const [text, host] of pairs) assert.equal(parseHostName(text!), host, text)
})

test('a text that is not a host name is rejected', () => {
  for (const text of [
    '',
    '..',
    'a..b',
    '.a',
    'a..',
    'a b',
    ' a',
    'a\n',
    'a\u007fb',
    'a\\',
    'a\\ b',
    'a\\25',
    'a\\256',
    'ü..b',
    'ü\tb',
  ])
    assert.equal(parseHostName(text), null, text)
})

test('a label has at most 63 bytes and a name 255 in wire form, however they are spelled', () => {
  const label = (length: number) => new Uint8Array(length).fill(97)
  for (const write of [spell, (labels: Uint8Array[]) => labels.map((bytes) => 'a'.repeat(bytes.length)).join('.')]) {
    assert.equal(parseHostName(write([label(63)])), 'a'.repeat(63))
    assert.equal(parseHostName(write([label(64)])), null)
    assert.equal(parseHostName(write([label(63), label(63), label(63), label(61)]))?.length, 253)
    assert.equal(parseHostName(write([label(63), label(63), label(63), label(62)])), null)
  }
})

test('two names have the same text exactly if their bytes are equal, apart from letter case', () => {
  const labels = fc.array(fc.uint8Array({ minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 4 })
  const folded = (name: Uint8Array[]) =>
    JSON.stringify(name.map((label) => Array.from(label, (byte) => (byte >= 65 && byte <= 90 ? byte + 32 : byte))))
  fc.assert(
    fc.property(labels, labels, (a, b) => {
      const host = parseHostName(spell(a))!
      assert.equal(parseHostName(host), host)
      assert.equal(parseHostName(`${host}.`), host)
      assert.match(host, /^[!-~]+$/)
      assert.equal(host === parseHostName(spell(b)), folded(a) === folded(b))
    }),
    { numRuns: 1000 },
  )
})

test('the first unescaped dot of an SOA mailbox becomes the at sign', () => {
  const pairs = [
    ['noc.dns.icann.org', 'noc@dns.icann.org'],
    ['NOC.DNS.icann.org.', 'noc@dns.icann.org'],
    ['john\\.doe.example.com.', 'john.doe@example.com'],
    ['john\\046q\\.doe.example.com', 'john.q.doe@example.com'],
    ['a\\\\.example.com', 'a\\\\@example.com'],
    ['a\\032b.example.com', 'a\\032b@example.com'],
    ['hostmaster.', 'hostmaster'],
    ['.', '.'],
  ]
  for (const [mname, email] of pairs) assert.equal(adminEmail(mname!), email)
})
