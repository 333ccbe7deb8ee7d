/** The crawl over days that pass in seconds: the small version of `npm run bench:crawl-simulation`. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { simulate } from '../../bench/simulation/simulation.ts'

const DAY = 86_400
/** A month of the usual rhythm in six days. */
const RHYTHM = { min: DAY / 6, first: DAY, max: 4 * DAY }

test('over many visits, while crawlers die and come back, every name is visited in time and none by two at once', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-simulation-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const world = { names: 2_000, days: 6, crawlers: 2, rate: 20, rhythm: RHYTHM, life: 0.25, folder, seed: 7 }
  const { logbook, never, kills } = await simulate(world)
  assert.ok(kills > 20, `${kills} kills`)
  assert.deepEqual([never, logbook.together], [0, 0])
  assert.ok(logbook.longestFirst < DAY && logbook.longestGap <= RHYTHM.max + DAY)
  assert.ok(logbook.visits > 3 * 2_000, `${logbook.visits} visits`)
})
