/** The admission: pipelined requests have the lowest priority, but they do run. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Admission } from '../../../../src/api/http/limits/admission.ts'
import type { PendingRequest, UnparsedConnection } from '../../../../src/api/http/pending-request.ts'

const arrivalOf = () => ({ connection: { socket: { destroyed: false } } }) as PendingRequest

test('in a permanent overload, pipelined requests start now and then', async (t) => {
  const [other, ahead] = [arrivalOf(), arrivalOf()]
  const started: (PendingRequest | UnparsedConnection)[] = []
  let ticks = 0
  const admission = new Admission({
    monotonicMs: () => ticks,
    start(arrival) {
      started.push(arrival)
      ticks++ // each takes a millisecond, and there is always another one
      if (started.length < 1_000) admission.enqueue(arrival, arrival === ahead)
    },
  })
  t.after(() => admission.close())
  for (const arrival of [other, other]) admission.enqueue(arrival, false)
  for (let count = 0; count < 3; count++) admission.enqueue(ahead, true)
  while (started.length < 1_000) await turn()
  const behind = started.filter((each) => each === ahead).length
  assert.ok(behind >= 50 && behind <= 150, `${behind} of ${started.length}`)
})
