/** The batch of responses writes each once, in order. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextIteration } from 'node:timers/promises'
import { ResponseBatch } from '../../../../src/api/http/direct/response-batch.ts'

test('each response is written once and in order, however many there are, also those that a write adds', async () => {
  for (const count of [1, 15, 16, 17, 33]) {
    const batch = new ResponseBatch()
    const written: number[] = []
    const add = (number: number): void =>
      batch.add({
        write() {
          written.push(number)
          if (number === 0) add(count)
        },
      })
    for (let number = 0; number < count; number++) add(number)
    assert.equal(written.length, count - (count % 16))
    await nextIteration()
    await nextIteration()
    assert.deepEqual(
      written.toSorted((a, b) => a - b),
      Array.from({ length: count + 1 }, (_, number) => number),
    )
    assert.deepEqual(
      written.filter((number) => number < count),
      Array.from({ length: count }, (_, number) => number),
    )
  }
})

test('the responses that wait can be written at once', () => {
  const batch = new ResponseBatch()
  let written = 0
  batch.add({ write: () => written++ })
  assert.equal(written, 0)
  batch.write()
  assert.equal(written, 1)
})
