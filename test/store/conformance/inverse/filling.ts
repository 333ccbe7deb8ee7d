/** Tests of filling the inverse index of an older store, in slices and beside writers. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Store } from '../../../../src/store/port/store.ts'
import { Model } from '../../model.ts'
import { agree } from '../answers.ts'
import { certifiedHistory, NAMES } from '../arbitraries.ts'
import type { Engine } from '../engine.ts'
import { EVERYTHING, happen, happenInModel, pages, property, testProperties } from '../histories.ts'
import { faults, NOW } from '../world.ts'
import { emptyIndex, inverseHold, maintain, maintainerOf } from './index-runs.ts'

/** More slices than any store of these tests has: on PostgreSQL one for each partition. */
const MAX_SLICES = 400

export function filling(engine: Engine): void {
  const runs = Math.min(engine.runs ?? 4, 4)
  testProperties({ ...engine, runs }, [
    property(
      'an older store gives the answers of the model after it is filled, with writers and forgotten names in between',
      [
        certifiedHistory(NAMES, 40),
        certifiedHistory(NAMES, 12),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 90 }),
        pages,
      ],
      async ({ store, url }, before, between, limit, turn, page) => {
        const model = new Model(NOW)
        happenInModel(model, [...before, ...between])
        await happen(store, before, [5])
        const hold = await inverseHold(store)
        await emptyIndex(store, url, hold)
        assert.deepEqual(await faults(store), [])
        const left = [...between]
        let share = 0
        for (let slice = 0; share < 1; slice++) {
          assert.ok(slice < MAX_SLICES, 'filling does not end')
          if (slice % turn === 0) await happen(store, left.splice(0, 2), [2])
          share = await filledShare(store, hold, limit, share)
        }
        await happen(store, left, [3])
        await agree(store, model, { ...EVERYTHING, ...page })
        await maintain(maintainerOf(store, hold))
        await agree(store, model, { ...EVERYTHING, ...page })
      },
    ),
  ])
}

/** Fills one slice. The share never falls, and both parts of the port know it. */
async function filledShare(
  { inverse, inverseIndex }: Pick<Store, 'inverse' | 'inverseIndex'>,
  hold: Awaited<ReturnType<typeof inverseHold>>,
  limit: number,
  before: number,
): Promise<number> {
  const { share } = (await inverseIndex.fill(hold, limit))!
  assert.ok(share >= before && share <= 1, `${share} after ${before}`)
  assert.equal((await inverse.progress()).share, share)
  return share
}
