/** Tests of entries with many events, and of values with many names. */

import assert from 'node:assert/strict'
import { ingest } from '../../../../src/store/ingest.ts'
import { readSpans } from '../../../../src/store/inverse/span-reader.ts'
import type { InverseQuery, RunSlice, SpanPage } from '../../../../src/store/port/inverse.ts'
import type { Store } from '../../../../src/store/port/store.ts'
import type { StoredClocks } from '../../../../src/store/shared/columns.ts'
import type { Instant } from '../../../../src/values/time.ts'
import { inForm } from '../../../long.ts'
import { walkSpans } from '../answers.ts'
import type { Engine } from '../engine.ts'
import { address, dns, ingestAll, minute, name, seen, testWithStore } from '../world.ts'
import { inverseHold, mergeAll, namesInBlocks } from './index-runs.ts'

const TOGGLED = name('toggled.example')
const TOGGLES = inForm(500, 2_000)
const PAGE = inForm(250, 1_000)
const NAMES = 4 * PAGE
/** Of a page: about 30 names are in a block. */
const MAX_BLOCKS_OF_PAGE = PAGE / 10

const at = (text: string): InverseQuery => ({ by: 'addresses', first: address(text), last: address(text) })

/** A record that is there at every second observation, beside one that stays. */
function toggles(from: number, to: number) {
  return Array.from({ length: to - from }, (_, n) =>
    seen(TOGGLED, from + n - TOGGLES, dns({ A: ['192.0.2.1', ...(n % 2 === 0 ? ['192.0.2.2'] : [])] })),
  )
}

export function largeEntries(engine: Engine): void {
  testWithStore(
    engine,
    `a record that was toggled ${TOGGLES} times is read in pages of any size, merged, and forgotten whole`,
    async (store) => {
      for (let from = 0; from < TOGGLES; from += 250) await ingest(store, toggles(from, from + 250))
      await ingest(store, [seen('other.example', 1, dns({ A: ['192.0.2.2'] }))])
      const expected = [
        ['other.example', minute(1), minute(1)],
        ...Array.from({ length: TOGGLES / 2 }, (_, n) => [TOGGLED, minute(2 * n - TOGGLES), minute(2 * n - TOGGLES)]),
      ]
      const check = async (limits: readonly number[]) => {
        for (const limit of limits) {
          const spans = await walkSpans(store.inverse, at('192.0.2.2'), {}, limit)
          assert.deepEqual(
            spans.map(({ name, first, last }) => [name, first, last]),
            expected,
          )
        }
      }
      await check([7, 1000])
      await mergeAll(store, await inverseHold(store))
      await check([1, 7, 1000])
      await store.observations.forget(TOGGLED)
      assert.deepEqual(await namesInBlocks(store), new Set(['other.example']))
    },
  )

  testWithStore(
    engine,
    `a page of an address with ${NAMES} names reads a bounded number of blocks, and the last one no more than the first; each name has its own last time`,
    async (store) => {
      const numbers = Array.from({ length: NAMES }, (_, n) => n)
      for (const isLast of [false, true])
        await ingestAll(
          store,
          numbers.map((n) => seen(`n${n}.example`, isLast ? 1 + (n % 7) : 1, dns({ A: ['192.0.2.1'] }))),
          5000,
        )
      await mergeAll(store, await inverseHold(store))
      const names: string[] = []
      let position: Uint8Array | null = null
      do {
        const { page, blocks } = await readCounted(store, position)
        assert.ok(blocks < MAX_BLOCKS_OF_PAGE, `${blocks} blocks`)
        assert.deepEqual(page, await store.inverse.spans(at('192.0.2.1'), {}, position, PAGE))
        names.push(...page.spans.map((span) => span.name))
        for (const { name: each, first, last } of page.spans)
          assert.deepEqual([each, first, last], [each, minute(1), lastOf(each)])
        position = page.position
      } while (position !== null)
      assert.equal(names.length, NAMES)
      assert.ok(names.every((each, index) => index === 0 || each > names[index - 1]!))
    },
  )
}

/** The time of the last observation of a name `nNUMBER.example`. */
function lastOf(name: string): Instant {
  return minute(1 + (Number.parseInt(name.slice(1), 10) % 7))
}

/** One page, and the number of blocks that were read for it. */
async function readCounted({ inverseIndex }: Pick<Store, 'inverseIndex'>, position: Uint8Array | null) {
  const runs = (await inverseIndex.runs()).map(({ number }) => number)
  const read = readSpans(at('192.0.2.1'), {}, position, PAGE)
  let blocks = 0
  let step = read.next([])
  while (!step.done) {
    const request = step.value
    if (request.needs === 'clocks') {
      step = read.next(request.names.map((each): StoredClocks => [lastOf(each), null]))
      continue
    }
    assert.ok(request.needs === 'slices')
    const { slices }: { slices: RunSlice[] } = await inverseIndex.portion(runs, request.from, request.blocks)
    blocks += slices.reduce((sum, slice) => sum + slice.blocks.length, 0)
    step = read.next(slices)
  }
  return { page: step.value as SpanPage, blocks }
}
