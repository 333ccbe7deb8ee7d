/** Tests of the indexer's port: pending pages, filed pages, and documents. */

import assert from 'node:assert/strict'
import { termsOf } from '../../../../src/similar/text/terms.ts'
import { ingest } from '../../../../src/store/ingest.ts'
import { LOCK_SECONDS, type LockHold } from '../../../../src/store/port/jobs.ts'
import type { SimilarIndexStore } from '../../../../src/store/port/similar.ts'
import type { Store } from '../../../../src/store/port/store.ts'
import type { Engine } from '../engine.ts'
import { name, testWithStore } from '../world.ts'
import { documentOf, fileAll, filingOf, holdOf, keyOf, saying, vectorOf, vectorsOf } from './filed-pages.ts'

const ONE = name('one.example')
const TWO = name('two.example')

export function similar(engine: Engine): void {
  testWithStore(
    engine,
    'a start page is pending with its terms, and has its document after it is filed',
    async (store) => {
      assert.equal(await store.similar.page(ONE), null)
      await ingest(store, [saying('one.example', 1, 'one two two'), saying('two.example', 1, null)])
      const { digest, counts } = termsOf('one two two')
      assert.deepEqual(await store.similar.page(ONE), { terms: counts })
      const [page, ...others] = await store.similarIndex.pending(10)
      assert.deepEqual([page!.name, page!.digest, page!.terms, others], [ONE, digest, counts, []])
      assert.equal(await store.similarIndex.filePages(await holdOf(store), [filingOf(page!)]), true)
      assert.deepEqual(await store.similarIndex.pending(10), [])
      const wording = (await documentOf(store, 'one two two'))!
      const filed = (await store.similar.page(ONE)) as { document: number; vector: Uint8Array }
      assert.deepEqual([filed.document, Buffer.from(filed.vector)], [wording, vectorOf('one two two')])
      assert.equal(await store.similar.page(TWO), null)
    },
  )

  testWithStore(
    engine,
    'pages with one vector share a document, and another vector with the same digest has its own',
    async (store) => {
      const hold = await holdOf(store)
      await ingest(store, [saying('two.example', 1, 'one two'), saying('b.example', 1, 'three')])
      await fileAll(store, hold)
      await ingest(store, [saying('one.example', 2, 'Two, one!')])
      await fileAll(store, hold)
      const shared = (await documentOf(store, 'one two'))!
      const other = (await documentOf(store, 'three'))!
      assert.notEqual(shared, other)
      assert.equal(await store.similar.findDocument(keyOf('three') - 1, vectorOf('three')!), null)
      assert.equal(await documentOf(store, 'four'), null)
      const asked = [other, 99, shared, other]
      assert.deepEqual(await store.similar.names(asked, 5), [['b.example'], [], [ONE, TWO], ['b.example']])
      assert.deepEqual(await store.similar.names([shared], 1), [[ONE]])
      assert.deepEqual(
        await vectorsOf(store, asked),
        ['three', null, 'one two', 'three'].map((text) => text && vectorOf(text)),
      )
      const both = [vectorOf('one two'), vectorOf('three')]
      const [least, max] = shared < other ? both : both.toReversed()
      assert.deepEqual(await pageOf(store.similarIndex, 0, 10), [least, max])
      assert.deepEqual(await pageOf(store.similarIndex, 0, 1), [least])
      assert.deepEqual(await pageOf(store.similarIndex, Math.min(shared, other), 10), [max])
      assert.deepEqual([await store.similar.names([], 5), await store.similar.vectors([])], [[], []])
    },
  )

  testWithStore(engine, 'the first names of a document are read, however many it has', async (store) => {
    const names = ['e', 'c', 'a', 'd', 'b'].map((label) => name(`${label}.example`))
    await ingest(store, [...names.map((each, at) => saying(each, at + 1, 'one two')), saying('z.example', 9, 'three')])
    await fileAll(store, await holdOf(store))
    const [many, one] = [(await documentOf(store, 'one two'))!, (await documentOf(store, 'three'))!]
    const sorted = names.toSorted()
    for (let limit = 1; limit <= 6; limit++)
      for (const asked of [[many], [one], [one, many, one], [many, many], [one, 99, many, 99, one, one]]) {
        const expected = asked.map((each) =>
          each === many ? sorted.slice(0, limit) : each === one ? ['z.example'] : [],
        )
        assert.deepEqual(await store.similar.names(asked, limit), expected)
      }
  })

  testWithStore(engine, 'a page without a term is filed without a document', async (store) => {
    await ingest(store, [saying('one.example', 1, '...')])
    await fileAll(store, await holdOf(store))
    assert.deepEqual(await store.similar.page(ONE), { document: null, vector: null })
    assert.deepEqual(await store.similarIndex.documents(0, 10), [])
  })

  testWithStore(
    engine,
    'a page whose text changes meanwhile is left pending and returned again',
    async (store, opened) => {
      const hold = await holdOf(store)
      await ingest(store, [saying('one.example', 1, 'old'), saying('two.example', 1, 'two')])
      const filings = (await store.similarIndex.pending(10)).map(filingOf)
      await ingest(await opened.another(), [saying('one.example', 2, 'new')])
      assert.equal(await store.similarIndex.filePages(hold, filings), true)
      assert.deepEqual(await store.similar.page(ONE), { terms: termsOf('new').counts })
      const waiting = await store.similarIndex.pending(10)
      assert.deepEqual(
        waiting.map((page) => page.name),
        [ONE],
      )
      assert.equal(await documentOf(store, 'old'), null)
      await fileAll(store, hold)
      assert.deepEqual(await store.similar.names([(await documentOf(store, 'new'))!], 5), [[ONE]])
    },
  )

  testWithStore(
    engine,
    'a page that is pending again answers with its new text, and leaves its document after it is filed',
    async (store) => {
      const hold = await holdOf(store)
      await ingest(store, [saying('one.example', 1, 'old'), saying('two.example', 1, 'old')])
      await fileAll(store, hold)
      const old = (await documentOf(store, 'old'))!
      await ingest(store, [saying('one.example', 2, 'new')])
      assert.deepEqual(await store.similar.page(ONE), { terms: termsOf('new').counts })
      await fileAll(store, hold)
      assert.deepEqual(await store.similar.names([old, (await documentOf(store, 'new'))!], 5), [[TWO], [ONE]])
    },
  )

  testWithStore(engine, 'a process that has lost the index writes nothing', async (store, opened, clock) => {
    const lost = await holdOf(store)
    await ingest(store, [saying('one.example', 1, 'one')])
    const segment = (await store.similarIndex.beginSegment(lost, 1, 9))!
    clock.now += LOCK_SECONDS
    const other = await opened.another()
    const hold = await holdOf(other)
    await writesNothing(store, lost, segment)
    await other.jobs.releaseLock(hold)
    await writesNothing(store, hold, segment)
    assert.deepEqual([await store.similar.segments(), await store.similar.indexedUntil()], [[], null])
    assert.deepEqual(
      [await store.similarIndex.documents(0, 9), await store.similarIndex.rows(segment, null, 9)],
      [[], []],
    )
    assert.equal((await store.similarIndex.pending(9)).length, 1)
  })

  testWithStore(engine, 'the watermark is the one that was set last', async (store, opened) => {
    const hold = await holdOf(store)
    assert.equal(await store.similar.indexedUntil(), null)
    for (const until of [1_795_176_000, 1_795_176_060]) {
      assert.equal(await store.similarIndex.setIndexedUntil(hold, until), true)
      assert.equal(await (await opened.another()).similar.indexedUntil(), until)
    }
  })
}

async function writesNothing({ similarIndex: indexing }: Store, hold: LockHold, segment: number): Promise<void> {
  const filings = (await indexing.pending(10)).map(filingOf)
  const row = { key: 16, document: 1, postings: Buffer.from('a') }
  assert.deepEqual(
    [
      await indexing.filePages(hold, filings),
      await indexing.beginSegment(hold, 1, 9),
      await indexing.writeRows(hold, segment, [row], [{ last: 1, counts: Buffer.from('a') }]),
      await indexing.publishSegment(hold, segment, 1),
      await indexing.removeTombstones(hold, [1]),
      await indexing.removeReplaced(hold, 10),
      await indexing.setIndexedUntil(hold, 1),
    ],
    [false, null, false, false, false, false, false],
  )
}

/** The vectors of a page of documents, whose numbers ascend. */
async function pageOf(indexing: SimilarIndexStore, after: number, limit: number): Promise<Buffer[]> {
  const page = await indexing.documents(after, limit)
  for (const [place, { document: wording }] of page.entries()) assert.ok(wording > (page[place - 1]?.document ?? after))
  return page.map(({ vector }) => Buffer.from(vector))
}
