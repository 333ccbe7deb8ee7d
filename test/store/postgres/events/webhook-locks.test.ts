/** The order in which transactions lock webhooks and what failed, so that two servers never wait for each other. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { openStore } from '../../../../src/store/open.ts'
import type { Ledger } from '../../../../src/store/port/ledger.ts'
import { TESTER } from '../../../tester.ts'
import { until } from '../../../until.ts'
import { NOW } from '../../ledger/engine.ts'
import { noPostgres, postgresServer } from '../server.ts'

if (!noPostgres) await postgresServer() // for the whole file

const WAITING = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
const OLD = 9

/** Two accounts with a webhook each, of which the second one in the file is that of the first account. */
async function makeWorld(t: TestContext) {
  const { url, drop } = await (await postgresServer()).tables()
  const store = await openStore(url, { access: 'write', ledger: 'own', secret: null })
  const [holder, client] = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })]
  await Promise.all([holder.connect(), client.connect()])
  t.after(async () => {
    await Promise.all([holder.end(), client.end(), store.close()])
    await drop()
  })
  const { ledger } = store
  const accounts: number[] = []
  for (const email of ['a@example.com', 'b@example.com']) {
    const account = { email, role: 'user', plan: 'free', periods: [], addons: [] } as const
    const { id } = (await ledger.as(TESTER).createAccount(account, NOW))!
    const key = { number: 1, bytes: new Uint8Array(3) }
    await ledger.createWebhook(1, id, { url: 'https://receiver.example/', watches: null, key, seen: OLD }, NOW)
    accounts.push(id)
  }
  const [first, second] = (await client.query('select id from webhook order by id')).rows.map(({ id }) => id)
  await client.query('update webhook set url = url where id = $1', [first])
  await client.query(
    `insert into delivery (webhook, event, event_time, since, attempts, due, error) values ($1, $2, $3, $3, 1, null, '')`,
    [second, OLD, NOW],
  )
  return { ledger, accounts, first, second, holder, client }
}

const WRITES: Record<string, (ledger: Ledger, accounts: readonly number[]) => Promise<unknown>> = {
  'events of accounts': (ledger, accounts) => ledger.wakeWebhooks(accounts.toReversed(), NOW),
  'the first look of a process': (ledger) => ledger.wakeAllWebhooks(OLD + 1, NOW),
  'a restored store': (ledger) => ledger.limitSeen(OLD - 1),
}

for (const [about, write] of Object.entries(WRITES))
  test(`${about}: webhooks are locked by their IDs`, { skip: noPostgres }, async (t) => {
    const { ledger, accounts, first, second, holder, client } = await makeWorld(t)
    await holder.query('begin')
    await holder.query('select id from webhook where id = $1 for update', [second])
    const writing = write(ledger, accounts)
    await until(async () => (await client.query(WAITING)).rowCount !== 0)
    const free = await client.query('select id from webhook where id = $1 for update skip locked', [first])
    await holder.query('rollback')
    await writing
    assert.equal(free.rowCount, 0, 'the webhook with the lower ID is locked already')
  })

test('what failed is locked after its webhook, and old rows without waiting', { skip: noPostgres }, async (t) => {
  const { ledger, accounts, second, holder, client } = await makeWorld(t)
  await holder.query('begin')
  await holder.query('select id from webhook where id = $1 for update', [second])
  const redelivering = ledger.redeliver(accounts[1]!, second, null, NOW)
  await until(async () => (await client.query(WAITING)).rowCount !== 0)
  const free = await client.query('select event from delivery for update skip locked')
  await holder.query('select event from delivery for update')
  await ledger.removeOldDeliveries(NOW)
  await holder.query('rollback')
  assert.deepEqual([free.rowCount, await redelivering], [1, 1])
  await ledger.removeOldDeliveries(NOW)
  assert.deepEqual(await ledger.deliveries(accounts[1]!, second), [])
})
