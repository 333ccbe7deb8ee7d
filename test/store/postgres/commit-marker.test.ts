/** Commit markers of finished transactions are deleted, some at a time, and the last ones when the process ends. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDatabase } from '../../../src/store/postgres/database/database.ts'
import { createPostgresSchema } from '../../../src/store/postgres/database/migrate.ts'
import { noPostgres, postgresServer } from './server.ts'

const COUNT = { name: 'test.markers', text: 'select count(*)::integer as count from commit_marker' }

test('a process leaves few markers behind, and none when it closes the store', { skip: noPostgres }, async (t) => {
  const { url, drop } = await (await postgresServer()).tables()
  const database = await openDatabase(url, { pool: 2, applicationName: 'test' })
  const reader = await openDatabase(url, { pool: 2, applicationName: 'test' })
  t.after(() => reader.close().then(drop))
  await createPostgresSchema(database, async () => {})
  const count = async () => (await reader.read<{ count: number }>(COUNT))[0]!.count
  for (let transaction = 1; transaction <= 300; transaction++) {
    await database.transaction(async () => {})
    if (transaction === 5) assert.equal(await count(), 5)
  }
  assert.ok((await count()) < 100)
  await database.close()
  assert.equal(await count(), 0)
})
