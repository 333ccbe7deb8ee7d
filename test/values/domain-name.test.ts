// Tests domain names: which are accepted, which are rejected and why, and the keys that are derived from them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { domainToUnicode } from 'node:url'
import fc from 'fast-check'
import {
  type DomainName,
  nameProblem,
  parseName,
  registrableDomain,
  SLOT_COUNT,
  slotOf,
  slotRangeOf,
} from '../../src/values/domain-name.ts'
import { vectors } from './vectors.ts'

const long = (length: number) => 'a'.repeat(length)
const LONGEST = `${long(63)}.${long(63)}.${long(63)}.${long(61)}`

test('white space around a name, letter case and one trailing dot are removed', () => {
  assert.equal(parseName('example.com'), 'example.com')
  assert.equal(parseName('\t Example.COM.\r\n'), 'example.com')
  assert.equal(parseName('EXAMPLE.COM'), 'example.com')
  assert.equal(parseName('\u00a0example.com\ufeff'), 'example.com')
})

test('an ASCII name is accepted unchanged, including unusual labels', () => {
  for (const name of [
    '_dmarc.a_b.example',
    '-a-.example',
    'xn--a.example',
    'xn--99999999.xn--p1ai',
    '1.2.3.a4',
    '1.2.3.0x4',
  ])
    assert.equal(parseName(name), name)
  assert.equal(parseName('XN--A.Example'), 'xn--a.example')
})

test('a name outside ASCII is converted by UTS 46', () => {
  assert.equal(parseName('Bücher.DE'), 'xn--bcher-kva.de')
  assert.equal(parseName('bu\u0308cher。de.'), 'xn--bcher-kva.de')
  assert.equal(parseName('faß.de'), 'xn--fa-hia.de')
  assert.equal(parseName('пример.рф。'), 'xn--e1afmkfd.xn--p1ai')
  assert.equal(parseName('-ü_.example'), 'xn---_-xka.example')
  assert.equal(parseName('ｅｘａｍｐｌｅ．ｃｏｍ'), 'example.com')
})

const REFUSED: [text: string, why: RegExp][] = [
  ['', /^the name is empty; send a bare domain name such as example\.com$/],
  [' . ', /the name is empty/],
  ['localhost', /no dot/],
  ['localhost.', /no dot/],
  ['..', /empty label/],
  ['a..b', /empty label/],
  ['.a.b', /empty label/],
  ['a.b..', /empty label/],
  ['ü..b', /empty label/],
  ['\u00ad.com', /empty label/],
  [`${long(64)}.com`, /longer than 63/],
  [`a.${long(64)}`, /longer than 63/],
  [`${'ü'.repeat(60)}.com`, /longer than 63/],
  [`${LONGEST}a`, /longer than 253/],
  ['ü.'.repeat(600), /longer than 253/],
  ['exa$mple.com', /only letters/],
  ['*.example.com', /only letters/],
  ['a\u0000.example', /only letters/],
  ['\u0080.example', /only letters/],
  ['\u007f.example', /only letters/],
  ['ü%41.example', /only letters/],
  ['%41ü.example', /only letters/],
  ['％41.example', /only letters/],
  ['\ud800.example', /only letters/],
  ['℀.example', /only letters/],
  ['xn--a.ü.example', /only letters/],
  ['http://Example.com', /^a scheme .*; send example\.com$/],
  ['https://user@example.com:8080/path?x#y', /^a scheme .*; send example\.com$/],
  ['https://localhost/', /^a scheme .*; send a bare domain name/],
  ['example.com/', /^a slash .*; send example\.com$/],
  ['bücher.de/x', /^a slash .*; send xn--bcher-kva\.de$/],
  ['example.com:80', /^a port .*; send example\.com$/],
  ['bücher.de:80', /^a port .*; send xn--bcher-kva\.de$/],
  ['joe@example.com', /^a mailbox .*; send example\.com$/],
  ['exam ple.com', /white space/],
  ['bü\tcher.de', /white space/],
  ['bü\u3000cher.de', /white space/],
  ['example.123', /digits only/],
  ['1.2.3', /digits only/],
  [`${LONGEST.slice(0, -61)}${'1'.repeat(61)}`, /digits only/],
  ['1.2.3.4', /^an address is no domain name; send a bare domain name/],
  ['１２７.１', /./],
  ['::1', /^an address is no domain name; send a bare domain name/],
  ['[2001:db8::1]:443', /^an address is no domain name; send a bare domain name/],
  ['1.2.3.4:80', /^an address is no domain name; send a bare domain name/],
  ['10.0.0.0/8', /^an address is no domain name; send a bare domain name/],
  ['fe80::1%eth0', /^an address is no domain name; send a bare domain name/],
  ['192.0.2[.]1', /^an address is no domain name; send a bare domain name/],
  ['example[.]com', /^the name is defanged; send example\.com$/],
  ['www(.)example{.}com', /^the name is defanged; send www\.example\.com$/],
  ['example[dot]com', /^the name is defanged; send example\.com$/],
  ['hxxps://example.com/x', /^the name is defanged; send example\.com$/],
  ['hXXp://example[.]com', /^the name is defanged; send example\.com$/],
  ['hxxps[://]www[.example.]com:443/x', /^the name is defanged; send www\.example\.com$/],
  ['exam ple[.]com', /white space/],
]

test('a text that is not a name is rejected with a reason', () => {
  for (const [text, why] of REFUSED) {
    assert.equal(parseName(text), null, text)
    assert.match(nameProblem(text), why, text)
  }
  assert.equal(nameProblem('example.com'), '')
})

test('a label of 63 bytes and a name of 253 bytes are accepted, also with a trailing dot', () => {
  assert.equal(LONGEST.length, 253)
  assert.equal(parseName(`${LONGEST}.`), LONGEST)
  assert.equal(parseName(`a.${long(63)}`), `a.${long(63)}`)
})

test('a text outside ASCII is read up to 1,024 characters, because UTS 46 drops some', () => {
  const ofLength = (length: number) => `${'\u00ad'.repeat(length - 'a.example'.length)}a.example`
  assert.equal(parseName(ofLength(1_024)), 'a.example')
  assert.equal(parseName(ofLength(1_025)), null)
})

test('every text is either a canonical name or rejected with a phrase', () => {
  const piece = fc.constantFrom(
    'a',
    'Z',
    '0',
    '9',
    '-',
    '_',
    '.',
    'xn--',
    'ü',
    'ß',
    '。',
    '%41',
    '/',
    ':',
    '@',
    ' ',
    '\u00ad',
    '１',
  )
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(piece).map((pieces) => pieces.join('')),
    fc.domain(),
    fc.webUrl(),
  )
  fc.assert(
    fc.property(text, (given) => {
      const name = parseName(given)
      if (name === null) return assert.match(nameProblem(given), /^.+; send .+$/)
      assert.equal(parseName(name), name)
      assert.ok(name.length <= 253 && name.includes('.') && !/\.\d+$/.test(name))
      for (const label of name.split('.')) assert.match(label, /^[a-z0-9_-]{1,63}$/)
    }),
    { numRuns: 3000 },
  )
})

test('the punycode vectors hold if a label can contain them', (t) => {
  const { list, skip } = vectors<{ decoded: string; encoded: string }>('idna/punycode_tests.json')
  if (skip) return t.skip(skip)
  const fit = list.filter(
    ({ decoded, encoded }) => /^(?=.*[\u0080-\uffff])[\p{L}\p{M}\p{N}-]+$/u.test(decoded) && encoded.length < 60,
  )
  assert.ok(fit.length >= 15, `${fit.length} vectors`)
  for (const { decoded, encoded } of fit) {
    const name = parseName(`${decoded}.example`)
    assert.equal(name, `xn--${encoded.toLowerCase()}.example`)
    assert.equal(domainToUnicode(name!), `${decoded.toLowerCase()}.example`)
  }
})

test('the invalid punycode vectors are rejected', (t) => {
  const { list, skip } = vectors<{ decoded: string }>('idna/bad_punycode_tests.json')
  if (skip) return t.skip(skip)
  for (const { decoded } of list) assert.equal(parseName(`${decoded}.example`), null)
})

test('the registrable domain follows the public suffix list, including the private section', () => {
  const pairs = [
    ['www.example.co.uk', 'example.co.uk'],
    ['a.b.example.com', 'example.com'],
    ['someone.github.io', 'someone.github.io'],
    ['www.someone.github.io', 'someone.github.io'],
    ['github.io', 'github.io'],
    ['co.uk', 'co.uk'],
    ['a.b.unknown-suffix', 'b.unknown-suffix'],
    ['_dmarc.-a-.example.com', 'example.com'],
    ['www.xn--bcher-kva.de', 'xn--bcher-kva.de'],
  ] as [DomainName, DomainName][]
  for (const [name, domain] of pairs) assert.equal(registrableDomain(name), domain)
})

test('the slot of a name never changes', () => {
  const pinned = [
    ['example.com', 61909],
    ['example.net', 33322],
    ['a.b', 33156],
    ['xn--bcher-kva.de', 8220],
    ['_dmarc.example.org', 44976],
    ['0-0.example', 26553],
  ] as [DomainName, number][]
  for (const [name, slot] of pinned) {
    assert.equal(slotOf(name), slot)
    assert.equal(slotRangeOf(name), Math.floor(slot / 256), 'the upper byte')
  }
  assert.equal(SLOT_COUNT, 65_536)
})

test('slots are well distributed over similar names', () => {
  const counts = new Uint32Array(65_536)
  for (let index = 0; index < 655_360; index++) counts[slotOf(`shop${index}.com` as DomainName)]!++
  const chiSquare = counts.reduce((sum, count) => sum + (count - 10) ** 2 / 10, 0)
  assert.ok(chiSquare > 63_700 && chiSquare < 67_400, `chi-square ${chiSquare}`) // 65,535 ± 5 standard deviations
})
