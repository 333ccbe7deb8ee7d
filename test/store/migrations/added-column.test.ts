/**
 * The next release adds a column to the facts, in the table of columns and by a migration: stored rows are no findings
 * of `check`, and new rows are written, on either engine.
 */

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { type Column, FACT_TABLES } from '../../../src/store/shared/tables.ts'
import { runScript } from '../fixtures/postgres-script.ts'
import { noPostgres } from '../postgres/server.ts'

const ADDED = 'checked_note'
// The modules that build statements from the columns are loaded after the next release has added one.
const facts: Record<string, Column> = FACT_TABLES.facts
facts[ADDED] = { type: 'text', checksum: 1, since: 9999 }
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

test('a column that names a migration was added by it, on every engine', () => {
  const { checked_note: _, ...landed } = facts
  const added = Object.entries(landed).flatMap(([name, { since }]) => (since === undefined ? [] : [{ name, since }]))
  assert.ok(added.length > 0)
  for (const { name, since } of added)
    for (const engine of ['sqlite', 'postgres']) {
      const folder = `${import.meta.dirname}/../../../src/store/${engine}/schema/facts`
      const [file] = globSync(`${String(since).padStart(4, '0')}-*.sql`, { cwd: folder })
      assert.match(readFileSync(`${folder}/${file}`, 'utf8'), new RegExp(`add column ${name}\\b`), `${engine} ${file}`)
    }
})
