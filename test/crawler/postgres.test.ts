/** Two crawlers on one PostgreSQL whose connections break. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { named } from '../probe/internet.ts'
import { noPostgres, postgresServer } from '../store/postgres/server.ts'
import { until } from '../until.ts'
import { NAMES, processWorld } from './processes.ts'

test('two crawlers share the names of one PostgreSQL, and continue after their connections break', {
  skip: noPostgres,
}, async (t) => {
  const { url, drop } = await (await postgresServer()).tables()
  t.after(drop)
  const { asked, start, withStore } = await processWorld(t, url)
  const crawlers = [start('crawl', '--loop'), start('crawl', '--loop')]
  await until(() => asked.length >= 15)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'domaindex' and pid <> pg_backend_pid()
     and datname = current_database()`,
  )
  await client.end()
  await until(() => new Set(asked).size === NAMES.length)
  await withStore(async ({ observations: frontier }) => {
    const isSaved = async () => (await frontier.crawlStates(NAMES.map(named))).every(({ clocks }) => clocks[0]! > 0)
    await until(isSaved)
  })
  for (const { child } of crawlers) child.kill('SIGTERM')
  for (const { outcome } of crawlers) assert.equal((await outcome).signal, 'SIGTERM')
  await withStore(async ({ schedule }) => {
    assert.deepEqual(await schedule.crawlers(), [])
    assert.deepEqual(
      (await schedule.ranges()).filter(({ holder }) => holder !== null),
      [],
    )
  })
})
