/** The rarities that a process goes by: of all segments, and learnt again when the index has moved on. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  emptyDocumentFrequencies,
  MAX_ROW_TERMS,
  packDocumentFrequencies,
} from '../../../src/similar/postings/document-frequencies.ts'
import { buildIdfTable } from '../../../src/similar/query/build-idf-table.ts'
import {
  type CurrentIdf,
  createIdfCache,
  type IdfCache,
  MAX_SYNCHRONOUS_DOCUMENTS,
} from '../../../src/similar/query/idf-cache.ts'
import { TERM_COUNT } from '../../../src/similar/text/term-vector.ts'
import type { FrequencyRow, Segment, SimilarReader } from '../../../src/store/port/similar.ts'

type Counts = ReadonlyMap<number, number>

/** Segments in memory, of which each read gives few rows of few words. */
class Index implements Pick<SimilarReader, 'segments' | 'frequencies'> {
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
      const packed = packDocumentFrequencies({ size: sorted.length, terms: words!, counts: numbers! }, from, end)
      rows.push({ last: words![end - 1]!, counts: packed })
    }
    this.parts.set(segment, { wordings, rows })
  }

  drop(segment: number): void {
    this.parts.delete(segment)
  }

  async segments(): Promise<Segment[]> {
    return [...this.parts].map(([segment, { wordings }]) => ({
      segment,
      first: segment,
      last: segment,
      documents: wordings,
    }))
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
    .uniqueArray(fc.tuple(fc.oneof(fc.nat(30), fc.nat(TERM_COUNT - 1)), fc.integer({ min: 1, max: 600 })), {
      selector: ([word]) => word,
      maxLength: 60,
    })
    .map((pairs) => new Map(pairs))
  await fc.assert(
    fc.asyncProperty(fc.array(counts, { maxLength: 5 }), async (parts) => {
      const index = indexOf(...parts.map((each): [number, Counts] => [700, each]))
      const rarities = await buildIdfTable(index, await index.segments())
      assert.equal(rarities.documents, 700 * parts.length)
      for (const word of new Set(parts.flatMap((part) => [...part.keys()]))) {
        const all = parts.reduce((sum, part) => sum + (part.get(word) ?? 0), 0)
        assert.ok(Math.abs(rarities.documentFrequencyOf(word) - all) <= all / 300, `${word}`)
      }
    }),
    { numRuns: 50 },
  )
})

test('words that are not kept take no memory, however many there are', async () => {
  const words = 2 ** 21
  const row = emptyDocumentFrequencies(MAX_ROW_TERMS)
  let [most, first] = [0, 0]
  const source: Pick<SimilarReader, 'frequencies'> = {
    async frequencies(_, after, limit) {
      most = Math.max(most, process.memoryUsage().arrayBuffers)
      first ||= most
      return Array.from({ length: Math.min(limit, (words - after - 1) / MAX_ROW_TERMS) }, (_, at) => {
        for (let place = 0; place < MAX_ROW_TERMS; place++) row.terms[place] = after + 1 + at * MAX_ROW_TERMS + place
        row.counts.fill(1)
        return { last: row.terms.at(-1)!, counts: packDocumentFrequencies(row, 0, MAX_ROW_TERMS) }
      })
    },
  }
  const rarities = await buildIdfTable(source, [{ segment: 1, first: 1, last: 9, documents: 9 }])
  assert.equal(rarities.documentFrequencyOf(7), 1)
  assert.ok(most - first < 2 * words, `${most - first} bytes for ${words} words`)
})

/** More wordings than an index has that is learnt before the answer. */
const LARGE = MAX_SYNCHRONOUS_DOCUMENTS + 1

test('they are learnt once for all who wait, and again only when the segments are others', async () => {
  const index = indexOf([10, new Map([[1, 5]])])
  const keeper = createIdfCache(index, () => 0)
  const [one, other] = await Promise.all([keeper.current(), keeper.current()])
  assert.equal(one.idfTable, other.idfTable)
  const { reads } = index
  assert.equal((await keeper.current()).idfTable, one.idfTable)
  assert.equal(index.reads, reads)
})

test('of a small index they are those of now at every moment, however often it moves', async () => {
  const index = indexOf()
  const [one, other] = [createIdfCache(index, () => 0), createIdfCache(index, () => 0)]
  for (let segment = 1; segment <= 20; segment++) {
    index.put(segment, MAX_SYNCHRONOUS_DOCUMENTS / 20, new Map([[1, 5]]))
    const { idfTable: rarities, isCurrent } = await (segment % 3 === 0 ? other : one).current()
    assert.deepEqual(
      [rarities.documents, rarities.documentFrequencyOf(1), isCurrent],
      [(segment * MAX_SYNCHRONOUS_DOCUMENTS) / 20, 5 * segment, true],
    )
  }
})

test('of a large index the former ones are given while they are learnt again, and said not to be current', async () => {
  const index = indexOf([LARGE, new Map([[1, 5]])])
  let now = 0
  const keeper = createIdfCache(index, () => now)
  const former = await keeper.current()
  assert.equal(former.isCurrent, true)
  index.put(2, 10, new Map([[1, 4]]))
  const { reads } = index
  assert.equal((await keeper.current()).idfTable, former.idfTable)
  assert.equal(index.reads, reads, 'not yet')
  now = 1_000
  const meanwhile = await keeper.current()
  assert.deepEqual([meanwhile.idfTable === former.idfTable, meanwhile.isCurrent], [true, false])
  const { idfTable: rarities } = await current(keeper)
  assert.deepEqual([rarities.documentFrequencyOf(1), rarities.documents], [9, LARGE + 10])
})

test('where nobody watches, a large index that has more than doubled is learnt before the answer', async () => {
  const index = indexOf([LARGE, new Map([[1, 5]])])
  const keeper = createIdfCache(index, () => 0)
  await keeper.current()
  index.put(2, LARGE + 1, new Map([[1, 4]]))
  const { idfTable: rarities, isCurrent } = await keeper.current()
  assert.deepEqual([rarities.documents, rarities.documentFrequencyOf(1), isCurrent], [2 * LARGE + 1, 9, true])
})

/** A clock that goes to where it is wanted, and lets all who wait for that moment go on before it goes further. */
function steered() {
  let [now, number] = [500, 0]
  const waiting = new Map<number, { until: number; end(): void }>()
  const settled = async (): Promise<void> => {
    for (let turns = 0; turns < 200; turns++) await new Promise(setImmediate)
  }
  return {
    now: () => now,
    wait: (milliseconds: number, signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        const key = number++
        const end = (): void => {
          waiting.delete(key)
          resolve()
        }
        waiting.set(key, { until: now + milliseconds, end })
        signal.addEventListener('abort', end)
      }),
    async go(to: number): Promise<void> {
      await settled()
      for (; now < to; await settled()) {
        now = Math.min(to, ...[...waiting.values()].map(({ until }) => until))
        for (const { until, end } of waiting.values()) if (until <= now) end()
      }
    },
  }
}

/** Two processes over one index, that look at it a little apart. */
async function twoProcesses(index: Index) {
  const [clock, late, ending] = [steered(), 300, new AbortController()]
  const keepers = [createIdfCache(index, clock.now), createIdfCache(index, clock.now)] as const
  const lagging = (milliseconds: number, signal: AbortSignal) => clock.wait(milliseconds + late, signal)
  const watches = [keepers[0].refresh(clock, ending.signal), keepers[1].refresh({ wait: lagging }, ending.signal)]
  await clock.go(3_000)
  return {
    clock,
    /** The wordings that each goes by. */
    seen: () => Promise.all(keepers.map(async (keeper) => (await keeper.current()).idfTable.documents)),
    async end(): Promise<void> {
      ending.abort()
      await Promise.all(watches)
    },
  }
}

test('processes that watch a large index go by the same of it at every moment, and by the newest after 2 seconds', async () => {
  const index = indexOf([LARGE, new Map([[1, 5]])])
  const { clock, seen, end } = await twoProcesses(index)
  for (let [segment, now] = [2, clock.now()]; segment < 8; segment++) {
    await clock.go(now + 1_400) // not between the two looks
    index.put(segment, 10, new Map([[1, 4]]))
    for (let passed = 0; passed < 2_000; passed += 100) {
      await clock.go(now + 1_400 + passed)
      const [one, other] = await seen()
      assert.equal(one, other)
    }
    now += 4_000
    assert.deepEqual(await seen(), Array(2).fill(LARGE + 10 * (segment - 1)))
  }
  await end()
})

test('whether or not anybody asks, they are learnt when the index has moved', async () => {
  const index = indexOf([LARGE, new Map([[1, 5]])])
  const { clock, seen, end } = await twoProcesses(index)
  index.put(2, 10, new Map([[1, 4]]))
  await clock.go(clock.now() + 3_000)
  const { reads } = index
  assert.deepEqual(await seen(), [LARGE + 10, LARGE + 10])
  assert.equal(index.reads, reads)
  await end()
})

test('a store that fails does not end the watch', async () => {
  const index = indexOf([LARGE, new Map([[1, 5]])])
  const { clock, seen, end } = await twoProcesses(index)
  index.put(2, 10, new Map([[1, 4]]))
  index.before = () => {
    throw new Error('away')
  }
  await clock.go(clock.now() + 5_000)
  assert.deepEqual(await seen(), [LARGE, LARGE])
  index.before = () => {}
  await clock.go(clock.now() + 3_000)
  assert.deepEqual(await seen(), [LARGE + 10, LARGE + 10])
  await end()
})

test('a very large index is learnt again the more seldom, the larger it is', async () => {
  const index = indexOf([350_000, new Map([[1, 5]])])
  const { clock, seen, end } = await twoProcesses(index)
  await clock.go(8_400)
  index.put(2, 10, new Map([[1, 4]]))
  await clock.go(15_999)
  assert.deepEqual(await seen(), [350_000, 350_000])
  await clock.go(16_000)
  assert.deepEqual(await seen(), [350_010, 350_010])
  await end()
})

async function current(keeper: IdfCache): Promise<CurrentIdf> {
  for (;;) {
    const now = await keeper.current()
    if (now.isCurrent) return now
    await new Promise(setImmediate)
  }
}

test('where segments go while they are read, whenever that is, they are learnt from what is there then', async () => {
  const words = new Map(Array.from({ length: 40 }, (_, at) => [at * 1000, 6] as const))
  const whole = indexOf([10, words], [10, words])
  await buildIdfTable(whole, await whole.segments())
  for (let read = 1; read <= whole.reads; read++) {
    const index = indexOf([10, words], [10, words])
    index.before = () => {
      if (index.reads !== read) return
      index.drop(1)
      index.drop(2)
      index.put(3, 20, new Map([...words].map(([word, count]) => [word, 2 * count])))
    }
    const { idfTable: rarities } = await createIdfCache(index, () => 0).current()
    for (const word of words.keys()) assert.equal(rarities.documentFrequencyOf(word), 12, `read ${read}`)
    assert.equal(rarities.documents, 20)
  }
})

test('where those that go hold less than a hundredth of the wordings, they are not learnt anew', async () => {
  const words = new Map(Array.from({ length: 40 }, (_, at) => [at * 1000, 300] as const))
  const whole = indexOf([LARGE, words], [5, new Map([[3, 1]])])
  await buildIdfTable(whole, await whole.segments())
  const index = indexOf([LARGE, words], [5, new Map([[3, 1]])])
  index.before = () => {
    index.drop(1 + index.reads)
    index.put(2 + index.reads, 5, new Map([[3, 1]]))
  }
  const { idfTable: rarities, isCurrent } = await createIdfCache(index, () => 0).current()
  assert.ok(index.reads <= whole.reads, `${index.reads} reads`)
  for (const word of words.keys()) assert.equal(rarities.documentFrequencyOf(word), 300)
  assert.deepEqual([rarities.documents, isCurrent], [LARGE + 5, false])
})

test('what could not be learnt is learnt by the next who asks', async () => {
  const index = indexOf([10, new Map([[1, 5]])])
  index.before = () => {
    throw new Error('away')
  }
  const keeper = createIdfCache(index, () => 0)
  await assert.rejects(keeper.current(), /away/)
  index.before = () => {}
  assert.equal((await keeper.current()).idfTable.documentFrequencyOf(1), 5)
})
