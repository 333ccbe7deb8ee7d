/** The lookalikes of a brand: candidates, reasons and scores, without a store. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseBrand } from '../../src/lookalikes/brand.ts'
import { editDistance } from '../../src/lookalikes/distance.ts'
import { BrandLookalikes } from '../../src/lookalikes/lookalikes.ts'
import { LABEL_REASONS, PLACE_REASONS, REASONS } from '../../src/lookalikes/reasons.ts'
import { parseName } from '../../src/values/domain-name.ts'
import { readPage, tableOf } from '../docs/markdown.ts'
import { assertMakes } from '../sample.ts'
import { brandAndNames } from '../store/conformance/reading/lookalikes.ts'

function lookalikesOf(name: string): BrandLookalikes {
  const brand = parseBrand(parseName(name)!)
  assert.ok(typeof brand !== 'string', brand as string)
  return new BrandLookalikes(brand)
}

const CASES: [brand: string, name: string, score: number, reasons: string][] = [
  ['paypal.com', 'раураӏ.com', 95, 'confusable'],
  ['paypal.com', 'pаypa1.net', 85, 'confusable suffix'],
  ['paypal.com', 'pàypal.com', 88, 'diacritic'],
  ['paypal.com', 'pàypa1.com', 88, 'diacritic'],
  ['paypal.com', 'paypal.co.uk', 90, 'suffix'],
  ['paypal.com', 'paypal.github.io', 90, 'suffix'],
  ['paypal.com', 'paypal.evil.example', 70, 'subdomain'],
  ['paypal.com', 'paypa1.evil.example', 50, 'homoglyph subdomain'],
  ['microsoft.com', 'rnicrosoft.com', 78, 'homoglyph'],
  ['microsoft.com', 'rnicr0soft.com', 61, 'homoglyphs'],
  ['google.com', 'gooogle.com', 65, 'repetition'],
  ['google.com', 'gogle.com', 65, 'repetition'],
  ['google.com', 'ogogle.com', 65, 'transposition'],
  ['google.com', 'goohle.com', 60, 'keyboard'],
  ['google.com', 'goigle.com', 60, 'keyboard vowel'],
  ['google.com', 'coogle.com', 50, 'bit_flip'],
  ['google.com', 'googles.com', 60, 'plural keyboard'],
  ['google.com', 'xgoogle.com', 45, 'insertion'],
  ['google.com', 'goo.gle.com', 65, 'dot'],
  ['google.com', 'wwwgoogle.com', 80, 'suffix_merged'],
  ['google.com', 'google-com.net', 70, 'suffix_merged suffix'],
  ['photo-shop.com', 'fotoshop.com', 10, ''],
  ['photoshop.com', 'fotoshop.com', 63, 'phonetic'],
  ['login.brand.com', 'loginbrand.com', 80, 'subdomain_merged combined'],
  ['internationals.org', 'internatoinalz.org', 36, 'distance_2'],
  ['bücher.de', 'bucher.de', 88, 'diacritic'],
  ['bücher.de', 'büchers.de', 55, 'diacritic plural'],
  ['银行家.cn', '银行家.com', 90, 'suffix'],
  ['银行家.cn', '银行.cn', 45, 'omission'],
  ['bank.com', 'riverbanks.org', 10, 'contains'],
]

for (const [brand, name, score, reasons] of CASES)
  test(`${name} ${reasons === '' ? 'is no lookalike of' : `looks like`} ${brand}${reasons && `: ${reasons}`}`, () => {
    const judged = lookalikesOf(brand).judge(parseName(name)!)
    if (reasons === '') return assert.equal(judged, null)
    assert.deepEqual([judged?.reasons.join(' '), judged?.score], [reasons, score])
  })

test('the brand itself and hosts below it are no lookalikes', () => {
  for (const name of ['paypal.com', 'www.paypal.com', 'paypal.paypal.com'])
    assert.equal(lookalikesOf('www.paypal.com').judge(parseName(name)!), null)
})

test('a public suffix and a short label are no brands', () => {
  assert.match(parseBrand(parseName('co.uk')!) as string, /is a public suffix/)
  assert.match(parseBrand(parseName('hp.com')!) as string, /too short/)
})

test('an edit distance is that of a search for the shortest series of edits, as far as it is asked for', () => {
  const text = fc.stringMatching(/^[abc]{0,5}$/)
  fc.assert(
    fc.property(text, text, (a, b) => {
      const exact = slowDistance(a, b)
      for (const max of [0, 1, 2, 5]) assert.equal(Math.min(editDistance(a, b, max), max + 1), Math.min(exact, max + 1))
    }),
  )
})

/** Optimal string alignment by its definition. */
function slowDistance(a: string, b: string): number {
  if (a === '' || b === '') return a.length + b.length
  const [shortA, shortB] = [a.slice(0, -1), b.slice(0, -1)]
  const costs = [
    slowDistance(shortA, b) + 1,
    slowDistance(a, shortB) + 1,
    slowDistance(shortA, shortB) + (a.at(-1) === b.at(-1) ? 0 : 1),
  ]
  if (a.length > 1 && b.length > 1 && a.at(-1) === b.at(-2) && a.at(-2) === b.at(-1))
    costs.push(slowDistance(a.slice(0, -2), b.slice(0, -2)) + 1)
  return Math.min(...costs)
}

test('docs/api.md has the reasons with their weights, in the order of a row', () => {
  const rows = tableOf(readPage('api.md'), 'reason').map(([reason, weight]) => [reason, Number(weight)])
  const weights = { ...LABEL_REASONS, ...PLACE_REASONS, contains: { weight: 10 } }
  assert.deepEqual(
    rows,
    REASONS.map((reason) => [`\`${reason}\``, weights[reason].weight]),
  )
})

test('the random names have every reason', () => {
  const brands = new Map<string, BrandLookalikes>()
  const judged = brandAndNames.map(({ brand, names }) => {
    const judge = brands.get(brand) ?? lookalikesOf(brand)
    brands.set(brand, judge)
    return names.map((name) => judge.judge(name))
  })
  assertMakes(
    judged,
    Object.fromEntries(REASONS.map((reason) => [reason, (all) => all.some((each) => each?.reasons.includes(reason))])),
  )
})
