/** Tests of removals from the /similar index: pages without text, forgotten names, documents without pages. */

import assert from 'node:assert/strict'
import { ingest } from '../../../../src/store/ingest.ts'
import type { LockHold } from '../../../../src/store/port/jobs.ts'
import type { Store } from '../../../../src/store/port/store.ts'
import type { Engine } from '../engine.ts'
import { name, testUnchecked, testWithStore } from '../world.ts'
import { documentOf, fileAll, holdOf, saying, vectorOf, vectorsOf } from './filed-pages.ts'

const ONE = name('one.example')
const TWO = name('two.example')
const HIGHEST = Number.MAX_SAFE_INTEGER

/** Publishes a segment of all documents up to `last`. */
async function cover({ similarIndex: indexing }: Store, hold: LockHold, last: number): Promise<void> {
  const segment = (await indexing.beginSegment(hold, 1, last))!
  const { count } = await indexing.countDocuments(0, last, 1000)
  assert.equal(await indexing.publishSegment(hold, segment, count), true)
}

export function dropping(engine: Engine): void {
  testWithStore(engine, 'a page whose text was removed is in no response, filed or not', async (store) => {
    const hold = await holdOf(store)
    await ingest(store, [saying('one.example', 1, 'one'), saying('two.example', 1, 'two')])
    await fileAll(store, hold)
    const removed = (await documentOf(store, 'one'))!
    await ingest(store, [saying('one.example', 2, null), saying('three.example', 1, 'three')])
    await ingest(store, [saying('three.example', 2, null)])
    assert.deepEqual([await store.similar.page(ONE), await store.similar.page(name('three.example'))], [null, null])
    await fileAll(store, hold)
    assert.equal(await store.similar.page(ONE), null)
    assert.deepEqual(await store.similar.names([removed], 5), [[]])
    assert.deepEqual([await documentOf(store, 'one'), await documentOf(store, 'three')], [null, null])
    await ingest(store, [saying('one.example', 3, 'one')])
    await fileAll(store, hold)
    assert.deepEqual(await store.similar.names([(await documentOf(store, 'one'))!], 5), [[ONE]])
  })

  testWithStore(
    engine,
    'a document without pages is removed, with a tombstone if a segment may contain it',
    async (store) => {
      const hold = await holdOf(store)
      await ingest(store, [saying('one.example', 1, 'one'), saying('two.example', 1, 'two')])
      await fileAll(store, hold)
      const [one, two] = [(await documentOf(store, 'one'))!, (await documentOf(store, 'two'))!]
      const last = Math.max(one, two)
      await cover(store, hold, last)
      await ingest(store, [saying('three.example', 1, 'three')])
      await fileAll(store, hold)
      await ingest(
        store,
        [1, 2, 3].map((n) => saying(`${['one', 'two', 'three'][n - 1]}.example`, 2, n === 2 ? 'two' : 'both')),
      )
      await fileAll(store, hold)
      assert.deepEqual([await documentOf(store, 'one'), await documentOf(store, 'three')], [null, null])
      assert.deepEqual(await vectorsOf(store, [one, two]), [null, vectorOf('two')])
      assert.deepEqual(await store.similarIndex.tombstones(0, HIGHEST, 9), [one], 'no segment holds the third')
      await cover(store, hold, last)
      assert.deepEqual(await store.similarIndex.tombstones(0, HIGHEST, 9), [one])
      assert.equal(await store.similarIndex.removeTombstones(hold, [one]), true)
      assert.deepEqual(await store.similarIndex.tombstones(0, HIGHEST, 9), [])
    },
  )

  // it removes tombstones without a merge, which the check would find
  testUnchecked(engine, 'tombstones are read page by page and removed one by one', async (store) => {
    const hold = await holdOf(store)
    const texts = ['one', 'two', 'three', 'four', 'five']
    await ingest(
      store,
      texts.map((text) => saying(`${text}.example`, 1, text)),
    )
    await fileAll(store, hold)
    const all = (await store.similarIndex.documents(0, 9)).map(({ document: wording }) => wording)
    await cover(store, hold, all[4]!)
    await ingest(
      store,
      texts.map((text) => saying(`${text}.example`, 2, null)),
    )
    await fileAll(store, hold)
    const { similarIndex: indexing } = store
    assert.deepEqual(await indexing.tombstones(0, HIGHEST, 2), all.slice(0, 2))
    assert.deepEqual(await indexing.tombstones(all[1]!, HIGHEST, 2), all.slice(2, 4))
    assert.deepEqual(await indexing.tombstones(all[1]!, all[3]!, 9), all.slice(2, 4))
    assert.deepEqual(await indexing.tombstones(all[4]!, HIGHEST, 9), [])
    assert.equal(await indexing.removeTombstones(hold, [all[0]!, all[3]!, 10_000]), true)
    assert.deepEqual(await indexing.tombstones(0, HIGHEST, 9), [all[1], all[2], all[4]])
    assert.equal(await indexing.removeTombstones(hold, []), true)
  })

  testWithStore(
    engine,
    'a document that is removed while a segment with it is written gets a tombstone',
    async (store) => {
      const hold = await holdOf(store)
      await ingest(store, [saying('one.example', 1, 'one')])
      await fileAll(store, hold)
      const one = (await documentOf(store, 'one'))!
      const segment = (await store.similarIndex.beginSegment(hold, 1, one))!
      await ingest(store, [saying('one.example', 2, 'other')])
      await fileAll(store, hold)
      await store.similarIndex.publishSegment(hold, segment, 1)
      assert.deepEqual(await store.similarIndex.tombstones(0, one, 9), [one])
    },
  )

  testWithStore(
    engine,
    'a forgotten name is in no response at once, and its document is removed with the next filing',
    async (store) => {
      const hold = await holdOf(store)
      await ingest(store, [
        saying('one.example', 1, 'both'),
        saying('two.example', 1, 'both'),
        saying('b.example', 1, 'alone'),
      ])
      await fileAll(store, hold)
      const [both, alone] = [(await documentOf(store, 'both'))!, (await documentOf(store, 'alone'))!]
      await cover(store, hold, Math.max(both, alone))
      await ingest(store, [saying('c.example', 1, 'waiting')])
      for (const each of [ONE, name('b.example'), name('c.example')]) {
        await store.observations.forget(each)
        assert.equal(await store.similar.page(each), null)
      }
      assert.deepEqual(await store.similarIndex.pending(10), [])
      assert.deepEqual(await store.similar.names([both, alone], 5), [[TWO], []])
      assert.equal(await store.similarIndex.filePages(hold, []), true)
      assert.deepEqual(await vectorsOf(store, [both, alone]), [vectorOf('both'), null])
      assert.deepEqual(await store.similarIndex.tombstones(0, HIGHEST, 9), [alone])
    },
  )

  testWithStore(engine, 'a document number is never reused', async (store, opened) => {
    const hold = await holdOf(store)
    let highest = 0
    for (const [at, text] of ['one', 'two', '...', 'three', 'one'].entries()) {
      await ingest(store, [saying('one.example', 1 + at, text)])
      await fileAll(store, hold)
      if (vectorOf(text) === null) continue
      const wording = (await documentOf(store, text))!
      assert.ok(wording > highest, `${wording} after ${highest}`)
      highest = wording
    }
    await ingest(store, [saying('one.example', 9, null)])
    await fileAll(store, hold)
    const reopened = await opened.reopen()
    await ingest(reopened, [saying('one.example', 10, 'four')])
    await fileAll(reopened, hold)
    assert.ok((await documentOf(reopened, 'four'))! > highest)
  })
}
