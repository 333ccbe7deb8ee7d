/** A store of a development version, whose applied migrations differ: every command refuses it and says what to do. */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import pg from 'pg'
import { openStore } from '../../../src/store/open.ts'
import { connectSqlite } from '../../../src/store/sqlite/database/connection.ts'
import { alterBackup } from '../../cli/altered-backup.ts'
import type { Outcome } from '../../cli/run.ts'
import { folderOf } from '../../cli/run.ts'
import { noPostgres, postgresServer } from '../postgres/server.ts'

const OPTIONS = { access: 'write', ledger: 'own', secret: null } as const
const ADVICE = /before 0\.1\.0 made the store.*"domaindex build snapshot".*"domaindex import --format names/
const FORMER = `update migration set checksum = 'former' where number = 1`
/** The commands that open a whole store. */
const COMMANDS = [['migrate', '--plan'], ['migrate'], ['check'], ['serve'], ['copy'], ['export', 'cof']]

function refused({ code, stderr }: Outcome, command: readonly string[]): void {
  assert.match(stderr, ADVICE, command.join(' '))
  assert.equal(stderr.trimEnd().split('\n').length, 1, `${command.join(' ')} prints one line: ${stderr}`)
  assert.equal(code, 1)
}

test('SQLite: a store with another history is refused by every command, and not backed up', async (t) => {
  const { path: pathOf, run } = folderOf(t)
  const path = pathOf('store.db')
  const settings = { DOMAINDEX_STORE: `sqlite:${path}`, DOMAINDEX_STORE_TO: `sqlite:${pathOf('copy.db')}` }
  await (await openStore(settings.DOMAINDEX_STORE, OPTIONS)).close()
  assert.equal((await run(['backup', pathOf('good')], { env: settings })).code, 0)
  const database = connectSqlite(path)
  database.exec(FORMER)
  database.close()
  for (const command of [...COMMANDS, ['backup', pathOf('bad')]])
    refused(await run(command, { env: settings }), command)
  assert.equal(existsSync(pathOf('bad')), false)
  alterBackup(pathOf('good'), 'facts.db', FORMER)
  const elsewhere = { DOMAINDEX_STORE: `sqlite:${pathOf('restored.db')}` }
  refused(await run(['restore', pathOf('good')], { env: elsewhere }), ['restore'])
})

test('PostgreSQL: a store with another history or another table of migrations is refused', {
  skip: noPostgres,
}, async (t) => {
  const { run, path: pathOf } = folderOf(t)
  for (const change of [FORMER, 'alter table migration rename column schema_part to part']) {
    const { url, drop } = await (await postgresServer()).schema()
    t.after(drop)
    await (await openStore(url, OPTIONS)).close()
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query(change)
    await client.end()
    const settings = { DOMAINDEX_STORE: url, DOMAINDEX_STORE_TO: `sqlite:${pathOf('copy.db')}` }
    for (const command of COMMANDS) refused(await run(command, { env: settings }), command)
  }
})

test('PostgreSQL: a table of another program with the same name is named', { skip: noPostgres }, async (t) => {
  const { run } = folderOf(t)
  const { url, drop } = await (await postgresServer()).schema()
  t.after(drop)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('create table migration (version text)')
  await client.end()
  for (const command of [['migrate', '--plan'], ['check'], ['serve']]) {
    const { code, stderr } = await run(command, { env: { DOMAINDEX_STORE: url } })
    assert.match(stderr, /the table migration is of another program: use a separate database/)
    assert.equal(code, 1)
  }
})
