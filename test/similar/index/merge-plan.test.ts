/** Merge decisions: few segments remain, and each document is rewritten only a few times. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { segmentsToMerge } from '../../../src/similar/index/similar-indexer.ts'
import type { Segment } from '../../../src/store/port/similar.ts'

const PACES = ['busy', 'idle'] as const

function segmentsOf(sizes: readonly number[]): Segment[] {
  let last = 0
  return sizes.map((wordings, at) => {
    const first = last + 1
    last += Math.max(1, wordings)
    return { segment: at + 1, first, last, documents: wordings }
  })
}

const sizesOf = (segments: readonly Segment[]) => segments.map(({ documents: wordings }) => wordings)
const sum = (numbers: readonly number[]) => numbers.reduce((all, number) => all + number, 0)

/** The sizes after all due merges, and how many documents they wrote. */
function settle(sizes: readonly number[], pace: 'busy' | 'idle'): { sizes: number[]; written: number } {
  const merged = sizesOf(segmentsToMerge(segmentsOf(sizes), pace))
  if (merged.length === 0) return { sizes: [...sizes], written: 0 }
  const after = settle([...sizes.slice(0, sizes.length - merged.length), sum(merged)], pace)
  return { sizes: after.sizes, written: after.written + sum(merged) }
}

/** Adds segments of these sizes one after another. */
function grow(flushes: readonly number[], pace: 'busy' | 'idle'): { sizes: number[]; most: number; written: number } {
  let [sizes, most, written]: [number[], number, number] = [[], 0, 0]
  for (const flushed of flushes) {
    const after = settle([...sizes, flushed], pace)
    sizes = after.sizes
    written += after.written
    most = Math.max(most, sizes.length)
  }
  return { sizes, most, written }
}

const sizes = fc.array(fc.oneof(fc.nat(100), fc.nat(5000), fc.nat(10_000_000)), { maxLength: 30 })

test('a merge takes the last segments, at least two of them', () => {
  fc.assert(
    fc.property(sizes, fc.constantFrom(...PACES), (all, pace) => {
      const segments = segmentsOf(all)
      const merged = segmentsToMerge(segments, pace)
      assert.notEqual(merged.length, 1)
      assert.deepEqual(merged, segments.slice(segments.length - merged.length))
    }),
    { numRuns: 1000 },
  )
})

test('when idle, each segment is more than four times as large as all that follow; while pages wait, than a third of them', () => {
  fc.assert(
    fc.property(sizes, fc.constantFrom(...PACES), (all, pace) => {
      const left = settle(all, pace).sizes
      for (const [at, wordings] of left.entries()) {
        const following = sum(left.slice(at + 1))
        assert.ok(following === 0 || wordings > (pace === 'idle' ? 4 : 1 / 3) * following, left.join(' '))
      }
    }),
    { numRuns: 1000 },
  )
})

test('if there are too many segments, some are merged whatever their sizes', () => {
  const growing = Array.from({ length: 40 }, (_, at) => Math.ceil(1.34 ** (40 - at) * 100))
  assert.equal(segmentsToMerge(segmentsOf(growing.slice(-31)), 'busy').length, 0)
  assert.equal(segmentsToMerge(segmentsOf(growing.slice(-32)), 'busy').length, 16)
})

test('segments stay few if only full ones are added, and each document is rewritten only a few times', () => {
  const { most, written, sizes } = grow(new Array(2000).fill(4096), 'busy')
  assert.ok(most <= 19, `${most} segments of ${sum(sizes)}`)
  assert.ok(written / sum(sizes) < 6, `${written / sum(sizes)} times`)
})

test('segments stay few if they are added one by one or a few at a time', () => {
  const ones = grow(new Array(3000).fill(1), 'idle')
  assert.ok(ones.most <= 6, `${ones.most} segments`)
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 600, size: 'max' }), (flushes) => {
      const { most, sizes } = grow(flushes, 'idle')
      assert.ok(most <= 8 && sum(sizes) === sum(flushes), `${most} segments`)
    }),
    { numRuns: 20 },
  )
})
