/** The crawl over simulated days that pass in seconds: the small version of `npm run bench:crawl-simulation`. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { simulate } from '../../bench/crawl-simulation/simulation.ts'

const DAY = 86_400
/** A month of the default intervals in six days. */
const INTERVALS = { min: DAY / 6, first: DAY, max: 4 * DAY }

test('if crawlers are killed and restarted, every name is still probed in time and never by two crawlers at once', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-simulation-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const world = {
    names: 2_000,
    days: 6,
    crawlers: 2,
    rate: 20,
    intervals: INTERVALS,
    maxLifetimeDays: 0.25,
    folder,
    seed: 7,
  }
  const { log, neverProbed, kills } = await simulate(world)
  assert.ok(kills > 20, `${kills} kills`)
  assert.deepEqual([neverProbed, log.overlapping], [0, 0])
  assert.ok(log.longestFirst < DAY && log.longestGap <= INTERVALS.max + DAY)
  assert.ok(log.probes > 3 * 2_000, `${log.probes} probes`)
})
