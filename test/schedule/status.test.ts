/** What a person is told of a crawl. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { statusWords } from '../../src/commands/crawl/status.ts'
import { NOTHING } from '../../src/schedule/count.ts'
import { LAG_SECONDS } from '../../src/schedule/figures.ts'
import type { Status } from '../../src/schedule/status.ts'

const MONTH = LAG_SECONDS.at(-1)!
const STATUS: Status = {
  count: { ...NOTHING, names: 7, due: 2 },
  unswept: 0,
  wished: { asked: 0, followup: 0 },
  rate: 1,
  day: [],
  lag: { p50: 60, p95: MONTH / 2, p99: MONTH },
  age: null,
  crawlers: [],
}

test('a lag beyond all that is counted is told as over that', () => {
  assert.equal(statusWords(STATUS)[4], 'lag        half up to 1 min, 95 % up to 15 d, 99 % over 30 d')
})

test('names of ranges that were never swept are told as not counted', () => {
  const words = (unswept: number) => statusWords({ ...STATUS, unswept }).slice(0, 2)
  assert.deepEqual(words(256), ['names      not counted yet', 'due        not counted yet'])
  const partly = ' (9 of 256 ranges are not counted yet)'
  assert.deepEqual(words(9), [`names      7, never visited 0${partly}`, `due        2, overdue for a day 0${partly}`])
  assert.deepEqual(words(0), ['names      7, never visited 0', 'due        2, overdue for a day 0'])
})
