/** Merged runs of the inverse index, and which runs are merged. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BlockWriter, EntryCursor, MAX_KEY_BYTES, positionOf } from '../../../src/inverse/entries/block.ts'
import { MergedEntries } from '../../../src/inverse/entries/merge.ts'
import { latin1Bytes } from '../../../src/inverse/entries/value-key.ts'
import { runsToMerge } from '../../../src/inverse/maintainer.ts'
import {
  cursorOf,
  type Entries,
  entries,
  event,
  eventsOf,
  key,
  packed,
  readMerged,
  sorted,
  unionOf,
} from './entries.ts'

test('merged entries are the union of the runs, in any order of them', () => {
  fc.assert(
    fc.property(fc.array(entries, { maxLength: 6 }), fc.array(fc.nat(), { maxLength: 6 }), (runs, order) => {
      const expected = unionOf(runs)
      const shuffled = runs.toSorted((a, b) => (order[runs.indexOf(a)] ?? 0) - (order[runs.indexOf(b)] ?? 0))
      assert.deepEqual([...readMerged(shuffled.map((run) => cursorOf(packed(run))))], [...expected])
    }),
    { numRuns: 200 },
  )
})

test('entries are sought by a key or by a position of one: those before it are left out, in one run or several', () => {
  const places = fc.tuple(key, fc.option(event), fc.nat(), fc.nat())
  fc.assert(
    fc.property(fc.array(entries, { minLength: 1, maxLength: 4 }), places, (runs, [any, at, run, entry]) => {
      const known = [...runs[run % runs.length]!.keys()]
      for (const sought of [any, known[entry % known.length] ?? any, '']) {
        const from = latin1Bytes(at === null ? sought : positionOf(sought, at))
        const isFound = (each: string): boolean => Buffer.compare(latin1Bytes(each), latin1Bytes(sought)) >= 0
        const expected = [...unionOf(runs)].filter(([found]) => isFound(found))
        const cursors = runs.map((each) => cursorOf(packed(each)))
        assert.deepEqual([...readMerged(cursors, from)], expected)
      }
    }),
    { numRuns: 300 },
  )
})

/** Short keys of few different bytes, so that runs have many keys in common, and some that are as long as a key can be. */
const closeKey = fc
  .tuple(
    fc.constantFrom('k', 'k'.repeat(MAX_KEY_BYTES - 4)),
    fc.array(fc.constantFrom(0, 1, 254, 255), { maxLength: 4 }).map((codes) => String.fromCharCode(...codes)),
  )
  .map((parts) => parts.join(''))
const closeEntries: fc.Arbitrary<Entries> = fc
  .array(
    fc.tuple(
      closeKey,
      fc.oneof(
        { weight: 4, arbitrary: fc.array(event, { maxLength: 2 }) },
        { weight: 1, arbitrary: fc.array(event, { minLength: 300, maxLength: 300, size: 'max' }) },
      ),
    ),
    { maxLength: 30, size: 'max' },
  )
  .map((pairs) => sorted(new Map(pairs.map(([each, list]) => [each, eventsOf(each, list)]))))

test('runs with many keys in common are merged, and what two keys share makes the same blocks', () => {
  let inThree = 0
  fc.assert(
    fc.property(fc.array(closeEntries, { maxLength: 9, size: 'max' }), (runs) => {
      const expected = unionOf(runs)
      for (const each of expected.keys()) if (runs.filter((run) => run.has(each)).length > 2) inThree++
      const cursors = (): EntryCursor[] => runs.map((run) => cursorOf(packed(run)))
      assert.deepEqual([...readMerged(cursors())], [...expected])
      const [withShared, without] = [new BlockWriter(), new BlockWriter()]
      for (const merged = new MergedEntries(cursors()); merged.next(); ) {
        withShared.add(merged.key, merged.keyLength, merged.events, merged.events.length, merged.shared)
        without.add(merged.key, merged.keyLength, merged.events, merged.events.length)
      }
      assert.deepEqual(withShared.take(true), without.take(true))
    }),
    { numRuns: 300 },
  )
  assert.ok(inThree > 300, 'the generator makes keys that are in three runs')
})

test('the merge of damaged runs throws RangeError or ends', () => {
  fc.assert(
    fc.property(fc.array(closeEntries, { minLength: 1, maxLength: 4 }), fc.nat(), fc.nat(), (runs, place, byte) => {
      const bytes = runs.map((run) => Buffer.concat(packed(run).map((block) => block.bytes)))
      const [damaged] = bytes
      if (damaged!.length > 0) damaged![place % damaged!.length] = byte % 256
      const most = bytes.reduce((sum, { length }) => sum + length, 0)
      try {
        const merged = new MergedEntries(bytes.map((each) => new EntryCursor([each])))
        for (let count = 0; merged.next(); count++) assert.ok(count <= most, 'it does not end')
      } catch (error) {
        assert.ok(error instanceof RangeError && /damaged block/.test(error.message), String(error))
      }
    }),
    { numRuns: 1000 },
  )
})

test('runs are merged if four of about one size are there, the smallest first, with all that are smaller', () => {
  const runs = (...sizes: number[]) => sizes.map((bytes, index) => ({ number: index + 1, bytes }))
  assert.deepEqual(runsToMerge([]), [])
  assert.deepEqual(runsToMerge(runs(1, 2, 3)), [])
  assert.deepEqual(runsToMerge(runs(4, 3, 2, 1)), [4, 3, 2, 1])
  assert.deepEqual(runsToMerge(runs(0, 0, 0, 0)).length, 4, 'runs without blocks too')
  assert.deepEqual(runsToMerge(runs(2 ** 17, 1, 2 ** 17, 2 ** 17)), [2, 1, 3, 4])
  assert.deepEqual(runsToMerge(runs(2 ** 30, 2 ** 30, 1, 1)), [3, 4, 1, 2], 'two sizes')
  assert.deepEqual(runsToMerge(runs(2 ** 30, 1, 1, 1)), [], 'a large run and little new')
  assert.deepEqual(runsToMerge(runs(...Array.from({ length: 300 }, () => 5))).length, 128)
  const sizes = fc.array(fc.integer({ min: 0, max: 2 ** 40 }), { maxLength: 300 })
  fc.assert(
    fc.property(sizes, (list) => {
      let left = runs(...list)
      let next = left.length
      for (let merges = 0; runsToMerge(left).length > 0; merges++) {
        const merged = runsToMerge(left)
        assert.ok(merged.length >= 4 && new Set(merged).size === merged.length)
        assert.ok(merges < 300, 'merging does not end')
        const bytes = left.filter(({ number }) => merged.includes(number)).reduce((sum, run) => sum + run.bytes, 0)
        left = [...left.filter(({ number }) => !merged.includes(number)), { number: ++next, bytes }]
      }
      assert.ok(left.length <= 3 * 22, `${left.length} runs are left`)
    }),
  )
})

test('small runs beside a large one rewrite each byte a few times, and few runs are left', () => {
  const [initial, small, count] = [2 ** 34, 2 ** 14, 4096]
  let runs = [{ number: 0, bytes: initial }]
  let written = 0
  let most = 0
  for (let number = 1; number <= count; number++) {
    runs.push({ number, bytes: small })
    for (let merged = runsToMerge(runs); merged.length > 0; merged = runsToMerge(runs)) {
      const bytes = runs.filter((run) => merged.includes(run.number)).reduce((sum, run) => sum + run.bytes, 0)
      runs = [...runs.filter((run) => !merged.includes(run.number)), { number: merged[0]! + 0.5, bytes }]
      written += bytes
    }
    most = Math.max(most, runs.length)
  }
  assert.ok(written <= 16 * small * count, `${Math.round(written / (small * count))} times`)
  assert.ok(most <= 16, `${most} runs`)
})
