/** The next release adds a column to the facts: stored rows are no findings of `check`, on either engine. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FACTS_COLUMN_NAMES } from '../../../src/store/shared/columns.ts'
import { runScript } from '../fixtures/postgres-script.ts'
import { noPostgres } from '../postgres/server.ts'

const ADDED = 'checked_note'
// The modules that build statements from the columns are loaded after the next release has added one.
;(FACTS_COLUMN_NAMES as string[]).push(ADDED)
const { migrateStore, openStore } = await import('../../../src/store/open.ts')
const { connectSqlite } = await import('../../../src/store/sqlite/database/connection.ts')
const { checkAll } = await import('../check-all.ts')
const { RELEASES, unpackPostgres, unpackSqlite } = await import('../fixtures/fixture-files.ts')

const ADD = `alter table facts add column ${ADDED} text`
const RECORD = `'9999-note.expand.sql', '', '')`

async function checkedFaultless(url: string): Promise<void> {
  const store = await openStore(url, { access: 'write', ledger: 'own', secret: null })
  try {
    const { faults, checked } = await checkAll(store)
    assert.deepEqual(faults, [])
    assert.ok(checked > 300)
  } finally {
    await store.close()
  }
}

test('SQLite: the checksums of stored rows stay valid if a column is added', async (t) => {
  const path = unpackSqlite(t, RELEASES[0]!)
  await migrateStore(`sqlite:${path}`, false)
  const database = connectSqlite(path)
  database.exec(`${ADD}; insert into migration (number, name, checksum, applied_at) values (9999, ${RECORD}`)
  assert.ok(database.prepare('select count(*) as rows from facts where checksum is not null').get()!.rows !== 0)
  database.close()
  await checkedFaultless(`sqlite:${path}`)
})

test('PostgreSQL: the check of stored rows finds no fault if a column is added', { skip: noPostgres }, async (t) => {
  const url = await unpackPostgres(t, RELEASES[0]!)
  await migrateStore(url, false)
  const record = `insert into migration (schema_part, number, name, checksum, applied_at) values ('facts', 9999, ${RECORD}`
  await runScript(url, `${ADD}; ${record}`)
  await checkedFaultless(url)
})
