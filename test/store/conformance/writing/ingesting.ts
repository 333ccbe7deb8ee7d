/** Tests of batches of observations: their transactions, and the outcome of each observation. */

import assert from 'node:assert/strict'
import type { Observation } from '../../../../src/observe/observation.ts'
import { ingest } from '../../../../src/store/ingest.ts'
import { type DomainName, slotRangeOf } from '../../../../src/values/domain-name.ts'
import { Model } from '../../model.ts'
import { agree } from '../answers.ts'
import type { Engine } from '../engine.ts'
import { dns, NOW, name, seen, testWithStore, web } from '../world.ts'
import { ONE, on, QUESTION, saving, TWO } from './two-names.ts'

const LONGEST_TEXT = 65_536

export function ingesting(engine: Engine): void {
  testWithStore(engine, 'a transaction has at most 2,000 names, and fewer if their texts are long', async (store) => {
    const sizesOf = async (batch: readonly Observation[]): Promise<number[]> => {
      const sizes: number[] = []
      const counting = saving(store, async (changes, leases) => {
        sizes.push([...changes].length)
        return store.observations.save(changes, leases)
      })
      await ingest(counting, batch)
      return sizes.toSorted((a, b) => b - a)
    }
    const observed = (domain: (n: number) => string, count: number, text: string): Observation[] =>
      Array.from({ length: count }, (_, n) => seen(domain(n), n % 60, null, web({ has_website: true, text })))
    const longText = 'a '.repeat(LONGEST_TEXT / 2)
    assert.deepEqual(await sizesOf(observed((n) => `m${n}.example`, 2_001, '')), [2_000, 1])
    assert.deepEqual(await sizesOf(observed((n) => `n${n}.example`, 70, longText)), [63, 7])
    const records = dns({ TXT: Array.from({ length: 120 }, (_, n) => [String(n).padEnd(250, '.')]) })
    const within = observed(() => 'one.example', 46, longText)
    const beyond = observed(() => 'two.example', 46, longText).map((each) => ({ ...each, dns: records }))
    assert.deepEqual(await sizesOf([...within, seen('three.example', 1, null)]), [2])
    assert.deepEqual(await sizesOf([...beyond, seen('four.example', 1, null)]), [1, 1])
    const { states, total } = await store.facts.webHistory(name('n69.example'), null, 10)
    assert.deepEqual([states.length, total], [1, 1])
  })

  testWithStore(engine, 'an observation outside of the leases is lost, and the others are applied', async (store) => {
    await ingest(store, [on('one.example', 1, '192.0.2.1'), on('two.example', 1, '192.0.2.1')])
    const [one, two] = [ONE, TWO].map(slotRangeOf)
    assert.notEqual(one, two)
    const leases = await store.schedule.lease('a', 1, [one!])
    const batch = [
      on('two.example', 2, '192.0.2.2'),
      on('one.example', 2, '192.0.2.2'),
      on('two.example', 3, '192.0.2.3'),
      on('one.example', 3, '192.0.2.2'),
    ]
    assert.deepEqual(await ingest(store, batch, { leases }), ['lost', 'applied', 'lost', 'unchanged'])
    const model = new Model(NOW)
    const kept = [on('one.example', 1, '192.0.2.1'), on('two.example', 1, '192.0.2.1'), batch[1]!, batch[3]!]
    for (const observation of kept) model.observe(observation)
    await agree(store, model, QUESTION)
  })

  testWithStore(
    engine,
    'after a rejection, the outcome is the one for the state of the other writer',
    async (store) => {
      let others = [on('one.example', 2, '192.0.2.2'), on('two.example', 4, '192.0.2.4')]
      const racing = saving(store, async (changes, leases) => {
        const batch = others
        others = []
        await ingest(store, batch)
        return store.observations.save(changes, leases)
      })
      const batch = [
        on('one.example', 2, '192.0.2.2'),
        on('two.example', 3, '192.0.2.3'),
        on('one.example', 3, '192.0.2.2'),
      ]
      assert.deepEqual(await ingest(racing, batch), ['stale', 'stale', 'unchanged'])
      const model = new Model(NOW)
      for (const observation of [batch[0]!, on('two.example', 4, '192.0.2.4'), batch[2]!]) model.observe(observation)
      await agree(store, model, QUESTION)
    },
  )

  testWithStore(engine, 'revealed names are added once, also if the changes are read twice', async (store) => {
    const repeating = saving(store, async (changes, leases) => {
      const read = (): DomainName[] => [...changes].map(({ state }) => state.name)
      assert.deepEqual(read().toSorted(), [ONE, name('three.example'), TWO].toSorted())
      assert.deepEqual(read(), read())
      return store.observations.save(changes, leases)
    })
    const revealed = [[TWO, name('three.example')], [ONE]]
    const batch = [seen('one.example', 1, dns({})), seen('three.example', 1, dns({}))]
    assert.deepEqual(await ingest(repeating, batch, { revealed }), ['applied', 'applied'])
    const states = await store.observations.crawlStates([ONE, TWO, name('three.example')])
    assert.deepEqual(
      states.map(({ version, clocks }) => [version, Math.max(...clocks) > 0]),
      [
        [1, true],
        [1, false],
        [1, true],
      ],
    )
  })
}
