/** The IDF table of a process: it covers all segments, and is rebuilt when the index has changed. */

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

/** Segments in memory. Each read returns few rows of few terms. */
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

test('the frequency of a term is its total over all segments', async () => {
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

test('terms that are not kept take no memory, however many there are', async () => {
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

/** More documents than an index may have for a synchronous build. */
const LARGE = MAX_SYNCHRONOUS_DOCUMENTS + 1

test('all waiting queries share one build, and the next one happens only after the segments change', async () => {
  const index = indexOf([10, new Map([[1, 5]])])
  const keeper = createIdfCache(index, () => 0)
  const [one, other] = await Promise.all([keeper.current(), keeper.current()])
  assert.equal(one.idfTable, other.idfTable)
  const { reads } = index
  assert.equal((await keeper.current()).idfTable, one.idfTable)
  assert.equal(index.reads, reads)
})

test('for a small index the table is always current, however often the index changes', async () => {
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

test('for a large index the former table is returned during a build, marked as not current', async () => {
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

test('without refresh, a query waits for the build if a large index has more than doubled', async () => {
  const index = indexOf([LARGE, new Map([[1, 5]])])
  const keeper = createIdfCache(index, () => 0)
  await keeper.current()
  index.put(2, LARGE + 1, new Map([[1, 4]]))
  const { idfTable: rarities, isCurrent } = await keeper.current()
  assert.deepEqual([rarities.documents, rarities.documentFrequencyOf(1), isCurrent], [2 * LARGE + 1, 9, true])
})

/** A clock that advances to given times and lets everybody who waits for a time continue before it advances further. */
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

/** Two processes over one index, with slightly different check times. */
async function twoProcesses(index: Index) {
  const [clock, late, ending] = [steered(), 300, new AbortController()]
  const keepers = [createIdfCache(index, clock.now), createIdfCache(index, clock.now)] as const
  const lagging = (milliseconds: number, signal: AbortSignal) => clock.wait(milliseconds + late, signal)
  const watches = [keepers[0].refresh(clock, ending.signal), keepers[1].refresh({ wait: lagging }, ending.signal)]
  await clock.go(3_000)
  return {
    clock,
    /** The number of documents of each table. */
    seen: () => Promise.all(keepers.map(async (keeper) => (await keeper.current()).idfTable.documents)),
    async end(): Promise<void> {
      ending.abort()
      await Promise.all(watches)
    },
  }
}

test('processes that refresh a large index use the same table at any time, and the newest one after 2 seconds', async () => {
  const index = indexOf([LARGE, new Map([[1, 5]])])
  const { clock, seen, end } = await twoProcesses(index)
  for (let [segment, now] = [2, clock.now()]; segment < 8; segment++) {
    await clock.go(now + 1_400) // not between the two checks
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

test('the table is rebuilt when the index has changed, with or without queries', async () => {
  const index = indexOf([LARGE, new Map([[1, 5]])])
  const { clock, seen, end } = await twoProcesses(index)
  index.put(2, 10, new Map([[1, 4]]))
  await clock.go(clock.now() + 3_000)
  const { reads } = index
  assert.deepEqual(await seen(), [LARGE + 10, LARGE + 10])
  assert.equal(index.reads, reads)
  await end()
})

test('an error of the store does not end the refresh', async () => {
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

test('the larger an index is, the less often its table is rebuilt', async () => {
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

test('if segments are removed during a read, at any time, the table is built from the existing ones', async () => {
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

test('if the removed segments have less than a hundredth of the documents, the table is not rebuilt', async () => {
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

test('after a failed build, the next query builds the table', async () => {
  const index = indexOf([10, new Map([[1, 5]])])
  index.before = () => {
    throw new Error('away')
  }
  const keeper = createIdfCache(index, () => 0)
  await assert.rejects(keeper.current(), /away/)
  index.before = () => {}
  assert.equal((await keeper.current()).idfTable.documentFrequencyOf(1), 5)
})
