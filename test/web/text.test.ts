/** Numbers and times as text of the page: those of Intl in English, which is slow to start. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { countOf, formatCount } from '../../web/parts/text/numbers.ts'
import { formatAge, formatMonthDay } from '../../web/parts/text/times.ts'
import { totalText } from '../../web/views/explorer/history/history-data.ts'

const SECONDS: Record<string, number> = { year: 31_557_600, month: 2_629_800, day: 86_400, hour: 3_600, minute: 60 }
const instants = fc.date({
  min: new Date('1990-01-01T00:00:00Z'),
  max: new Date('2060-01-01T00:00:00Z'),
  noInvalidDate: true,
})

test('a count has the form of Intl.NumberFormat', () => {
  const intl = new Intl.NumberFormat('en')
  const counts = fc.oneof(
    fc.integer({ min: 0, max: 2_000 }),
    fc.maxSafeNat(),
    fc.nat().map((times) => times / 8),
  )
  fc.assert(fc.property(counts, (count) => assert.equal(formatCount(count), intl.format(count))))
  for (const [count, text] of [
    [999, '999'],
    [1_000, '1,000'],
    [1_234_567, '1,234,567'],
    [1_234.5, '1,234.5'],
    [43.333333333333336, '43.333'],
  ] as const)
    assert.equal(formatCount(count), text)
  assert.deepEqual(
    [countOf(1, 'name'), countOf(1_000, 'name'), countOf(0, 'match', 'matches')],
    ['1 name', '1,000 names', '0 matches'],
  )
})

test('a capped number of states has a plus', () => {
  const meta = { count: 2, limit: 10, max_limit: 10, totals: { A: 1_000, MX: 1_000, NS: 3 }, totals_capped: ['A'] }
  assert.deepEqual(
    (['A', 'MX', 'NS', 'TXT'] as const).map((type) => totalText({ meta }, type)),
    ['1,000+', '1,000', '3', '0'],
  )
})

test('an age has the form of Intl.RelativeTimeFormat', () => {
  const intl = new Intl.RelativeTimeFormat('en', { numeric: 'always' })
  const found = new Set<string>()
  const seconds = fc.oneof(...[100, 10_000, 1e6, 1e8, 2e9].map((max) => fc.integer({ min: -max, max })))
  fc.assert(
    fc.property(instants, seconds, (now, away) => {
      const text = formatAge(new Date(now.getTime() + away * 1_000), now.getTime())
      const [, amount, unit] = /(\d[\d,]*) (\w+?)s?\b/.exec(text) ?? []
      found.add(unit ?? text)
      if (unit === undefined) return assert.ok(text === 'just now' && Math.abs(away) < 60, text)
      const signed = Number(amount!.replaceAll(',', '')) * Math.sign(away)
      assert.equal(text, intl.format(signed, unit as Intl.RelativeTimeFormatUnit))
      assert.equal(Math.trunc(away / SECONDS[unit]!), signed)
      const longer = Object.values(SECONDS).filter((length) => length > SECONDS[unit]!)
      assert.ok(
        longer.every((length) => Math.abs(away) < length),
        text,
      )
    }),
    { numRuns: 1_000 },
  )
  assert.deepEqual([...found].toSorted(), ['day', 'hour', 'just now', 'minute', 'month', 'year'])
})

test('a month and day have the form of toLocaleDateString', () => {
  fc.assert(
    fc.property(instants, (instant) => {
      const expected = instant.toLocaleDateString('en-US', { month: 'short', day: 'numeric', timeZone: 'UTC' })
      assert.equal(formatMonthDay(instant), expected)
    }),
  )
})
