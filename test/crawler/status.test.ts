/** The report on a crawl. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatCrawlStatus } from '../../src/cli/crawl/status.ts'
import { LAG_BOUNDS_SECONDS } from '../../src/crawler/status/stats.ts'
import type { CrawlStatus } from '../../src/crawler/status/status.ts'
import { EMPTY_SWEEP_COUNT } from '../../src/crawler/status/sweep-count.ts'

const MONTH = LAG_BOUNDS_SECONDS.at(-1)!
const STATUS: CrawlStatus = {
  count: { ...EMPTY_SWEEP_COUNT, names: 7, due: 2 },
  unsweptRanges: 0,
  requests: { lookup: 0, followup: 0 },
  rate: 1,
  lastDay: [],
  lag: { p50: 60, p95: MONTH / 2, p99: MONTH },
  age: null,
  crawlers: [],
}

test('a lag beyond the highest bucket is reported as more than that', () => {
  assert.equal(formatCrawlStatus(STATUS)[4], 'lag        half up to 1 min, 95 % up to 15 d, 99 % over 30 d')
})

test('names of ranges that were never swept are reported as not counted', () => {
  const words = (unswept: number) => formatCrawlStatus({ ...STATUS, unsweptRanges: unswept }).slice(0, 2)
  assert.deepEqual(words(256), ['names      not counted yet', 'due        not counted yet'])
  const partly = ' (9 of 256 ranges are not counted yet)'
  assert.deepEqual(words(9), [`names      7, never probed 0${partly}`, `due        2, overdue for a day 0${partly}`])
  assert.deepEqual(words(0), ['names      7, never probed 0', 'due        2, overdue for a day 0'])
})
