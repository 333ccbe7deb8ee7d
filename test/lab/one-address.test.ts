/** Tests the lab if only 127.0.0.1 can be listened on, as on macOS: every probe gives the same result as on Linux. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeVisits, visitLab } from './visits.ts'

const visits = await visitLab('shared', 1)
describeVisits(visits)

test('over IPv4 the lab listens only on 127.0.0.1', () => {
  const elsewhere = visits.stands.filter(({ address, connectTo: at = address }) => at !== '127.0.0.1' && at !== '::1')
  assert.deepEqual(elsewhere, [])
  assert.equal(
    new Set(visits.stands.map(({ address, connectTo: at = address, port }) => `${at} ${port}`)).size,
    visits.stands.length,
  )
})
