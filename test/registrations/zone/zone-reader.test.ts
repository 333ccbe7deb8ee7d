/** Reading zones: what RFC 1035, section 5.1 allows in a master file, what is rejected, and hostile input. */

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { InputError } from '../../../src/import/stream/input-error.ts'
import { MAX_RECORD_BYTES } from '../../../src/registrations/zone/tokenizer.ts'
import { ZoneReader } from '../../../src/registrations/zone/zone-reader.ts'

const GOV = fileURLToPath(new URL('../../../../shared/data/gov-zone-history/', import.meta.url))
const SOA = 'test. IN SOA a.nic.test. mail.nic.test. 2026111901 3600 900 604800 300\n'

type Read = { names: string[]; unusable: [line: number, owner: string][]; apex: string; serial: number }

/** Reads a zone in chunks of `size` bytes. */
function read(given: string | Uint8Array, { apex = null as string | null, size = 7 } = {}): Read {
  const bytes = typeof given === 'string' ? Buffer.from(given, 'latin1') : given
  const [names, unusable]: [string[], Read['unusable']] = [[], []]
  const reader = new ZoneReader(apex, {
    onName: (label, length) => names.push(Buffer.from(label.subarray(0, length)).toString('latin1')),
    onUnusable: (line, owner) => unusable.push([line, Buffer.from(owner).toString('latin1')]),
  })
  for (let at = 0; at < bytes.length; at += size) reader.push(bytes.slice(at, at + size))
  return { ...reader.end(), names, unusable }
}

for (const [what, text, names] of [
  ['a delegation with time to live and class', 'a.test. 3600 IN NS ns.example.\n', ['a']],
  ['class before time to live', 'a.test. IN 3600 NS ns.example.\n', ['a']],
  ['neither of both', 'a.test. NS ns.example.\n', ['a']],
  ['time to live alone', 'a.test. 3600 NS ns.example.\n', ['a']],
  ['class alone', 'a.test. IN NS ns.example.\n', ['a']],
  ['a time to live in units', 'a.test. 1d12h IN NS ns.example.\n', ['a']],
  ['any letter case', 'A.TesT. in nS NS.EXAMPLE.\n', ['a']],
  ['tabs, spaces and carriage returns', 'a.test.\t \tIN\t NS \tns.example.\r\n\r\n', ['a']],
  ['an owner left out', 'a.test. IN DS 1 8 2 00\n IN NS ns.example.\n\tNS ns2.example.\n', ['a']],
  ['an owner left out behind a comment and an empty line', 'a.test. DS 1 8 2 0\n; b\n\n  \n NS n.\n', ['a']],
  ['a relative name', 'a IN NS ns\n', ['a']],
  ['the origin, which is the apex', '@ NS ns\n', []],
  ['$ORIGIN', '$ORIGIN b.test.\n@ NS ns\nc NS ns\n$ORIGIN test.\nd NS ns\n', ['b', 'd']],
  ['a relative $ORIGIN', '$ORIGIN b\n@ NS ns\n$ORIGIN .\ne.test NS ns\ntest NS n\n', ['b', 'e']],
  ['the same owner under another origin', '$ORIGIN x.test.\nd NS n\n$ORIGIN test.\nd NS n\n', ['d']],
  ['$TTL, in any letter case', '$ttl 1h\na NS ns ; comment\n', ['a']],
  ['a comment without white space before it', 'a NS ns;comment ( " \\\n;b NS ns\n', ['a']],
  ['parentheses over lines', 'a ( IN ; one (\n NS\n\n ns ) ; two )\nb NS n\n', ['a', 'b']],
  ['parentheses within parentheses', 'a NS ( ( ns ) \n)\n', ['a']],
  ['a parenthesis in front of the owner', '(a NS ns)\n', ['a']],
  ['a quoted string with everything in it', 'a TXT "( ; \\" \\\\" "b"\nb NS n\n', ['b']],
  ['letters that are escaped', '\\a\\098c.test. NS ns\n\\100 NS n\n', ['abc', 'd']],
  ['a dot at the end that is escaped', 'a.te\\115t. NS n\n', ['a']],
  ['types that nobody knows', 'a TYPE65280 \\# 1 00\nb HTTPS 1 .\nc NS n\n', ['c']],
  ['glue and deeper owners', 'ns.a.test. A 192.0.2.1\nb.a.test. NS n\na DS 1 8 2 0\n', []],
  ['names outside the zone', 'a.example. NS n\natest. NS n\ntest.a. NS n\n', []],
  ['an owner twice in a row', 'a NS n\na NS m\nA.test. NS o\n', ['a', 'a']],
  [
    'owners with hyphens, digits, underscores',
    '-a- NS n\n0 NS n\n_b NS n\nxn--p1ai NS n\n',
    ['-a-', '0', '_b', 'xn--p1ai'],
  ],
  ['the SOA again at the end', `a NS n\n${SOA}`, ['a']],
  ['labels of 63 bytes', `${'a'.repeat(63)} NS n\n`, ['a'.repeat(63)]],
] satisfies [string, string, string[]][]) {
  test(`a zone is accepted if it has ${what}`, () => {
    for (const size of [1, 2, 5, 1000]) {
      assert.deepEqual(read(SOA + text, { size }), { names, unusable: [], apex: 'test', serial: 2026111901 }, `${size}`)
    }
  })
}

for (const [what, text, reason] of [
  ['$INCLUDE', '$INCLUDE other.zone\n', /^line 2: \$INCLUDE is not supported/],
  ['$GENERATE', '$generate 1-9 a$ NS n\n', /^line 2: \$generate is not supported/],
  ['an unknown control entry', '$FOO\n', /^line 2: \$FOO is not supported/],
  ['$ORIGIN without a name', '$ORIGIN\n', /^line 2: \$ORIGIN has no valid value/],
  ['$TTL without a time', '$TTL soon\n', /^line 2: \$TTL has no valid value/],
  ['another class', 'a CH NS n\n', /^line 2: the class is CH/],
  ['an owner alone', 'a\n', /^line 2: an owner has no record/],
  ['no type', 'a 3600 IN\n', /^line 2: a record has no type/],
  ['two classes', 'a IN IN NS n\n', /^line 2: a record has no type/],
  ['an invalid type', 'a N$ n\n', /^line 2: "N\$" is not a record type/],
  ['an invalid TTL', 'a 12x NS n\n', /^line 2: "12x" is not a valid TTL/],
  ['no data', 'a NS ; n\n', /^line 2: a record has no data/],
  ['a quoted owner', '"a" NS n\n', /^line 2: a quoted string is in the place of a name/],
  ['a string without an end', 'a TXT "b\nc NS n\n', /^line 2: a quoted string does not end on its line/],
  ['a parenthesis too many', 'a NS n )\n', /^line 2: a closing parenthesis has no opening one/],
  ['a parenthesis without an end', 'b NS n\na NS ( n\nc NS n\n', /^line 3: the file ends within the line/],
  ['a last line without an end', 'a NS n\nb NS n', /^line 3: the file ends within the line/],
  ['an escape too large', 'a\\256 NS n\n', /^line 2: an escape needs three digits/],
  ['an escape too short', 'a\\25 NS n\n', /^line 2: an escape needs three digits/],
  ['a backslash at the end', 'a NS n\\\n', /^line 2: a backslash ends the line/],
  ['an empty label', 'a..test. NS n\n', /^line 2: a name has an empty label/],
  ['a long label', `${'a'.repeat(64)} NS n\n`, /^line 2: a label has more than 63 bytes/],
  ['a long name', `${'a.'.repeat(128)} NS n\n`, /^line 2: a name has more than 253 bytes/],
  [
    'an SOA of another zone',
    'other. SOA a. b. 1 2 3 4 5\n',
    /^line 2: the SOA is that of other, and the zone is that of test/,
  ],
  ['an SOA without a serial', 'test. SOA a. b. ( x 2 3 4 5 )\n', /^line 2: the SOA has no serial/],
] satisfies [string, string, RegExp][]) {
  test(`a zone is rejected if it has ${what}, and the message names the line`, () => {
    for (const size of [1, 2, 5, 1000]) {
      assert.throws(
        () => read(SOA + text, { size }),
        (error) => error instanceof InputError && reason.test(error.message),
        `${size}`,
      )
    }
  })
}

test('without an SOA a zone is incomplete', () => {
  assert.throws(() => read('', {}), /there is no SOA: the zone is incomplete/)
  assert.throws(() => read('a NS n\n', { apex: 'test' }), /there is no SOA of test/)
})

test("records before the SOA are read if the zone's name is given, and rejected otherwise", () => {
  const text = `$ORIGIN test.\na NS n\n${SOA}b NS n\n`
  assert.deepEqual(read(text, { apex: 'test' }).names, ['a', 'b'])
  assert.throws(() => read(text), /^InputError: line 2: the first record is not the SOA/)
  assert.throws(() => read('a NS n\n'), /a relative name precedes any \$ORIGIN: name/)
  assert.throws(() => read(' NS n\n', { apex: 'test' }), /^InputError: line 1: the first record has no owner/)
  assert.deepEqual(read('@ SOA a b 7 2 3 4 5\na NS n\n', { apex: 'co.test' }), {
    names: ['a'],
    unusable: [],
    apex: 'co.test',
    serial: 7,
  })
})

test('delegations with invalid owners are reported once, with their line', () => {
  const { names, unusable } = read(
    `${SOA}a\\.b NS n\na\\.b NS m\n* NS n\nc\\000 NS n\n\xe9 NS n\n\\195\\169x NS n\nd NS n\n`,
  )
  assert.deepEqual(names, ['d'])
  assert.deepEqual(unusable, [
    [2, 'a\0b.test'],
    [4, '*.test'],
    [5, 'c\0.test'],
    [6, '\xe9.test'],
    [7, '\xc3\xa9x.test'],
  ])
})

test('a record has at most 64 KiB with its comments and line ends, however its bytes are split', () => {
  const of = (bytes: number): string[] => [
    `a NS n${' '.repeat(bytes - 6)}\n`,
    `a NS n ;${'x'.repeat(bytes - 8)}\n`,
    `a NS ( n ${'\n'.repeat(bytes - 10)})\n`,
    `b TXT "${'x'.repeat(bytes - 8)}"\n`,
    `;${'x'.repeat(bytes - 1)}\n`,
    `b TXT ${'\\x'.repeat((bytes - 6) / 2)}\n`,
  ]
  for (const size of [1000, 65_536, 1_000_000]) {
    for (const text of of(MAX_RECORD_BYTES)) assert.deepEqual(read(`${SOA}${text}c NS n\n`, { size }).names.at(-1), 'c')
    for (const text of of(MAX_RECORD_BYTES + 2))
      assert.throws(() => read(`${SOA}${text}c NS n\n`, { size }), /line 2: a record has more than 65536 bytes/)
    assert.throws(
      () => read(SOA + 'x'.repeat(MAX_RECORD_BYTES + 1), { size }),
      /line 2: a record has more than 65536 bytes/,
    )
  }
})

/** A word of a master file, or a separator. */
const word = fc.constantFrom(
  ...[
    'a',
    'b.test.',
    'test.',
    '@',
    'NS',
    'IN',
    '60',
    'SOA',
    'a. b. 1 2 3 4 5',
    'TXT',
    '"x"',
    '"',
    '(',
    ')',
    ';',
    '\\',
    '\\065',
    '\\.',
    '.',
  ],
  ...['$ORIGIN', '$TTL', ' ', '  ', '\t', '\n', '\r\n', '\0', '\xff'],
)

test('hostile input is read or rejected with a line, in the same way for all chunks', () => {
  const outcome = (text: string, size: number): unknown => {
    try {
      return read(text, { size, apex: 'test' })
    } catch (error) {
      assert.ok(error instanceof InputError, String(error))
      assert.match(error.message, /^line \d+: /)
      return error.message
    }
  }
  const texts = fc.array(word, { maxLength: 60 }).map((words) => words.join(''))
  fc.assert(
    fc.property(texts, fc.boolean(), fc.integer({ min: 1, max: 40 }), (text, isStarted, size) => {
      const whole = (isStarted ? SOA : '') + text
      assert.deepEqual(outcome(whole, size), outcome(whole, 100_000))
    }),
    { numRuns: 2_000 },
  )
})

test('arbitrary bytes are read or rejected', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      try {
        read(Buffer.concat([Buffer.from(SOA), bytes]))
      } catch (error) {
        assert.ok(error instanceof InputError, String(error))
      }
    }),
    { numRuns: 1_000 },
  )
})

test('arbitrary names written in any form are read correctly', () => {
  const label = fc.stringMatching(/^[a-z0-9_-]{1,63}$/)
  const writings = fc.constantFrom<((label: string) => string)[]>(
    (name) => `${name} NS n\n`,
    (name) => `${name}.test. 60 IN NS n\n`,
    (name) => `${name.toUpperCase()}.TEST. ( IN\n 60 NS n )\n`,
    (name) => `${[...name].map((char) => `\\${String(char.charCodeAt(0)).padStart(3, '0')}`).join('')} NS n ; x\n`,
    (name) => `$ORIGIN ${name}.test.\n@ DS 1 8 2 00\n  NS n\n$ORIGIN test.\n`,
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(label, writings)), fc.integer({ min: 1, max: 99 }), (written, size) => {
      const text = written.map(([name, write]) => write(name)).join('')
      assert.deepEqual(new Set(read(SOA + text, { size }).names), new Set(written.map(([name]) => name)))
    }),
  )
})

test('the names of a real zone are those that its records of another form have', (t) => {
  if (!existsSync(GOV)) return t.skip('the sample data is not there')
  const zone = read(gunzipSync(readFileSync(`${GOV}gov-2023-12-08.zone.gz`)), { size: 262_144 })
  const rows = gunzipSync(readFileSync(`${GOV}base.tsv.gz`))
    .toString()
    .split('\n')
    .map((line) => line.split('\t'))
  const owners = rows.flatMap(([owner = '', , type]) =>
    type === 'NS' && owner !== 'gov.' ? owner.replace(/\.gov\.$/, '') : [],
  )
  assert.deepEqual(zone.unusable, [])
  assert.equal(zone.names.length, 9795)
  assert.deepEqual(new Set(zone.names), new Set(owners))
})
