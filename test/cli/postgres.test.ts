/** Tests every command with a store in PostgreSQL. */

import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import pg from 'pg'
import type { Store } from '../../src/store/port/store.ts'
import { serverOf } from '../api/server.ts'
import { noPostgres, postgresServer } from '../store/postgres/server.ts'
import { until } from '../until.ts'
import { eventsOf, watchAll } from './import/events.ts'
import { fileOf, lineOf, nameOf } from './import/lines.ts'
import type { Outcome } from './run.ts'
import { folderOf, outcomeOf } from './run.ts'

const PASSWORD = 'not-asked-for'
const NAMES = 2_500

/** Runs commands with a schema of its own as the store. No output contains the password. */
async function placeOf(test: TestContext) {
  const { url, drop } = await (await postgresServer()).schema()
  test.after(drop)
  const { run, start, withStore } = folderOf(test)
  return {
    url,
    start: (args: string[]) => start(args, { DOMAINDEX_STORE: url }),
    withStore: <Result>(work: (store: Store) => Promise<Result>) => withStore(work, url),
    run: async (args: string[], { input = '', store = url } = {}): Promise<Outcome> => {
      const outcome = await run(args, { input, env: { DOMAINDEX_STORE: store } })
      assert.doesNotMatch(outcome.stdout + outcome.stderr, new RegExp(PASSWORD))
      return outcome
    },
  }
}

suite('commands with PostgreSQL', { skip: noPostgres, concurrency: 2 }, () => {
  test('import, index, check and forget work as with SQLite', async (t) => {
    const { run, url } = await placeOf(t)
    const imported = await run(['import', '-'], { input: fileOf(50, 2) })
    assert.match(imported.stdout, /^read 100, applied \d+, .* refused 0 /)
    assert.equal(imported.stderr, '')
    assert.match((await run(['import', '-'], { input: fileOf(50, 2) })).stdout, /applied 0, unchanged 0, stale 100,/)
    assert.match((await run(['index'])).stdout, /^indexed 45 pages, 45 documents /)
    assert.match((await run(['index'])).stdout, /^indexed 0 pages, 45 documents /)
    assert.match((await run(['check'])).stdout, /^checked \d+ rows, faults 0\n$/)
    assert.equal((await run(['forget', nameOf(1)])).stdout, `${nameOf(1)}: forgotten\n`)
    assert.match((await run(['import', '-'], { input: lineOf(1, 1) })).stdout, /stale 1,/)
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query('update redirect_count set sources = sources + 1')
    await client.end()
    const wrong = await run(['check'])
    assert.match(wrong.stdout, /^redirect_count target\.example: .+\nchecked \d+ rows, faults 1\n$/)
    assert.equal(wrong.code, 1)
  })

  test('if an import is killed and run again, each event is there once', async (t) => {
    const file = fileOf(NAMES, 2)
    const whole = folderOf(t)
    const { start, run, withStore } = await placeOf(t)
    for (const each of [withStore, whole.withStore]) await each(watchAll)
    await withStore(async (store) => {
      for (const share of [0.1, 0.6]) {
        const child = start(['import', '-'])
        const outcome = outcomeOf(child)
        child.stdin.on('error', () => {})
        child.stdin.write(file)
        await until(async () => (await store.events.lastEvent()) > share * NAMES)
        child.kill('SIGKILL')
        await outcome
      }
    })
    await run(['import', '-'], { input: file })
    await whole.run(['import', '-'], { input: file })
    const events = await whole.withStore(eventsOf)
    assert.equal(events.length > NAMES, true)
    assert.deepEqual(await withStore(eventsOf), events)
  })

  test('a command that only reads does not change a database without a store', async (t) => {
    const { run, url } = await placeOf(t)
    for (const args of [['check'], ['forget', 'a.example'], ['migrate'], ['rotate-secret']]) {
      const { code, stderr } = await run(args)
      assert.match(
        stderr,
        /^domaindex: there is no store at postgres:.*: import a file to create it, or set DOMAINDEX_STORE to another one/,
      )
      assert.equal(code, 1)
    }
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const { rowCount } = await client.query('select 1 from pg_tables where schemaname = current_schema()')
    await client.end()
    assert.equal(rowCount, 0)
  })

  test('accounts, tokens and secrets are in the same database', async (t) => {
    const { run } = await placeOf(t)
    const made = await run(['account', 'create', 'ann@example.com', '--plan', 'basic'])
    assert.equal(made.code, 0, made.stderr)
    assert.match((await run(['account', 'list'])).stdout, /ann@example\.com/)
    assert.equal((await run(['rotate-secret'])).code, 0)
    assert.equal((await run(['migrate'])).stdout, 'the store is up to date\n')
    assert.equal((await run(['migrate', '--plan'])).stdout, 'the store is up to date\n')
  })

  test('the client commands answer from the store while a server uses it', async (t) => {
    const { run, url } = await placeOf(t)
    assert.equal((await run(['import', '-'], { input: fileOf(50, 2) })).code, 0)
    const { serve } = serverOf(t)
    await serve({ DOMAINDEX_STORE: url })
    const all = await run(['redirect', 'target.example'])
    assert.deepEqual([all.code, all.stderr, all.stdout.split('\n').length], [0, '', 6])
    const first = await run(['redirect', 'target.example', '--limit', '2'])
    const [, next = ''] = /--next (\S+)\n$/.exec(first.stderr) ?? []
    const rest = await run(['redirect', 'target.example', '--all', '--next', next])
    assert.equal(first.stdout + rest.stdout, all.stdout)
    assert.equal(JSON.parse((await run(['lookup', nameOf(1)])).stdout).query, nameOf(1))
    assert.deepEqual(JSON.parse((await run(['account', 'usage', '--json'])).stdout).usage, [])
  })

  test('backup and restore say what to use instead', async (t) => {
    const { run } = await placeOf(t)
    await run(['import', '-'], { input: lineOf(1) })
    for (const args of [
      ['backup', 'there'],
      ['restore', 'there'],
    ]) {
      const { code, stderr } = await run(args)
      assert.match(stderr, /^domaindex: postgres:.*: PostgreSQL is backed up and restored by its own tools: pg_dump/)
      assert.equal(code, 1)
    }
  })

  test('an unreachable database is reported with one line that says what to do', async (t) => {
    const { run, url } = await placeOf(t)
    const nobody = new URL(url)
    nobody.searchParams.set('host', '/nowhere')
    const unknown = new URL(url)
    unknown.pathname = '/no-such-database'
    for (const [store, words] of [
      [nobody.href, /the server does not respond/],
      [unknown.href, /the database does not exist: create it/],
    ] as const) {
      const { code, stderr } = await run(['check'], { store })
      assert.match(stderr, words)
      assert.match(stderr, /^domaindex: postgres:[^\n]*\n$/)
      assert.equal(code, 1)
    }
  })
})
