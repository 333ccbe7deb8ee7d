/** Tests `domaindex backup` and `restore` of a store in use. */

import assert from 'node:assert/strict'
import { appendFileSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { parseObservation } from '../../src/observe/observation-parser.ts'
import { ingest } from '../../src/store/ingest.ts'
import type { Store } from '../../src/store/port/store.ts'
import { parseName } from '../../src/values/domain-name.ts'
import { TESTER } from '../tester.ts'
import { until } from '../until.ts'
import { alterBackup } from './altered-backup.ts'
import { answersOf, faultsOf } from './answers.ts'
import { fileOf, lineOf, nameOf } from './import/lines.ts'
import { folderOf } from './run.ts'

const NAMES = 2000
const SAMPLE = ['target.example', ...Array.from({ length: 100 }, (_, index) => nameOf(index * 20))]
const ACCOUNT = { email: 'someone@example.com', role: 'user', plan: 'basic', periods: [], addons: [] } as const

/** Writes 1,000 observations per second, of names from NAMES on that share nothing with earlier ones. */
function writeOn(store: Store) {
  let count = 0
  let isEnded = false
  const apart = (number: number) =>
    lineOf(number).replace('"192.0.', '"10.9.').replace('target.example', 'other.example')
  const done = (async () => {
    for (let next = 0; !isEnded; await until(() => performance.now() >= next, 'the next batch')) {
      next = performance.now() + 100
      const lines = Array.from({ length: 100 }, (_, index) => apart(NAMES + count + index))
      await ingest(
        store,
        lines.map((line) => parseObservation(line) as never),
      )
      count += lines.length
    }
  })()
  return {
    count: () => count,
    end: () => {
      isEnded = true
      return done
    },
  }
}

suite('domaindex backup and restore', { concurrency: 2 }, () => {
  test('if a store is backed up during 1,000 writes per second, the restored store returns every response', async (t) => {
    const { run, path, withStore } = folderOf(t)
    const env = { DOMAINDEX_STORE: `sqlite:${path('restored/store.db')}` }
    await run(['import', '-'], { input: fileOf(NAMES, 2) })
    const [live, before, after, secrets] = await withStore(async (store) => {
      await store.ledger.as(TESTER).createAccount(ACCOUNT, await store.now())
      const secrets = await store.ledger.secrets(await store.now())
      const writing = writeOn(store)
      await until(() => writing.count() >= 300)
      const before = writing.count()
      const { code, stderr } = await run(['backup', 'copy'])
      assert.deepEqual([code, stderr], [0, ''])
      const after = writing.count() + 100
      await writing.end()
      return [await answersOf(store, SAMPLE), before, after, secrets]
    })
    assert.equal((await run(['restore', 'copy'], { env })).code, 0)
    await withStore(async (store) => {
      assert.deepEqual(await answersOf(store, SAMPLE), live)
      assert.deepEqual(await faultsOf(store), [])
      assert.equal((await store.ledger.account(ACCOUNT.email))?.plan, 'basic')
      assert.deepEqual(await store.ledger.secrets(await store.now()), secrets)
      const isThere = async (number: number) => (await store.facts.lookup(parseName(nameOf(NAMES + number))!)) !== null
      let kept = 0
      while (kept <= after && (await isThere(kept))) kept++
      assert.ok(kept >= before && kept <= after, `${before} <= ${kept} <= ${after}`)
    }, env.DOMAINDEX_STORE)
  })

  test('only the owner can read the folder of a backup, and a failed backup leaves nothing', async (t) => {
    const { run, path } = folderOf(t)
    await run(['import', '-'], { input: lineOf(1) })
    await run(['backup', 'copy'])
    assert.deepEqual(readdirSync(path('copy')), ['facts.db', 'ledger.db', 'manifest.json'])
    assert.deepEqual(
      [statSync(path('copy')).mode & 0o777, statSync(path('copy/ledger.db')).mode & 0o777],
      [0o700, 0o600],
    )
    const again = await run(['backup', 'copy'])
    assert.match(again.stderr, /^domaindex: copy exists already: choose a new folder\n$/)
    const nowhere = await run(['backup', 'copy/manifest.json/deeper'])
    assert.deepEqual([again.code, nowhere.code], [1, 1])
    const isOfStore = (name: string): boolean => name.startsWith('store')
    assert.deepEqual(
      readdirSync(path('')).filter((name) => !isOfStore(name)),
      ['copy'],
    )
  })

  test('restore overwrites no store and rejects a damaged backup and a folder without one', async (t) => {
    const { run, path } = folderOf(t)
    const env = { DOMAINDEX_STORE: `sqlite:${path('new/store.db')}` }
    await run(['import', '-'], { input: lineOf(1) })
    await run(['backup', 'copy'])
    assert.match((await run(['restore', 'copy'])).stderr, /^domaindex: .*store\.db exists already/)
    mkdirSync(path('empty'))
    assert.match((await run(['restore', 'empty'], { env })).stderr, /^domaindex: empty is not a backup/)
    appendFileSync(path('copy/ledger.db'), 'x')
    assert.match((await run(['restore', 'copy'], { env })).stderr, /ledger\.db does not match its manifest/)
    writeFileSync(path('copy/manifest.json'), '{"format":2}')
    assert.match((await run(['restore', 'copy'], { env })).stderr, /newer release/)
    assert.equal(existsSync(path('new')), false)
  })

  test('restore rejects a backup of a newer release and leaves nothing of it', async (t) => {
    const { run, path } = folderOf(t)
    await run(['import', '-'], { input: lineOf(1) })
    await run(['backup', 'copy'])
    alterBackup(path('copy'), 'ledger.db', `insert into migration values (9999, '9999-later.sql', '', '')`)
    const { stderr } = await run(['restore', 'copy'], { env: { DOMAINDEX_STORE: `sqlite:${path('new/store.db')}` } })
    assert.match(stderr, /^domaindex: .*9999-later\.sql.* newer domaindex\n$/)
    assert.deepEqual(readdirSync(path('new')), [])
  })
})
