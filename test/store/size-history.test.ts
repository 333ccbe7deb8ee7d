/** The sizes by day: what is kept, and the growth that follows. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { growthPerDay, readSizeHistory, recordSizes, type SizesOfDay } from '../../src/store/size-history.ts'
import { addDays, type Day } from '../../src/values/time.ts'

const FIRST = '2026-01-01' as Day
const sizesOf = (day: number, store: number): SizesOfDay => {
  return { day: addDays(FIRST, day), store, files: 10 * day, zones: 5, inbox: 0 }
}
const range = (length: number): number[] => Array.from({ length }, (_, index) => index)

test('the growth is the average of the last 30 days, whatever was before and however a day differs', () => {
  const steady = range(60).map((day) => sizesOf(day, day < 30 ? 9_000_000 : 1_000 * day))
  assert.equal(growthPerDay(steady, ['store']), 1_000)
  assert.equal(growthPerDay(steady, ['store', 'files', 'zones']), 1_010)
  const jump = steady.map((sizes, day) => (day === 45 ? { ...sizes, store: sizes.store + 3_000 } : sizes))
  assert.ok(Math.abs(growthPerDay(jump, ['store'])! - 1_000) < 10)
  const shrinking = range(10).map((day) => sizesOf(day, 1_000 - 7 * day))
  assert.equal(growthPerDay(shrinking, ['store']), -7)
})

test('the growth is unknown before there are sizes of seven days of the last 30', () => {
  assert.equal(growthPerDay([], ['store']), null)
  assert.equal(
    growthPerDay(
      range(6).map((day) => sizesOf(day, day)),
      ['store'],
    ),
    null,
  )
  assert.equal(
    growthPerDay(
      range(7).map((day) => sizesOf(day, day)),
      ['store'],
    ),
    1,
  )
  const interrupted = [...range(20), 100, 101].map((day) => sizesOf(day, day))
  assert.equal(growthPerDay(interrupted, ['store']), null)
})

test('the sizes of a day replace those of the same day, and those of 400 days are kept', async () => {
  let stored: string | null = null
  const maintenance = {
    progress: async () => stored,
    saveProgress: async (_: string, text: string | null) => {
      stored = text
    },
  }
  for (const day of range(402)) await recordSizes(maintenance, sizesOf(day, 1))
  await recordSizes(maintenance, sizesOf(401, 2))
  const history = await readSizeHistory(maintenance)
  assert.deepEqual([history.length, history[0]!.day, history.at(-1)], [400, addDays(FIRST, 2), sizesOf(401, 2)])
})
