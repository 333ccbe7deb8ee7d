/** Tests of the index segments: how they are published and replaced, and what queries read from them. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { LOCK_SECONDS, type LockHold } from '../../../../src/store/port/jobs.ts'
import type { FrequencyRow, PostingRow, PostingsRead, Segment } from '../../../../src/store/port/similar.ts'
import type { Store } from '../../../../src/store/port/store.ts'
import { inForm } from '../../../long.ts'
import type { Engine } from '../engine.ts'
import { testUnchecked } from '../world.ts'
import { holdOf } from './filed-pages.ts'

const RUNS = Number(process.env.DOMAINDEX_TEST_RUNS ?? inForm(6, 15))
/** Keys of one partition of terms, because all rows of one term are in one. */
const PART = 5 << 20
const PLACES = 12

type Written = { first: number; last: number; wordings: number; rows: PostingRow[] }

/** A row that is identified by its key. Some keys would break SQL text. */
function row(place: number, wording: number): PostingRow {
  return { key: PART + place, document: wording, postings: Buffer.from([0, 0xff, place, wording & 255, 0xed, 0xa0]) }
}

function counted(last: number): FrequencyRow {
  return { last, counts: Buffer.from([last, 0, 0xff]) }
}

/** The number of documents of a segment, and its rows by key and document. */
type Part = { wordings: number; rows: [place: number, wording: number][] }

const part: fc.Arbitrary<Part> = fc.record({
  wordings: fc.integer({ min: 1, max: 20 }),
  rows: fc.uniqueArray(fc.tuple(fc.nat(PLACES), fc.nat(3)), { maxLength: 25, selector: String }),
})
const read: fc.Arbitrary<PostingsRead> = fc.record({
  key: fc.integer({ min: PART, max: PART + PLACES + 1 }),
  rows: fc.integer({ min: 1, max: 40 }),
})

/** Consecutive segments, each of a hundred numbers. */
function writtenOf(parts: readonly Part[]): Written[] {
  return parts.map(({ wordings, rows }, place) => ({
    first: 100 * place + 1,
    last: 100 * place + 100,
    wordings,
    rows: rows.map(([at, wording]) => row(at, 100 * place + 1 + wording)),
  }))
}

/** The expected rows of a read, segment by segment. */
function expected(written: readonly Written[], { key: place, rows }: PostingsRead): PostingRow[] {
  const all = written.reduce((sum, { wordings }) => sum + wordings, 0)
  return written.flatMap((segment) =>
    segment.rows
      .filter((each) => each.key >= place)
      .sort((a, b) => a.key - b.key || a.document - b.document)
      .slice(0, Math.max(1, Math.ceil((rows * segment.wordings) / all))),
  )
}

/** Publishes a segment. */
async function add(store: Store, hold: LockHold, { first, last, wordings, rows }: Written): Promise<Segment> {
  const segment = (await store.similarIndex.beginSegment(hold, first, last))!
  assert.equal(await store.similarIndex.writeRows(hold, segment, rows, [counted(last)]), true)
  assert.equal(await store.similarIndex.publishSegment(hold, segment, wordings), true)
  return { segment, first, last, documents: wordings }
}

async function bytesOf({ similar }: Store, requested: readonly PostingsRead[]): Promise<Buffer[]> {
  return (await similar.postings(requested)).map((bytes) => Buffer.from(bytes))
}

function joined(rows: readonly PostingRow[]): Buffer {
  return Buffer.concat(rows.map(({ postings }) => postings))
}

async function rowsOf(
  { similarIndex: indexing }: Store,
  segment: number,
  ...page: [after: PostingRow | null, limit: number]
) {
  const rows = await indexing.rows(segment, ...page)
  return rows.map((each) => ({ ...each, postings: Buffer.from(each.postings) }))
}

async function lastsOf({ similar }: Store, segment: number, after = -1, limit = 100): Promise<number[]> {
  const rows = await similar.frequencies(segment, after, limit)
  for (const { last, counts } of rows) assert.deepEqual(Buffer.from(counts), counted(last).counts)
  return rows.map(({ last }) => last)
}

async function sweepAll({ similarIndex: indexing }: Store, hold: LockHold, limit = 100): Promise<number> {
  let calls = 1
  while (await indexing.removeReplaced(hold, limit)) assert.ok(++calls < 100, 'sweep does not end')
  return calls
}

/** `npm run bench:histories` runs thousands. */
export const SEGMENT_PROPERTY = {
  sentence: 'a read returns rows of every segment by its share of the documents, in order',
  on(store: Store, hold: LockHold) {
    const world = fc.record({
      parts: fc.array(part, { minLength: 1, maxLength: 4 }),
      requested: fc.array(read, { maxLength: 5 }),
    })
    return fc.asyncProperty(world, async ({ parts, requested }) => {
      const written = writtenOf(parts)
      for (const each of written.toReversed()) await add(store, hold, each)
      assert.deepEqual(
        await bytesOf(store, requested),
        requested.map((one) => joined(expected(written, one))),
      )
      await add(store, hold, { first: 0, last: 10_000, wordings: 0, rows: [] })
      await sweepAll(store, hold)
    })
  },
}

export function segments(engine: Engine): void {
  // the segments are of documents that the store does not have, which the check would find
  testUnchecked(engine, 'a segment answers completely from its publication on', async (store, opened) => {
    const [hold, other] = [await holdOf(store), await opened.another()]
    assert.deepEqual([await other.similar.segments(), await bytesOf(other, [{ key: 0, rows: 9 }])], [[], [Buffer.of()]])
    const segment = (await store.similarIndex.beginSegment(hold, 1, 20))!
    await store.similarIndex.writeRows(hold, segment, [row(3, 1)], [counted(1)])
    await store.similarIndex.writeRows(hold, segment, [row(3, 2), row(4, 1)], [])
    assert.deepEqual(
      [await other.similar.segments(), await bytesOf(other, [{ key: PART, rows: 9 }])],
      [[], [Buffer.of()]],
    )
    assert.equal(await store.similarIndex.publishSegment(hold, segment, 17), true)
    assert.deepEqual(await other.similar.segments(), [{ segment, first: 1, last: 20, documents: 17 }])
    const requested = [0, 3, 4, 5].map((place) => ({ key: PART + place, rows: 9 }))
    const all = [row(3, 1), row(3, 2), row(4, 1)]
    assert.deepEqual(await bytesOf(other, requested), [all, all, all.slice(2), []].map(joined))
  })

  testUnchecked(
    engine,
    'a segment replaces those that it covers and no others, and their rows are removed in slices',
    async (store) => {
      const hold = await holdOf(store)
      const spans = [
        [1, 10],
        [11, 20],
        [21, 30],
        [31, 40],
      ] as const
      const parts: Segment[] = []
      for (const [first, last] of spans)
        parts.push(await add(store, hold, { first, last, wordings: 10, rows: [row(1, last), row(2, last)] }))
      assert.equal(await sweepAll(store, hold), 1)
      const whole = await add(store, hold, { first: 11, last: 30, wordings: 19, rows: [row(1, 30)] })
      assert.deepEqual(await store.similar.segments(), [parts[0], whole, parts[3]])
      const read = await bytesOf(store, [{ key: PART, rows: 1 }])
      assert.deepEqual(read, [joined([row(1, 10), row(1, 30), row(1, 40)])])
      do for (const { segment } of parts.slice(1, 3)) assert.deepEqual(await lastsOf(store, segment), [])
      while (await store.similarIndex.removeReplaced(hold, 1))
      for (const { segment } of parts.slice(1, 3)) assert.deepEqual(await store.similarIndex.rows(segment, null, 9), [])
      for (const { segment } of [parts[0]!, whole, parts[3]!]) assert.equal((await lastsOf(store, segment)).length, 1)
      assert.deepEqual(await bytesOf(store, [{ key: PART, rows: 1 }]), read)
    },
  )

  testUnchecked(
    engine,
    'a segment that another hold left unfinished never answers, and one hold may write several at once',
    async (store, opened, clock) => {
      const dead = await holdOf(store)
      const left = (await store.similarIndex.beginSegment(dead, 1, 10))!
      await store.similarIndex.writeRows(dead, left, [row(1, 1)], [])
      clock.now += LOCK_SECONDS
      const other = await opened.another()
      const hold = await holdOf(other)
      const [large, small] = [
        (await other.similarIndex.beginSegment(hold, 1, 10))!,
        (await other.similarIndex.beginSegment(hold, 11, 20))!,
      ]
      assert.ok(left < large && large < small, 'numbers ascend')
      await sweepAll(other, hold)
      assert.deepEqual(await other.similarIndex.rows(left, null, 9), [])
      for (const [segment, place] of [
        [small, 2],
        [large, 1],
      ] as const) {
        await other.similarIndex.writeRows(hold, segment, [row(place, 1)], [])
        assert.equal(await other.similarIndex.publishSegment(hold, segment, 10), true)
      }
      assert.deepEqual(
        (await other.similar.segments()).map(({ segment }) => segment),
        [large, small],
      )
      assert.deepEqual(await bytesOf(other, [{ key: PART, rows: 2 }]), [joined([row(1, 1), row(2, 1)])])
    },
  )

  testUnchecked(engine, 'the number of a segment is never reused', async (store, opened) => {
    const hold = await holdOf(store)
    const first = await add(store, hold, { first: 1, last: 10, wordings: 1, rows: [] })
    const second = await add(store, hold, { first: 1, last: 10, wordings: 1, rows: [] })
    const third = await add(store, hold, { first: 1, last: 11, wordings: 1, rows: [] })
    await sweepAll(store, hold)
    const fourth = await add(await opened.reopen(), hold, { first: 1, last: 12, wordings: 1, rows: [] })
    const numbers = [first, second, third, fourth].map(({ segment }) => segment)
    assert.deepEqual(
      numbers,
      [...new Set(numbers)].sort((a, b) => a - b),
    )
  })

  testUnchecked(engine, "a segment's rows and frequencies are read page by page, in order", async (store) => {
    const hold = await holdOf(store)
    const rows = [row(1, 5), row(1, 900), row(2, 1), row(2, 900), row(300, 4)]
    const { segment } = await add(store, hold, { first: 1, last: 50, wordings: 9, rows: rows.toReversed() })
    await store.similarIndex.writeRows(hold, segment, [], [7, 3, 200].map(counted))
    assert.deepEqual(await rowsOf(store, segment, null, 9), rows)
    for (let after: PostingRow | null = null, place = 0; place < rows.length; after = rows[place]!, place += 1)
      assert.deepEqual(await rowsOf(store, segment, after, 2), rows.slice(place, place + 2))
    assert.deepEqual(await rowsOf(store, segment, rows[4]!, 2), [])
    assert.deepEqual(await lastsOf(store, segment), [3, 7, 50, 200])
    assert.deepEqual(await lastsOf(store, segment, 3, 2), [7, 50])
    assert.deepEqual([await lastsOf(store, segment, 200), await lastsOf(store, segment + 1)], [[], []])
  })

  testUnchecked(engine, SEGMENT_PROPERTY.sentence, async (store) => {
    await fc.assert(SEGMENT_PROPERTY.on(store, await holdOf(store)), { numRuns: RUNS })
  })

  testUnchecked(
    engine,
    'a row with thousands of others before it is found, and long rows are returned completely',
    async (store) => {
      const hold = await holdOf(store)
      const rows = Array.from({ length: 3000 }, (_, n) => ({ ...row(n, n), postings: Buffer.alloc(400, n & 255) }))
      await add(store, hold, { first: 0, last: 3000, wordings: 3000, rows })
      const requested = [2999, 1000, 0].map((place) => ({ key: PART + place, rows: 1500 }))
      assert.deepEqual(
        await bytesOf(store, requested),
        [2999, 1000, 0].map((place) => joined(rows.slice(place, place + 1500))),
      )
    },
  )
}
