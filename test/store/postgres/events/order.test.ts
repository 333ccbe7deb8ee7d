/** The order of events on PostgreSQL: a transaction with events waits for one that has inserted events before. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { ingest } from '../../../../src/store/ingest.ts'
import { openStore } from '../../../../src/store/open.ts'
import { TESTER } from '../../../tester.ts'
import { dns, NOW, seen } from '../../conformance/world.ts'
import { waiting } from '../citus/waiting.ts'
import { noPostgres, postgresServer } from '../server.ts'

test('a transaction with events waits for earlier ones to end, and others do not', { skip: noPostgres }, async (t) => {
  const place = await (await postgresServer()).tables()
  const store = await openStore(place.url, { access: 'write', ledger: 'own', secret: null, now: () => NOW, pool: 3 })
  const hand = new pg.Client({ connectionString: place.url })
  await hand.connect()
  t.after(async () => {
    await hand.end()
    await store.close()
    await place.drop()
  })
  const account = { email: 'a@example.com', role: 'user' as const, plan: 'free' as const, periods: [], addons: [] }
  const { id } = (await store.ledger.as(TESTER).createAccount(account, NOW))!
  await store.ledger.createWatch(1, id, { kind: 'name', value: 'a.example', threshold: null, types: null }, NOW)
  await hand.query('begin')
  await hand.query(`select 1 from metadata where name = 'event_order' for update`)
  const { rows } = await hand.query(
    `insert into event (account, time, differences) values ($1, $2, '[]') returning number`,
    [id, NOW],
  )
  const withEvent = ingest(store, [seen('a.example', 1, dns({ A: ['192.0.2.1'] }))])
  await waiting(hand, 1)
  assert.deepEqual(await ingest(store, [seen('b.example', 1, dns({ A: ['192.0.2.2'] }))]), ['applied'])
  assert.deepEqual(await store.events.events(id, 0, 10), [])
  await hand.query('commit')
  assert.deepEqual(await withEvent, ['applied'])
  const events = await store.events.events(id, 0, 10)
  assert.deepEqual(
    events.map(({ number }) => number - Number(rows[0].number)),
    [0, 1],
  )
})
