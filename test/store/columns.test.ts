/** Reading facts from columns that another release may have written. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { NO_FACTS, NO_WEBSITE, OBSERVED_PARTS } from '../../src/apply/crawl-state.ts'
import {
  clockOfPart,
  type FactsRow,
  packClocks,
  packFacts,
  unpackClocks,
  unpackFacts,
} from '../../src/store/shared/columns.ts'
import { unpackLookup } from '../../src/store/shared/lookup.ts'
import { name, redirecting } from './conformance/world.ts'

const { text: _, ...facts } = redirecting('target.example')
const ROW: FactsRow = packFacts({
  ...NO_FACTS,
  web: { ...facts, redirect_host: name('www.target.example'), social_networks: [], digest: null },
})

const hostIn = (row: Partial<FactsRow>, source = 'shop.source.example') =>
  unpackFacts(name(source), { ...ROW, ...row }).web?.redirect_host

test('the final host of a redirect is read back', () => {
  assert.equal(hostIn({}), 'www.target.example')
  assert.equal(hostIn({ redirects_to: 'www.target.example' }), 'www.target.example')
  const own = { redirects_to: null, redirect_host: 'blog.source.example' }
  for (const source of ['source.example', 'www.source.example', 'shop.source.example'])
    assert.equal(hostIn(own, source), 'blog.source.example')
})

test('a host that is not under the target, as an older release may leave, counts as unknown', () => {
  assert.equal(hostIn({ redirects_to: 'elsewhere.example' }), undefined)
  assert.equal(hostIn({ redirects_to: 'get.example' }), undefined)
  assert.equal(hostIn({ redirect_host: null }), undefined)
  assert.equal(hostIn({ redirects_to: null }), undefined)
  assert.equal(hostIn({ redirects_to: null, redirect_host: 'resource.example' }, 'source.example'), undefined)
})

for (const fact of Object.keys(NO_WEBSITE).filter((key) => NO_WEBSITE[key as keyof typeof NO_WEBSITE] === false)) {
  test(`${fact} alone is stored and read back, for the facts and for /lookup`, () => {
    const stored = packFacts({ ...NO_FACTS, web: { ...NO_WEBSITE, [fact]: true } })
    assert.deepEqual(unpackFacts(name('a.example'), stored).web, { ...NO_WEBSITE, [fact]: true })
    const found = unpackLookup([1, 1, null, null, stored.flags, null, null, null, null, 0, 0])
    assert.deepEqual(
      Object.entries({ ...found }).flatMap(([key, value]) => (value === true ? [key] : [])),
      [fact],
    )
  })
}

test('the clock of one part is the same as among all clocks', () => {
  const clock = fc.oneof(fc.constantFrom(0, 1), fc.nat({ max: 2 ** 32 - 1 }))
  fc.assert(
    fc.property(fc.array(clock, { minLength: OBSERVED_PARTS.length, maxLength: OBSERVED_PARTS.length }), (clocks) => {
      const stored = packClocks(clocks)
      assert.deepEqual(unpackClocks(stored.clock, stored.otherClocks), clocks)
      for (const [index, part] of OBSERVED_PARTS.entries())
        assert.equal(clockOfPart(part, [stored.clock, stored.otherClocks]), clocks[index])
    }),
  )
})
