/** Tests of the version check: a write names the version it read, and is rejected completely if another was faster. */

import assert from 'node:assert/strict'
import type { Change } from '../../../../src/apply/change.ts'
import { ingest } from '../../../../src/store/ingest.ts'
import { Model } from '../../model.ts'
import { agree } from '../answers.ts'
import type { Engine } from '../engine.ts'
import { changesOf, NOW, seen, testWithStore } from '../world.ts'
import { ONE, on, QUESTION, saving, TWO } from './two-names.ts'

export function gate(engine: Engine): void {
  testWithStore(engine, 'every write increments the version, also that of an unchanged observation', async (store) => {
    const versions = []
    for (const at of [1, 2, 3]) {
      await ingest(store, [on('one.example', at, '192.0.2.1')])
      versions.push((await store.observations.crawlStates([ONE]))[0]!.version)
    }
    assert.ok(versions[0]! > 0 && versions[1]! > versions[0]! && versions[2]! > versions[1]!, String(versions))
  })

  testWithStore(
    engine,
    'a change that read another version is rejected completely, and its name is returned',
    async (store) => {
      const model = new Model(NOW)
      const first = on('one.example', 1, '192.0.2.1')
      await ingest(store, [first])
      const late = await changesOf(store, [
        on('one.example', 3, '192.0.2.2', '192.0.2.3'),
        on('two.example', 3, '192.0.2.2'),
      ])
      const between = on('one.example', 2, '192.0.2.3')
      await ingest(store, [between])
      assert.deepEqual(
        (await store.observations.save(late)).rejected,
        [ONE],
        'the other change of the batch is written',
      )
      for (const observation of [first, between, on('two.example', 3, '192.0.2.2')]) model.observe(observation)
      await agree(store, model, QUESTION)
    },
  )

  testWithStore(engine, 'an unchanged observation is rejected too if another writer was faster', async (store) => {
    await ingest(store, [on('one.example', 1, '192.0.2.1')])
    const [late] = await changesOf(store, [on('one.example', 5, '192.0.2.1')])
    assert.equal(late?.facts, null)
    await ingest(store, [on('one.example', 9, '192.0.2.1')])
    assert.deepEqual((await store.observations.save([late!])).rejected, [ONE])
    const { dns } = await store.facts.clocks(ONE)
    assert.equal(dns, seen('one.example', 9, null).observed_at)
  })

  testWithStore(
    engine,
    'of two writers that both found a name missing, one creates it and the other is rejected',
    async (store, opened) => {
      const other = await opened.another()
      const [mine] = await changesOf(store, [on('one.example', 1, '192.0.2.1')])
      const [theirs] = await changesOf(other, [on('one.example', 2, '192.0.2.2')])
      assert.deepEqual((await store.observations.save([mine!])).rejected, [])
      assert.deepEqual((await other.observations.save([theirs!])).rejected, [ONE])
      const model = new Model(NOW)
      model.observe(on('one.example', 1, '192.0.2.1'))
      await agree(other, model, QUESTION)
    },
  )

  testWithStore(engine, 'a change that was read before its name was forgotten is rejected', async (store, opened) => {
    await ingest(store, [on('one.example', 1, '192.0.2.1')])
    const changes = await changesOf(store, [on('one.example', 2, '192.0.2.2'), on('two.example', 2, '192.0.2.2')])
    const other = await opened.another()
    await other.observations.forget(ONE)
    await other.observations.forget(TWO)
    assert.deepEqual((await store.observations.save(changes)).rejected.sort(), [ONE, TWO])
    await agree(store, new Model(NOW), QUESTION)
  })

  testWithStore(engine, 'a failed save writes nothing, and the store stays usable', async (store) => {
    const [good] = await changesOf(store, [on('one.example', 1, '192.0.2.1')])
    const [bad] = await changesOf(store, [on('two.example', 1, '192.0.2.1')])
    const broken: Change = {
      state: bad!.state,
      get facts(): never {
        throw new Error('planted')
      },
    }
    for (const batch of [
      [good!, broken],
      [broken, good!],
    ]) {
      await assert.rejects(store.observations.save(batch), /planted/)
      await agree(store, new Model(NOW), QUESTION)
    }
    assert.deepEqual((await store.observations.save([good!])).rejected, [])
  })

  testWithStore(engine, 'changes that fail while they are read are not written', async (store) => {
    const [good] = await changesOf(store, [on('one.example', 1, '192.0.2.1')])
    const failing = {
      *[Symbol.iterator]() {
        yield good!
        throw new Error('planted')
      },
    }
    await assert.rejects(store.observations.save(failing), /planted/)
    await agree(store, new Model(NOW), QUESTION)
    assert.deepEqual((await store.observations.save([good!])).rejected, [])
  })

  testWithStore(engine, 'changes that are read more than once, as after a full disk, are the same', async (store) => {
    const batch = [
      on('one.example', 1, '192.0.2.1'),
      on('one.example', 2, '192.0.2.2'),
      on('one.example', 1, '192.0.2.3'),
      on('two.example', 1, '192.0.2.2'),
      on('two.example', 2, '192.0.2.2'),
    ]
    const repeating = saving(store, async (changes, leases) => {
      assert.equal(changes[Symbol.iterator]().next().done, false) // a save that failed after its first change
      assert.deepEqual([...changes], [...changes])
      return store.observations.save(changes, leases)
    })
    const model = new Model(NOW)
    const expected = ['applied', 'applied', 'stale', 'applied', 'unchanged']
    assert.deepEqual(await ingest(repeating, batch), expected)
    for (const observation of batch) model.observe(observation)
    await agree(store, model, QUESTION)
  })
}
