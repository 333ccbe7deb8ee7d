/** Tests of many domains on one address and one target. */

import assert from 'node:assert/strict'
import type { Observation } from '../../../../src/observe/observation.ts'
import { ingest } from '../../../../src/store/ingest.ts'
import type { Store } from '../../../../src/store/port/store.ts'
import { inForm } from '../../../long.ts'
import type { Engine } from '../engine.ts'
import { walkNeighbours, walkRedirects } from '../reading/paging.ts'
import { dns, ingestAll, name, redirecting, seen, testUnchecked, testWithStore } from '../world.ts'

const TARGET = name('t.example')
/** More than 16 bits count. */
const CROWD = 65_600
/** Names whose rows the check reads in three slices or more. */
const SLICED = inForm(1_100, 3_000)

function members(count: number): Observation[] {
  return Array.from({ length: count }, (_, n) => member(n))
}

function member(n: number, at = 1, address = '192.0.2.1'): Observation {
  return seen(`n${n}.example`, at, dns({ A: [address] }), redirecting(TARGET))
}

export function crowd(engine: Engine): void {
  const { crowd: count = CROWD } = engine
  testUnchecked(
    engine,
    `${count} domains of one address and one target are listed and counted completely`,
    async (store) => {
      await ingestAll(store, members(count), 8200)
      await ingest(store, [seen(TARGET, 1, dns({ A: ['192.0.2.1'] }))])
      const { redirect_count, reverse_ip_count } = (await store.facts.lookup(TARGET))!
      assert.deepEqual([redirect_count, reverse_ip_count], [count, count])
      for (const limit of [Math.floor(count / 1.3), Math.floor(count / 6.5)]) {
        const targets = (await walkNeighbours(store.facts, TARGET, limit)).map(({ target }) => target)
        const sources = await walkRedirects(store.facts, TARGET, limit)
        assert.deepEqual([targets.length, sources.length], [count, count])
        assert.ok(targets.every((target, n) => target === sources[n] && (n === 0 || target > targets[n - 1]!)))
      }
    },
  )

  testWithStore(
    engine,
    'check reads many rows in slices and raises no false alarm while they change',
    async (store, opened) => {
      const writer = await opened.another()
      await ingest(writer, members(SLICED))
      let place: string | null = null
      for (let n = 2; n === 2 || place !== null; n++) {
        const slice: Awaited<ReturnType<Store['maintenance']['check']>> = await store.maintenance.check(place)
        assert.deepEqual(slice.faults, [])
        place = slice.next
        await ingest(
          writer,
          Array.from({ length: 25 }, (_, m) => member((n * 977 + m * 13) % SLICED, n, `192.0.2.${n % 3}`)),
        )
      }
    },
  )
}
