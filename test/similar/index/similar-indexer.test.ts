/** The steps of the indexer: its watermark, the number of segments, and concurrent queries. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { SegmentWriter } from '../../../src/similar/index/segment-writer.ts'
import { documentOfPage, MAX_SEGMENTS, SimilarIndexer } from '../../../src/similar/index/similar-indexer.ts'
import { postingKeyOf } from '../../../src/similar/postings/postings.ts'
import { withNamedLock } from '../../../src/store/named-lock.ts'
import type { Store } from '../../../src/store/port/store.ts'
import { name } from '../../store/conformance/world.ts'
import { watched } from '../indexing.ts'
import { found, inWorld, pagesFrom, UNFINISHED } from '../internals.ts'
import { STILL, type World } from '../world.ts'

/** Runs `work` with an indexer that has the lock. */
async function withIndexer(
  { store }: Pick<World, 'store'>,
  work: (indexer: SimilarIndexer) => Promise<void>,
): Promise<void> {
  const parts = { jobs: store.jobs, holder: 'a test', clock: STILL }
  assert.ok(
    await withNamedLock('index', parts, new AbortController().signal, (hand) => work(new SimilarIndexer(store, hand))),
  )
}

/** Checks that queries find everything that was observed before the watermark. */
async function assertFollowed(world: World, until: number, observed: ReadonlyMap<string, number>): Promise<void> {
  const segments = await world.store.similar.segments()
  for (const [domain, at] of observed) {
    if (at >= until) continue
    const page = await world.store.similar.page(name(domain))
    assert.ok(page !== null && 'document' in page, `${domain} of ${at} waits though all until ${until} is followed`)
    const inOne = segments.some(({ first, last }) => first <= page.document! && page.document! <= last)
    assert.ok(inOne, `${domain} is in no segment`)
  }
}

test('the watermark is never ahead of the index, and follows soon when nothing waits', async () => {
  const operation = fc.oneof(
    { weight: 3, arbitrary: fc.constant('step' as const) },
    { weight: 1, arbitrary: fc.constant('time' as const) },
    { weight: 2, arbitrary: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 250, max: 270 })) },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 4, maxLength: 16 }), (operations) =>
      inWorld(async (world) => {
        const observed = new Map<string, number>()
        let pages = 0
        await withIndexer(world, async (indexer) => {
          for (const operation of operations) {
            if (operation === 'step') await indexer.step()
            else if (operation === 'time') world.clock.now += 7
            else {
              await world.say(pagesFrom(pages, operation))
              for (const domain of Object.keys(pagesFrom(pages, operation))) observed.set(domain, world.clock.now)
              pages += operation
            }
            const until = await world.store.similar.indexedUntil()
            if (until !== null) await assertFollowed(world, until, observed)
          }
          world.clock.now += 60
          const then = world.clock.now
          for (let steps = 0; steps < 12; steps++) await indexer.step()
          assert.equal(await world.store.similar.indexedUntil(), then)
          await assertFollowed(world, then, observed)
        })
      }),
    ),
    { numRuns: 12 },
  )
})

test('while pages wait the watermark lags behind', async () => {
  await inWorld(async (world) => {
    await world.say(pagesFrom(0, 700))
    const observed = world.clock.now
    await withIndexer(world, async (indexer) => {
      await indexer.step()
      assert.ok(indexer.progress.hasPending)
      world.clock.now += 100
      await indexer.step()
      assert.ok(((await world.store.similar.indexedUntil()) ?? 0) <= observed)
      while (await indexer.step());
      await indexer.step()
      assert.equal(await world.store.similar.indexedUntil(), observed + 100)
      assert.deepEqual([indexer.progress.indexed, indexer.progress.hasPending], [700, false])
    })
  })
})

test('if there are too many segments to index, some are merged until indexing continues', async () => {
  await inWorld(async (world) => {
    const hold = (await world.store.jobs.acquireLock('index', 'a test'))!
    const sizes: number[] = []
    /** None is at most a third of those that follow, including the 256 pages of the first step. */
    for (let following = 256; sizes.length < MAX_SEGMENTS - 1; following += sizes.at(-1)!)
      sizes.push(Math.floor(following / 3) + 5)
    for (const [at, wordings] of sizes.toReversed().entries()) {
      const segment = (await world.store.similarIndex.beginSegment(hold, at - MAX_SEGMENTS, at - MAX_SEGMENTS))!
      await world.store.similarIndex.publishSegment(hold, segment, wordings)
    }
    await world.store.jobs.releaseLock(hold)
    await world.say(
      Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`page${at}.example`, `subject${at % 50} own${at}`])),
    )
    await world.index()
    assert.deepEqual(await world.store.similarIndex.pending(1), [])
    assert.equal((await world.names('page0.example'))?.length, 11)
  })
})

test('at the maximum number of segments, new documents make no segment', async () => {
  await inWorld(async (world) => {
    const texts = Array.from({ length: 40 }, (_, at) => [`page${at}.example`, `subject${at % 2} own${at}`])
    await world.say(Object.fromEntries(texts))
    const hold = (await world.store.jobs.acquireLock('index', 'a test'))!
    await world.store.similarIndex.filePages(hold, (await world.store.similarIndex.pending(100)).map(documentOfPage))
    for (let at = 0; at < MAX_SEGMENTS; at++) {
      const segment = (await world.store.similarIndex.beginSegment(hold, at - MAX_SEGMENTS, at - MAX_SEGMENTS))!
      await world.store.similarIndex.publishSegment(hold, segment, 1000)
    }
    await world.store.jobs.releaseLock(hold)
    const counts: number[] = []
    const store = watched(world.store, async () => {
      counts.push((await world.store.similar.segments()).length)
    })
    await world.index(store)
    assert.equal(Math.max(...counts), MAX_SEGMENTS)
    assert.equal((await world.names('page0.example'))?.length, 19)
  })
})

/** Two segments with the same terms, of 64 documents and of the next one. Merged, they have one row per term. */
async function writeLarge({ similarIndex: indexing, jobs }: Store, words: number): Promise<void> {
  const hold = (await jobs.acquireLock('index', 'a test'))!
  await indexing.filePages(hold, (await indexing.pending(100)).map(documentOfPage))
  for (const [first, last] of [
    [1, 64],
    [65, 65],
  ] as const) {
    const segment = (await indexing.beginSegment(hold, first, last))!
    const wordings = Float64Array.from({ length: last - first + 1 }, (_, at) => first + at)
    const writer = new SegmentWriter(async (...rows) => void (await indexing.writeRows(hold, segment, ...rows)))
    for (let word = 0; word < words; word++) {
      writer.add(word, [{ key: postingKeyOf(word, 5), documents: wordings }], wordings.length)
      if (writer.isFull) await writer.flush()
    }
    await writer.end()
    await indexing.publishSegment(hold, segment, 5000)
  }
  await jobs.releaseLock(hold)
}

test('during a large merge, new pages are filed and merged as well', async () => {
  await inWorld(async (world) => {
    await world.say(pagesFrom(0, 100))
    await writeLarge(world.store, 30_000)
    await withIndexer(world, async (indexer) => {
      await indexer.step()
      const large = (await world.store.similar.segments()).map(({ segment }) => segment)
      for (const page of [100, 101, 102]) {
        await world.say(pagesFrom(page, 1))
        await indexer.step()
        assert.deepEqual(await world.store.similarIndex.pending(1), [])
      }
      const segments = (await world.store.similar.segments()).map(({ segment }) => segment)
      assert.deepEqual([segments.slice(0, -1), segments.length], [large, large.length + 1])
      while (await indexer.step());
    })
    assert.deepEqual(found(world, UNFINISHED), [])
    assert.equal((await world.store.similar.segments()).length, 2)
  })
})

test('queries during filing, merges and cleanup find the earlier documents', async () => {
  await inWorld(async (world) => {
    const stable = Object.fromEntries(
      Array.from({ length: 30 }, (_, at) => [`stable${at}.example`, `bread cake mine${at}`]),
    )
    await world.say(stable)
    await world.index()
    let replaced = 0
    await withIndexer(world, async (indexer) => {
      for (let round = 0; round < 12; round++) {
        await world.say(pagesFrom(40 * round, 40))
        const numbers = new Set((await world.store.similar.segments()).map(({ segment }) => segment))
        for (let steps = 0; steps < 3; steps++) {
          const [rows] = await Promise.all([world.names('stable7.example'), indexer.step()])
          assert.equal(rows?.length, 29)
        }
        replaced +=
          numbers.size - (await world.store.similar.segments()).filter(({ segment }) => numbers.has(segment)).length
      }
    })
    assert.ok(replaced > 5, 'there were merges')
  })
})
