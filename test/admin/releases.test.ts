/** /admin/v1/releases: an operator releases a held daily file, and the page shows that it is under way. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileName } from '../../src/jobs/file-store/file-store.ts'
import type { Day } from '../../src/values/time.ts'
import { assertError } from '../app/sessions.ts'
import { makeWorld } from '../spec/world.ts'
import { operatorOf } from './operators.ts'

const world = await makeWorld()
const operator = await operatorOf(world)

async function* content() {
  yield Buffer.from('a file')
}
const publish = (date: string, held: string | null) =>
  world.fileStore.publish(fileName('daily', date as Day), content(), () => ({
    generated: world.clock.now,
    rows: 1,
    plain_bytes: 1,
    plain_sha256: '0'.repeat(64),
    first: null,
    last: null,
    held,
  }))
await publish('2026-11-17', 'too few')
await publish('2026-11-18', 'too many')
await publish('2026-11-19', null)

type Operation = { held: { date: string; release_requested: boolean }[]; store: { bytes: number; measured: null } }

test('a held day is released once, with an entry in the audit log, and stays held until it is built', async () => {
  const release = { method: 'POST', body: { date: '2026-11-18' } }
  for (let time = 0; time < 2; time++) {
    const seen = await operator.send('/releases', release)
    assert.deepEqual([seen.status, seen.body], [202, { date: '2026-11-18', release_requested: true }])
  }
  assert.deepEqual(await world.store.ledger.releaseRequests(), ['2026-11-18'])
  type Log = { entries: { action: string; details: object; email: null }[] }
  const { entries } = await operator.read<Log>('/audit?action=daily.release')
  assert.deepEqual(
    entries.map(({ details, email }) => [details, email]),
    [[{ day: '2026-11-18' }, null]],
  )
  world.clock.ticks += 10_000
  const { held, store } = await operator.read<Operation>('/operation')
  assert.deepEqual(
    held.map(({ date, release_requested: requested }) => [date, requested]),
    [
      ['2026-11-17', false],
      ['2026-11-18', true],
    ],
  )
  assert.ok(store.bytes > 0)
  assert.equal(store.measured, null)
})

test('a day without a file, a day that is not held and a text that is no day are refused', async () => {
  const send = (body: object) => operator.send('/releases', { method: 'POST', body })
  assertError(await send({ date: '2026-11-01' }), 404, 'not_found')
  assertError(await send({ date: '2026-11-19' }), 409, 'conflict')
  for (const body of [{}, { date: 'x' }, { date: null }, { date: '2026-02-30' }, { date: '2026-11-18', more: 1 }])
    assertError(await send(body), 400, 'value_invalid')
})
