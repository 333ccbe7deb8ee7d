/** The answers of /similar on PostgreSQL. */

import { suite } from 'node:test'
import { openedAt } from '../store/conformance/opened-store.ts'
import { noPostgres, postgresServer } from '../store/postgres/server.ts'
import { answers } from './query/answers.ts'

suite('PostgreSQL', { skip: noPostgres }, () => {
  answers(async (clock) => {
    const { url, drop } = await (await postgresServer()).tables()
    return openedAt(url, { now: () => clock.now, pool: 2 }, drop)
  }, 4)
})
