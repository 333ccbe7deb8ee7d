/** The configured intervals apply to observations from every source. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { probeIntervalsOf } from '../../src/config/probe-intervals.ts'
import { readSettings } from '../../src/config/settings.ts'
import { folderOf } from '../cli/run.ts'
import { named } from '../probe/internet.ts'

const HOUR = 3_600

test('an import plans the next probe by the configured intervals', async (t) => {
  const { run, withStore } = folderOf(t)
  const at = 1_700_000_000
  const dns = { status: 'ok', A: [], AAAA: [] }
  const line = JSON.stringify({ domain: 'a.example', observed_at: new Date(at * 1000).toISOString(), dns })
  const env = { DOMAINDEX_CRAWL_MIN_INTERVAL: '1h', DOMAINDEX_CRAWL_MAX_INTERVAL: '2h' }
  assert.equal((await run(['import', '-'], { input: `${line}\n`, env })).code, 0)
  const [visit] = await withStore(({ observations: frontier }) => frontier.crawlStates([named('a.example')]))
  assert.ok(visit!.due > at + HOUR && visit!.due <= at + 2 * HOUR, `${visit!.due - at} seconds later`)
})

test('the first probe is followed by one after a week, or as near to that as the settings allow', () => {
  const first = (soonest: string, latest: string): number =>
    probeIntervalsOf(readSettings({ DOMAINDEX_CRAWL_MIN_INTERVAL: soonest, DOMAINDEX_CRAWL_MAX_INTERVAL: latest }))
      .first
  assert.deepEqual(
    [first('1d', '30d'), first('9d', '30d'), first('1h', '5d')].map((span) => span / (24 * HOUR)),
    [7, 9, 5],
  )
  assert.throws(
    () => probeIntervalsOf(readSettings({ DOMAINDEX_CRAWL_MAX_INTERVAL: '12h' })),
    /longer than DOMAINDEX_CRAWL_MAX_INTERVAL/,
  )
})
