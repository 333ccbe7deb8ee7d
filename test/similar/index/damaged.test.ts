/** A store that returns damaged bytes: the next query is answered as usual. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSimilarityService } from '../../../src/similar/query/similarity-service.ts'
import type { SimilarReader } from '../../../src/store/port/similar.ts'
import { name } from '../../store/conformance/world.ts'
import { inWorld } from '../internals.ts'

test('no data of a failed query is among the candidates of the next one', () =>
  inWorld(async (world) => {
    await world.say({
      'a.example': 'bread cake',
      'b.example': 'bread cake tea',
      'c.example': 'sea',
      'd.example': 'sea sand',
    })
    await world.index()
    const read: number[] = []
    let isDamaged = false
    const similar: SimilarReader = Object.assign(Object.create(world.store.similar), {
      async postings(requested) {
        const rows = await world.store.similar.postings(requested)
        return isDamaged ? [...rows.slice(0, -1), rows.at(-1)!.fill(0)] : rows
      },
      async vectors(documents) {
        read.push(...documents)
        return world.store.similar.vectors(documents)
      },
    } satisfies Partial<SimilarReader>)
    const retrieval = openSimilarityService({ similar }, () => 0)
    const expected = await retrieval.similar(name('c.example'), 5)
    assert.deepEqual([expected?.map(({ target }) => target), read.splice(0).length], [['d.example'], 1])
    isDamaged = true
    await assert.rejects(retrieval.similar(name('a.example'), 5), RangeError)
    isDamaged = false
    assert.deepEqual(await retrieval.similar(name('c.example'), 5), expected)
    assert.deepEqual(
      (await retrieval.similar(name('d.example'), 5))?.map(({ target }) => target),
      ['c.example'],
    )
    assert.equal(read.length, 1, 'the vector of c.example; that of d.example is cached')
  }))
