/** Similarity 1.0000 requires the same terms with the same counts. Anything less is 0.9999 at most. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSimilarityService } from '../../../src/similar/query/similarity-service.ts'
import { name } from '../../store/conformance/world.ts'
import { inWorld } from '../internals.ts'

test('a page with one more occurrence of one word in a thousand has similarity 0.9999, and ranks behind a twin', () =>
  inWorld(async (world) => {
    const output = (breads: number): string => 'bread '.repeat(breads) + 'cake '.repeat(500)
    await world.say({
      'b.example': output(500),
      'a.example': output(501),
      'c.example': output(500),
      'd.example': 'sea',
    })
    await world.index()
    assert.deepEqual(await openSimilarityService(world.store).similar(name('b.example'), 5), [
      { target: 'c.example', similarity: 1 },
      { target: 'a.example', similarity: 0.9999 },
    ])
  }))
