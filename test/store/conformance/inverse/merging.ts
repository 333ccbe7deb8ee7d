/** Tests of merges of the inverse index: they change no answer, keep no forgotten name, and pass their lock. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { ingest } from '../../../../src/store/ingest.ts'
import { LOCK_SECONDS } from '../../../../src/store/port/jobs.ts'
import { Model } from '../../model.ts'
import { agree } from '../answers.ts'
import { certifiedHistory, history, NAMES } from '../arbitraries.ts'
import type { Engine } from '../engine.ts'
import {
  batchSizes,
  EVERYTHING,
  happen,
  happenInModel,
  type Property,
  paced,
  pages,
  property,
  testProperties,
} from '../histories.ts'
import { dns, faults, NOW, name, seen, testWithStore } from '../world.ts'
import { inverseHold, maintain, maintainerOf, mergeAll, mergedBlocks, namesInBlocks } from './index-runs.ts'

const ONE = name('a.example')
const WORLD = ['a', 'b', 'c', 'd', 'e', 'f'].map((label, n) =>
  seen(`${label}.example`, n, dns({ A: ['192.0.2.2'], NS: ['one.example'], TXT: [['ab']] })),
)

/** Events of one batch, and what the maintainer does after it. */
const piece = fc.record({
  events: certifiedHistory(NAMES, 8),
  steps: fc.integer({ min: 0, max: 6 }),
  work: fc.constantFrom('steps', 'all', 'one run', 'next holder'),
})

const PROPERTIES: readonly Property[] = [
  property(
    'merges of the inverse index at any time change no answer',
    [fc.array(piece, { minLength: 1, maxLength: 8 }), batchSizes, pages],
    async ({ store }, pieces, sizes, page) => {
      const model = new Model(NOW)
      let hold = await inverseHold(store)
      let maintainer = maintainerOf(store, hold)
      for (const { events, steps, work } of pieces) {
        happenInModel(model, events)
        await happen(store, events, sizes)
        for (let step = 0; step < steps; step++) await maintainer.step()
        if (work === 'all') await maintain(maintainer)
        if (work === 'next holder') {
          await store.jobs.releaseLock(hold)
          hold = await inverseHold(store)
          maintainer = maintainerOf(store, hold)
        }
        if (work !== 'one run') continue
        await maintain(maintainer)
        await mergeAll(store, hold)
      }
      await agree(store, model, { ...EVERYTHING, ...page })
      await maintain(maintainer)
      await agree(store, model, { ...EVERYTHING, ...page })
    },
  ),
  property(
    'merges beside two concurrent writers change no answer, and check finds no error meanwhile',
    [history(NAMES, 30), history(NAMES, 30), batchSizes, fc.scheduler(), fc.integer({ min: 1, max: 30 }), pages],
    async (opened, before, events, sizes, scheduler, steps, page) => {
      const model = new Model(NOW)
      happenInModel(model, [...before, ...events])
      await happen(opened.store, before, [1, ...sizes])
      const reader = paced(opened.store, scheduler, 'reader')
      const keeper = await opened.another()
      const maintainer = maintainerOf(paced(keeper, scheduler, 'maintainer'), await inverseHold(keeper))
      const merge = async () => {
        for (let step = 0; step < steps; step++) await maintainer.step()
      }
      const write = async (who: string) => happen(paced(await opened.another(), scheduler, who), events, sizes)
      const work = [write('one'), write('other'), merge()]
      const [wrong] = await scheduler.waitFor(Promise.all([faults(reader), ...work]))
      assert.deepEqual(wrong, [])
      await agree(opened.store, model, { ...EVERYTHING, ...page })
    },
  ),
]

export function merging(engine: Engine): void {
  testProperties(engine, PROPERTIES)

  testWithStore(engine, 'a portion that was read before a name was forgotten is not written', async (store) => {
    for (const observation of WORLD) await ingest(store, [observation])
    const { inverseIndex: index } = store
    const hold = await inverseHold(store)
    const runs = (await index.runs()).map(({ number }) => number)
    const run = (await index.beginRun(hold))!
    const { slices, erasures } = await index.portion(runs, Buffer.alloc(0), 100)
    assert.ok((await namesInBlocks(store)).has(ONE))
    await store.observations.forget(ONE)
    assert.equal(await index.writeBlocks(hold, run, mergedBlocks(slices), erasures), false)
    assert.ok(!(await namesInBlocks(store)).has(ONE))
    const again = await index.portion(runs, Buffer.alloc(0), 100)
    assert.equal(await index.writeBlocks(hold, run, mergedBlocks(again.slices), again.erasures), true)
    await index.publishRun(hold, run, runs)
    assert.deepEqual(await namesInBlocks(store), new Set(WORLD.slice(1).map(({ domain }) => domain)))
  })

  testWithStore(engine, 'a name is forgotten in unpublished and replaced runs too', async (store) => {
    for (const observation of WORLD) await ingest(store, [observation])
    const { inverseIndex: index } = store
    const hold = await inverseHold(store)
    const runs = (await index.runs()).map(({ number }) => number)
    const [first, second] = [(await index.beginRun(hold))!, (await index.beginRun(hold))!]
    const { slices, erasures } = await index.portion(runs, Buffer.alloc(0), 100)
    for (const run of [first, second]) await index.writeBlocks(hold, run, mergedBlocks(slices), erasures)
    await index.publishRun(hold, first, runs)
    await store.observations.forget(ONE)
    assert.deepEqual(await namesInBlocks(store), new Set(WORLD.slice(1).map(({ domain }) => domain)))
  })

  testWithStore(
    engine,
    'a maintainer whose lock is lost writes nothing, and the next one discards its run',
    async (store, opened, clock) => {
      const model = new Model(NOW)
      for (const observation of WORLD) {
        await ingest(store, [observation])
        model.observe(observation)
      }
      const { inverseIndex: index } = store
      const lost = await inverseHold(store)
      const runs = (await index.runs()).map(({ number }) => number)
      const run = (await index.beginRun(lost))!
      const { slices, erasures } = await index.portion(runs, Buffer.alloc(0), 100)
      const blocks = mergedBlocks(slices)
      await index.writeBlocks(lost, run, blocks.slice(0, 1), erasures)
      clock.now += LOCK_SECONDS + 1
      const next = await opened.another()
      const hold = await inverseHold(next, 'the next maintainer')
      clock.now = NOW
      assert.equal(await index.beginRun(lost), null)
      assert.equal(await index.writeBlocks(lost, run, blocks, erasures), null)
      assert.equal(await index.publishRun(lost, run, runs), null)
      assert.equal(await index.removeReplaced(lost, 10), null)
      assert.equal(await index.fill(lost, 10), null)
      await agree(store, model, { ...EVERYTHING, limit: 2 })
      await maintain(maintainerOf(next, hold))
      await mergeAll(next, hold)
      assert.equal((await index.portion([run], Buffer.alloc(0), 10)).slices.length, 0)
      assert.equal((await index.runs()).length, 1)
      await agree(store, model, { ...EVERYTHING, limit: 2 })
    },
  )

  testWithStore(engine, 'a merge that was killed leaves the old runs, and is repeated', async (store, opened) => {
    const model = new Model(NOW)
    for (const observation of WORLD) {
      await ingest(store, [observation])
      model.observe(observation)
    }
    const killed = maintainerOf(store, await inverseHold(store))
    for (let step = 0; step < 2; step++) await killed.step()
    const reopened = await opened.reopen()
    await agree(reopened, model, { ...EVERYTHING, limit: 2 })
    await reopened.jobs.releaseLock({ name: 'inverse', fence: 1 })
    await maintain(maintainerOf(reopened, await inverseHold(reopened)))
    assert.ok((await reopened.inverseIndex.runs()).length < 4)
    await agree(reopened, model, { ...EVERYTHING, limit: 2 })
  })
}
