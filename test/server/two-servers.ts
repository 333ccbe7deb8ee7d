/** Several servers with one PostgreSQL, as on several machines. */

import type { TestContext } from 'node:test'
import type { Store } from '../../src/store/port/store.ts'
import { serverOf } from '../api/server.ts'
import { postgresServer } from '../store/postgres/server.ts'

/** `serve` starts one more server on the same store. Everything is removed after the test. */
export async function serversOf(test: TestContext) {
  const { url, drop } = await (await postgresServer()).schema()
  const { serve, run, withStore } = serverOf(test)
  test.after(drop)
  const settings = { DOMAINDEX_STORE: url, DOMAINDEX_POOL: '4' }
  return {
    url,
    serve: (more: Record<string, string> = {}) => serve({ ...settings, ...more }),
    /** Runs a command to its end. */
    run: (args: string[], env: Record<string, string> = {}) => run(args, { env: { ...settings, ...env } }),
    withStore: <Result>(work: (store: Store) => Promise<Result>) => withStore(work, url),
  }
}
