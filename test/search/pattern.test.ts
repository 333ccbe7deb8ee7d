/** Searches: what the index is asked for, and which names match. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { NameQuery } from '../../src/search/name-query.ts'
import { type FlexibleKind, type NameSearch, parseFlexibleSearch, parseSearch } from '../../src/search/pattern.ts'
import { isFoundBy } from '../store/found-names.ts'

const NAMES = [
  'bank.com',
  'bank.com.au',
  'mybank.com',
  'bankbank.net',
  'x.bank',
  'www.x.bank',
  'a-bank1.co.uk',
  'bnk.com',
  'example.com',
  'shop.example.com',
  'b_nk.example',
]

/** The names that a search finds. */
function found({ query, filter }: NameSearch, names: readonly string[] = NAMES): string[] {
  return names.filter((name) => isFoundBy(query, name) && (filter === null || filter(name)))
}

function search(text: string): NameSearch {
  const parsed = parseSearch(text)
  assert.ok(typeof parsed !== 'string', parsed as string)
  return parsed
}

const CASES: readonly [text: string, query: NameQuery, isFiltered: boolean, names: readonly string[]][] = [
  [
    'bank',
    { by: 'inside', text: 'bank' },
    false,
    ['bank.com', 'bank.com.au', 'mybank.com', 'bankbank.net', 'x.bank', 'www.x.bank', 'a-bank1.co.uk'],
  ],
  [' BANK* ', { by: 'start', text: 'bank' }, false, ['bank.com', 'bank.com.au', 'bankbank.net']],
  ['b*', { by: 'start', text: 'b' }, false, ['bank.com', 'bank.com.au', 'bankbank.net', 'bnk.com', 'b_nk.example']],
  ['*.bank', { by: 'below', text: 'bank' }, false, ['x.bank', 'www.x.bank']],
  ['*.example.com', { by: 'below', text: 'example.com' }, false, ['shop.example.com']],
  ['*.example.com.', { by: 'below', text: 'example.com' }, false, ['shop.example.com']],
  ['b[a_]nk.c?m.', { by: 'inside', text: 'nk.c' }, true, ['bank.com']],
  ['*bank.com', { by: 'end', text: 'bank.com' }, false, ['bank.com', 'mybank.com']],
  ['*ank', { by: 'end', text: 'ank' }, false, ['x.bank', 'www.x.bank']],
  ['bank*.com', { by: 'start', text: 'bank' }, true, ['bank.com']],
  ['*bank?.co.*', { by: 'inside', text: 'bank' }, true, ['a-bank1.co.uk']],
  ['b[a_]nk.*', { by: 'inside', text: 'nk.' }, true, ['bank.com', 'bank.com.au', 'b_nk.example']],
  ['b[!a]nk.[a-d]*', { by: 'inside', text: 'nk.' }, true, []],
  ['/^bank/', { by: 'start', text: 'bank' }, true, ['bank.com', 'bank.com.au', 'bankbank.net']],
  ['/bank[0-9]\\.co\\.uk$/', { by: 'inside', text: 'bank' }, true, ['a-bank1.co.uk']],
  ['/(my|our)BANK/', { by: 'inside', text: 'bank' }, true, ['mybank.com']],
  ['/(bank){2}x?\\.net/', { by: 'inside', text: '.net' }, true, ['bankbank.net']],
  ['/bank(?:\\.com){1,2}$/', { by: 'inside', text: 'bank' }, true, ['bank.com', 'mybank.com']],
]

for (const [text, query, isFiltered, names] of CASES)
  test(`${text.trim()} asks for names by ${query.by} ${query.text}`, () => {
    const parsed = search(text)
    assert.deepEqual(parsed.query, query)
    assert.equal(parsed.filter !== null, isFiltered)
    assert.deepEqual(found(parsed), names)
  })

test('a search without enough fixed characters is refused, and says how to narrow it', () => {
  for (const text of [
    '*',
    '**',
    '?',
    '*ba*',
    'ba',
    'a*b',
    '*.c?m',
    'b*.com',
    '/a.*b/',
    '/bank|shop/',
    '/(bank|shop)/',
    '/[a-z]+/',
  ])
    assert.match(parseSearch(text) as string, /has no 3 fixed characters in a row/, text)
})

test('a wrong pattern is refused, and says what is wrong', () => {
  for (const [text, problem] of [
    ['[a-z', /a set of characters has no end/],
    ['bank[z-a]', /not one such as/],
    ['bank/login', /No name has a "\/"/],
    ['bücher', /A-label/],
    ['two words', /A-label/],
    ['x'.repeat(301), /more than 300 characters/],
    ['/bank(/', /a group has no end/],
    ['/bank[/', /a set of characters has no end/],
    ['/bank\\1/', /\\1 is not supported/],
    ['/bank(?=x)/', /not one of RE2/],
    ['/bank[a-z]{1000}[a-z]{1000}/', /too large/],
  ] as const)
    assert.match(parseSearch(text) as string, problem, text)
})

const name = fc
  .array(fc.stringMatching(/^[ab]{1,5}$/), { minLength: 2, maxLength: 3 })
  .map((labels) => labels.join('.'))
const globPart = fc.constantFrom('*', '?', '[ab]', '[!a]', '[.a]', 'a', 'b', '.', 'ab', 'bab')
const glob = fc.array(globPart, { minLength: 1, maxLength: 7 }).map((parts) => parts.join(''))

/** The regular expression of JavaScript for a pattern. */
function sourceOfGlob(pattern: string): string {
  const source = pattern
    .replaceAll('.', '\\.')
    .replaceAll('[\\.', '[.')
    .replaceAll('[!', '[^')
    .replaceAll('?', '.')
    .replaceAll('*', '.*')
  return `^${source}$`
}

test('a pattern with wildcards finds what the same regular expression of JavaScript matches', () => {
  let accepted = 0
  let matched = 0
  fc.assert(
    fc.property(glob, fc.array(name, { minLength: 1, maxLength: 20 }), (pattern, names) => {
      const parsed = parseSearch(pattern)
      if (typeof parsed === 'string') return
      accepted++
      const source = sourceOfGlob(/[*?[]/.test(pattern) ? pattern.replace(/\.$/, '') : `*${pattern}*`)
      const expected = names.filter((each) => new RegExp(source).test(each))
      matched += expected.length
      assert.deepEqual(found(parsed, names), expected)
    }),
    { numRuns: 3000 },
  )
  assert.ok(accepted > 100 && matched > 20, `the generator makes patterns that find names: ${accepted}, ${matched}`)
})

const regexPart = fc.constantFrom('a', 'b', 'ab', 'aba', '\\.', '.', '[ab]', '[^a]', '(a|b)', '(?:ab)', '\\w')
const regex = fc
  .tuple(
    fc.constantFrom('', '^'),
    fc.array(fc.tuple(regexPart, fc.constantFrom('', '', '', '?', '*', '+', '{2}', '{0,1}', '*?')), {
      minLength: 1,
      maxLength: 6,
    }),
    fc.constantFrom('', '$'),
  )
  .map(([start, parts, end]) => start + parts.flat().join('') + end)

test('a regular expression finds what the same one of JavaScript matches', () => {
  let accepted = 0
  let matched = 0
  fc.assert(
    fc.property(regex, fc.array(name, { minLength: 1, maxLength: 20 }), (expression, names) => {
      const parsed = parseSearch(`/${expression}/`)
      if (typeof parsed === 'string') return
      accepted++
      const expected = names.filter((each) => new RegExp(expression).test(each))
      matched += expected.length
      assert.deepEqual(found(parsed, names), expected)
    }),
    { numRuns: 3000 },
  )
  assert.ok(accepted > 100 && matched > 20, `the generator makes expressions that find names: ${accepted}, ${matched}`)
})

const FLEXIBLE: Readonly<Record<FlexibleKind, { given: fc.Arbitrary<string>; sourceOf: (given: string) => string }>> = {
  glob: {
    given: fc.tuple(glob, fc.constantFrom('.', '.', '*', '')).map((parts) => parts.join('')),
    sourceOf: sourceOfGlob,
  },
  regex: { given: regex.map((expression) => expression.replace(/\$$/, '\\.$')), sourceOf: (given) => given },
}

for (const [kind, { given, sourceOf }] of Object.entries(FLEXIBLE) as [FlexibleKind, (typeof FLEXIBLE)['glob']][])
  test(`a flexible search by ${kind} finds the names that match with their last dot`, () => {
    let [accepted, matched, anchored] = [0, 0, 0]
    fc.assert(
      fc.property(given, fc.array(name, { minLength: 1, maxLength: 20 }), (text, names) => {
        const parsed = parseFlexibleSearch(kind, text)
        if (typeof parsed === 'string') return
        accepted++
        const expected = names.filter((each) => new RegExp(sourceOf(text)).test(`${each}.`))
        matched += expected.length
        if (/\.\$?$/.test(text)) anchored += expected.length
        assert.deepEqual(found(parsed, names), expected)
      }),
      { numRuns: 5000 },
    )
    assert.ok(
      accepted > 100 && matched > 20 && anchored > 3,
      `the generator makes searches that find names: ${accepted}, ${matched}, ${anchored}`,
    )
  })

test('a flexible search is for names with their last dot', () => {
  for (const [kind, text, query] of [
    ['glob', '*.example.com.', { by: 'below', text: 'example.com' }],
    ['glob', '*.bank.', { by: 'below', text: 'bank' }],
    ['glob', '*google.com*', { by: 'inside', text: 'google.com' }],
    ['glob', '*bank.*', { by: 'inside', text: 'bank' }],
    ['glob', 'BANK*', { by: 'start', text: 'bank' }],
    ['regex', 'farsight?security\\.com\\.$', { by: 'end', text: 'security.com' }],
    ['regex', '^bank\\.', { by: 'start', text: 'bank' }],
  ] as const)
    assert.deepEqual((parseFlexibleSearch(kind, text) as NameSearch).query, query, text)
  for (const [kind, text] of [
    ['glob', '*.fsi.io'],
    ['glob', 'bank*.com'],
    ['regex', 'bank\\.com$'],
  ] as const)
    assert.match(parseFlexibleSearch(kind, text) as string, /all names end with a dot/)
  assert.match(parseFlexibleSearch('glob', '*.') as string, /has no 3 fixed characters in a row/)
  assert.match(parseFlexibleSearch('regex', 'a.b') as string, /has no 3 fixed characters in a row/)
})

test('the time of a pattern with many wildcards is bounded', () => {
  const { filter } = search(`bank${'*a'.repeat(100)}*b`)
  assert.equal(filter!(`bank${'a'.repeat(240)}.com`), false)
})
