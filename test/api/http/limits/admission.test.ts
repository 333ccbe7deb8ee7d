/** The admission: pipelined requests have the lowest priority, but they do run. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Admission } from '../../../../src/api/http/limits/admission.ts'
import type { OpenConnection, UnparsedConnection } from '../../../../src/api/http/pending-request.ts'

const CONNECTION = { socket: { destroyed: false } } as OpenConnection

test('in a permanent overload, pipelined requests start now and then', async (t) => {
  const started: UnparsedConnection[] = []
  let ticks = 0
  const admission = new Admission(() => ticks)
  const arrivalOf = (isPipelined: boolean): UnparsedConnection => ({
    connection: CONNECTION,
    start() {
      started.push(this)
      ticks++ // each takes a millisecond, and there is always another one
      if (started.length < 1_000) admission.enqueue(this, isPipelined)
    },
  })
  const [other, ahead] = [arrivalOf(false), arrivalOf(true)]
  t.after(() => admission.close())
  for (const arrival of [other, other]) admission.enqueue(arrival, false)
  for (let count = 0; count < 3; count++) admission.enqueue(ahead, true)
  while (started.length < 1_000) await turn()
  const behind = started.filter((each) => each === ahead).length
  assert.ok(behind >= 50 && behind <= 150, `${behind} of ${started.length}`)
})
