/** The rarities that a process goes by: of all segments, and learnt again when the index has moved on. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { learn } from '../../src/retrieval/learn.ts'
import { keepRarities } from '../../src/retrieval/rarity-keeper.ts'
import { emptyFrequencies, packFrequencies, ROW_WORDS } from '../../src/similar/frequencies.ts'
import { WORDS } from '../../src/similar/vector.ts'
import type { FrequencyRow, Segment, Similar } from '../../src/store/similar.ts'

type Counts = ReadonlyMap<number, number>

/** Segments in memory, of which each read gives few rows of few words. */
class Index implements Pick<Similar, 'segments' | 'frequencies'> {
  private readonly parts = new Map<number, { wordings: number; rows: FrequencyRow[] }>()
  reads = 0
  /** Called before each read. */
  before: () => void = () => {}

  put(segment: number, wordings: number, counts: Counts): void {
    const sorted = [...counts].sort(([a], [b]) => a - b)
    const [words, numbers] = [0, 1].map((place) => Uint32Array.from(sorted, (pair) => pair[place]!))
    const rows: FrequencyRow[] = []
    for (let from = 0; from < sorted.length; from += 3) {
      const end = Math.min(sorted.length, from + 3)
      const packed = packFrequencies({ size: sorted.length, words: words!, counts: numbers! }, from, end)
      rows.push({ last: words![end - 1]!, counts: packed })
    }
    this.parts.set(segment, { wordings, rows })
  }

  drop(segment: number): void {
    this.parts.delete(segment)
  }

  async segments(): Promise<Segment[]> {
    return [...this.parts].map(([segment, { wordings }]) => ({ segment, first: segment, last: segment, wordings }))
  }

  async frequencies(segment: number, after: number): Promise<FrequencyRow[]> {
    this.reads++
    this.before()
    return (this.parts.get(segment)?.rows ?? []).filter(({ last }) => last > after).slice(0, 2)
  }
}

function indexOf(...parts: [wordings: number, counts: Counts][]): Index {
  const index = new Index()
  for (const [at, [wordings, counts]] of parts.entries()) index.put(at + 1, wordings, counts)
  return index
}

test('a word is as frequent as in all segments together', async () => {
  const counts = fc
    .uniqueArray(fc.tuple(fc.oneof(fc.nat(30), fc.nat(WORDS - 1)), fc.integer({ min: 1, max: 600 })), {
      selector: ([word]) => word,
      maxLength: 60,
    })
    .map((pairs) => new Map(pairs))
  await fc.assert(
    fc.asyncProperty(fc.array(counts, { maxLength: 5 }), async (parts) => {
      const index = indexOf(...parts.map((each): [number, Counts] => [700, each]))
      const rarities = await learn(index, await index.segments())
      assert.equal(rarities.wordings, 700 * parts.length)
      for (const word of new Set(parts.flatMap((part) => [...part.keys()]))) {
        const all = parts.reduce((sum, part) => sum + (part.get(word) ?? 0), 0)
        assert.ok(Math.abs(rarities.pagesOf(word) - all) <= all / 300, `${word}`)
      }
    }),
    { numRuns: 50 },
  )
})

test('words that are not kept take no memory, however many there are', async () => {
  const words = 2 ** 21
  const row = emptyFrequencies(ROW_WORDS)
  let [most, first] = [0, 0]
  const source: Pick<Similar, 'frequencies'> = {
    async frequencies(_, after, limit) {
      most = Math.max(most, process.memoryUsage().arrayBuffers)
      first ||= most
      return Array.from({ length: Math.min(limit, (words - after - 1) / ROW_WORDS) }, (_, at) => {
        for (let place = 0; place < ROW_WORDS; place++) row.words[place] = after + 1 + at * ROW_WORDS + place
        row.counts.fill(1)
        return { last: row.words.at(-1)!, counts: packFrequencies(row, 0, ROW_WORDS) }
      })
    },
  }
  const rarities = await learn(source, [{ segment: 1, first: 1, last: 9, wordings: 9 }])
  assert.equal(rarities.pagesOf(7), 1)
  assert.ok(most - first < 2 * words, `${most - first} bytes for ${words} words`)
})

test('they are learnt once for all who wait, and again only when the segments are others', async () => {
  const index = indexOf([10, new Map([[1, 5]])])
  const keeper = keepRarities(index, () => 0)
  const [one, other] = await Promise.all([keeper.now(), keeper.now()])
  assert.equal(one.rarities, other.rarities)
  const { reads } = index
  assert.equal((await keeper.now()).rarities, one.rarities)
  assert.equal(index.reads, reads)
})

test('while they are learnt again, the former ones are given, and said not to be current', async () => {
  const index = indexOf([10, new Map([[1, 5]])])
  const keeper = keepRarities(index, () => 0)
  const former = await keeper.now()
  assert.equal(former.isCurrent, true)
  index.put(2, 10, new Map([[1, 4]]))
  const meanwhile = await keeper.now()
  assert.deepEqual([meanwhile.rarities === former.rarities, meanwhile.isCurrent], [true, false])
  let now = await keeper.now()
  while (!now.isCurrent) {
    await new Promise(setImmediate)
    now = await keeper.now()
  }
  assert.deepEqual([now.rarities.pagesOf(1), now.rarities.wordings], [9, 20])
})

test('learning takes a fiftieth of the time at most', async () => {
  const index = indexOf([10, new Map([[1, 5]])])
  let now = 0
  const keeper = keepRarities(index, () => now)
  index.before = () => {
    now += 10
  }
  const first = await keeper.now()
  index.put(2, 10, new Map([[1, 4]]))
  const learnt = now
  const { reads } = index
  now = learnt * 50
  assert.equal((await keeper.now()).rarities, first.rarities)
  assert.equal(index.reads, reads, 'not yet')
  now = learnt * 51
  await keeper.now()
  while (!(await keeper.now()).isCurrent) await new Promise(setImmediate)
  assert.ok(index.reads > reads)
})

test('once there are more than twice as many wordings, whoever asks waits for what is learnt of them', async () => {
  const index = indexOf()
  const keeper = keepRarities(index, () => 0)
  assert.equal((await keeper.now()).rarities.wordings, 0)
  index.put(1, 10, new Map([[1, 5]]))
  assert.equal((await keeper.now()).rarities.wordings, 10)
  index.put(2, 10, new Map([[1, 4]]))
  index.put(3, 1, new Map([[1, 1]]))
  const { rarities, isCurrent } = await keeper.now()
  assert.deepEqual([rarities.wordings, rarities.pagesOf(1), isCurrent], [21, 10, true])
})

test('these are learnt at once, however short ago others were', async () => {
  const index = indexOf([10, new Map([[1, 5]])])
  let now = 0
  const keeper = keepRarities(index, () => now)
  index.before = () => {
    now += 10
  }
  await keeper.now()
  index.put(2, 11, new Map([[1, 4]]))
  assert.equal((await keeper.now()).rarities.wordings, 21)
})

test('where segments go while they are read, whenever that is, they are learnt from what is there then', async () => {
  const words = new Map(Array.from({ length: 40 }, (_, at) => [at * 1000, 6] as const))
  const whole = indexOf([10, words], [10, words])
  await learn(whole, await whole.segments())
  for (let read = 1; read <= whole.reads; read++) {
    const index = indexOf([10, words], [10, words])
    index.before = () => {
      if (index.reads !== read) return
      index.drop(1)
      index.drop(2)
      index.put(3, 20, new Map([...words].map(([word, count]) => [word, 2 * count])))
    }
    const { rarities } = await keepRarities(index, () => 0).now()
    for (const word of words.keys()) assert.equal(rarities.pagesOf(word), 12, `read ${read}`)
    assert.equal(rarities.wordings, 20)
  }
})

test('where those that go hold less than a hundredth of the wordings, they are not learnt anew', async () => {
  const words = new Map(Array.from({ length: 40 }, (_, at) => [at * 1000, 300] as const))
  const whole = indexOf([1000, words], [5, new Map([[3, 1]])])
  await learn(whole, await whole.segments())
  const index = indexOf([1000, words], [5, new Map([[3, 1]])])
  index.before = () => {
    index.drop(1 + index.reads)
    index.put(2 + index.reads, 5, new Map([[3, 1]]))
  }
  const { rarities, isCurrent } = await keepRarities(index, () => 0).now()
  assert.ok(index.reads <= whole.reads, `${index.reads} reads`)
  for (const word of words.keys()) assert.equal(rarities.pagesOf(word), 300)
  assert.deepEqual([rarities.wordings, isCurrent], [1005, false])
})

test('what could not be learnt is learnt by the next who asks', async () => {
  const index = indexOf([10, new Map([[1, 5]])])
  index.before = () => {
    throw new Error('away')
  }
  const keeper = keepRarities(index, () => 0)
  await assert.rejects(keeper.now(), /away/)
  index.before = () => {}
  assert.equal((await keeper.now()).rarities.pagesOf(1), 5)
})
