/** Zone transfers side by side, and what an interrupted one leaves. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { endWriter, newWriterName } from '../../../src/jobs/file-store/leftovers.ts'
import { holdTransfer, labels, namesIn, openTransfers } from './world.ts'

const ZONE = { serial: 5, delegations: labels(1_000) }

test('two transfers of a zone at once do not disturb each other', async (t) => {
  const world = await openTransfers(t, { 'lab.test': ZONE })
  const transfers = []
  for (let count = 0; count < 2; count++) {
    const hold = holdTransfer()
    world.server.behaviour = hold.behaviour
    transfers.push({ ...hold, ended: world.fetch([world.target('lab.test')]) })
    await hold.reached
  }
  const file = 'lab.test-2026-11-20.zone.gz'
  for (const { release, ended } of transfers) {
    release()
    assert.equal((await ended)[0]!.outcome, 'fetched')
    assert.deepEqual(namesIn(world.text(file)), ZONE.delegations)
  }
  assert.deepEqual(world.files(), [file])
})

test('a transfer that breaks off is attempted again after a while, at most four times', async (t) => {
  const world = await openTransfers(t, { 'lab.test': ZONE })
  const { server, waits } = world
  const breaksOff = (): boolean => server.queries.filter((type) => type === 252).length <= 4
  server.behaviour = {
    key: null,
    changeSigned: (message, index) => (index === 1 && breaksOff() ? null : message),
  }
  assert.equal((await world.fetch([world.target('lab.test')]))[0]!.outcome, 'fetched')
  assert.deepEqual(waits.splice(0), [60_000, 120_000, 180_000, 240_000])
  assert.deepEqual(server.queries.splice(0), [6, 252, 252, 252, 252, 252])
  server.zones['lab.test'] = { ...ZONE, serial: 6 }
  for (const [brokenAt, transfers] of [
    [1, 5],
    [0, 1],
  ]) {
    server.behaviour = { key: null, changeSigned: (message, index) => (index === brokenAt ? null : message) }
    const [result] = await world.fetch([world.target('lab.test')], { has: async () => false })
    assert.equal(result!.outcome, 'failed')
    assert.deepEqual(server.queries.splice(0), [6, ...Array.from({ length: transfers! }, () => 252)])
    assert.equal(waits.splice(0).length, transfers! - 1)
  }
})

test('the next transfer removes what a killed one left behind', async (t) => {
  const world = await openTransfers(t, { 'lab.test': ZONE })
  await world.fetch([])
  const left = newWriterName('lab.test-2026-11-19.zone.gz')
  endWriter(left)
  writeFileSync(join(world.inbox, 'transfers', left), 'half of it')
  assert.deepEqual(world.files(), [`transfers/${left}`])
  await world.fetch([])
  assert.deepEqual(world.files(), [])
})

test('a transfer that cannot be written ends its connection', async (t) => {
  const zone = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(60)).join('.')
  const world = await openTransfers(t, { [zone]: ZONE })
  world.server.behaviour = holdTransfer().behaviour
  await assert.rejects(world.fetch([world.target(zone)], { idleMs: 2 ** 30 }), { code: 'ENAMETOOLONG' })
  await world.fetch([world.target('none.test')]) // the server has accepted the first connection before this one
  await world.server.idle()
  assert.deepEqual(world.files(), [])
})
