/** Tests DOMAINDEX_LEDGER, which puts accounts, tokens and usage into a file elsewhere, with every command. */

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { suite, test } from 'node:test'
import { readSettings } from '../../src/config/settings.ts'
import { fileOf } from './import/lines.ts'
import { folderOf } from './run.ts'

const ANN = 'ann@example.com'

suite('a ledger with a place of its own', { concurrency: 2 }, () => {
  test('every command uses the ledger at that path and none beside the facts', async (t) => {
    const { run, path } = folderOf(t)
    const env = { DOMAINDEX_LEDGER: 'disk/ledger.db' }
    const expect = async (args: string[], more: Record<string, string> = {}, input = ''): Promise<string> => {
      const { code, stdout, stderr } = await run(args, { env: { ...env, ...more }, input })
      assert.equal(code, 0, `${args.join(' ')}: ${stderr}`)
      return stdout
    }
    await expect(['import', '-'], {}, fileOf(20))
    await expect(['account', 'create', ANN])
    await expect(['migrate'])
    await expect(['check'])
    await expect(['backup', 'backup'])
    const restored = { DOMAINDEX_STORE: 'sqlite:restored/facts.db', DOMAINDEX_LEDGER: 'restored-ledger/l.db' }
    await expect(['restore', 'backup'], restored)
    await expect(['account', 'show', ANN], restored)
    const to = { DOMAINDEX_STORE_TO: 'sqlite:copied/facts.db', DOMAINDEX_LEDGER_TO: 'copied-ledger/l.db' }
    assert.match(await expect(['copy'], to), /copied sqlite:\S+store\.db to sqlite:copied\/facts\.db/)
    const copied = { DOMAINDEX_STORE: to.DOMAINDEX_STORE_TO, DOMAINDEX_LEDGER: to.DOMAINDEX_LEDGER_TO }
    await expect(['account', 'show', ANN], copied)
    const files = readdirSync(path(''), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.db'))
    assert.deepEqual(files.sort(), [
      'backup/facts.db',
      'backup/ledger.db',
      'copied-ledger/l.db',
      'copied/facts.db',
      'disk/ledger.db',
      'restored-ledger/l.db',
      'restored/facts.db',
      'store.db',
    ])
  })

  test('a store that had another ledger does not continue with an empty one', async (t) => {
    const { run, path } = folderOf(t)
    await run(['account', 'create', ANN])
    const apart = { env: { DOMAINDEX_LEDGER: 'disk/ledger.db' } }
    const moved = await run(['account', 'list'], apart)
    assert.match(
      moved.stderr,
      /^domaindex: \S+disk\/ledger\.db does not exist, and .* was last at \S+store-ledger\.db: set/,
    )
    mkdirSync(path('disk'))
    renameSync(path('store-ledger.db'), path('disk/ledger.db'))
    assert.match((await run(['account', 'list'], apart)).stdout, /ann@example\.com/)
    const unset = await run(['account', 'list'])
    assert.match(
      unset.stderr,
      /^domaindex: \S+store-ledger\.db does not exist, .*disk\/ledger\.db: set DOMAINDEX_LEDGER to/,
    )
    for (const plan of [[], ['--plan']]) {
      const migrated = await run(['migrate', ...plan])
      assert.deepEqual([migrated.code, migrated.stdout, migrated.stderr], [1, '', unset.stderr])
    }
    assert.equal(existsSync(path('store-ledger.db')), false)
    rmSync(path('disk/ledger.db'))
    assert.match(
      (await run(['account', 'list'], apart)).stderr,
      /the ledger \S+ does not exist: mount its disk, or restore/,
    )
  })

  test('a copy to an existing ledger is refused and leaves nothing', async (t) => {
    const { run, path } = folderOf(t)
    await run(['account', 'create', ANN])
    const env = { DOMAINDEX_STORE_TO: 'sqlite:new/facts.db', DOMAINDEX_LEDGER_TO: path('store-ledger.db') }
    const { code, stdout, stderr } = await run(['copy'], { env })
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(
      stderr,
      /^domaindex: \S+store-ledger\.db is the ledger of another store, .*: set DOMAINDEX_LEDGER_TO to another path\n$/,
    )
    assert.equal(existsSync(path('new')), false)
  })

  test('a backup without the ledger says so, and if both files are the same, nothing is created', async (t) => {
    const { run, path } = folderOf(t)
    await run(['account', 'create', ANN], { env: { DOMAINDEX_LEDGER: 'disk/ledger.db' } })
    const { code, stderr } = await run(['backup', 'backup'])
    assert.deepEqual([code, /the ledger \S+ does not exist.*DOMAINDEX_LEDGER/.test(stderr)], [1, true], stderr)
    const same = await run(['check'], { env: { DOMAINDEX_STORE: 'sqlite:a.db', DOMAINDEX_LEDGER: './a.db' } })
    assert.match(same.stderr, /DOMAINDEX_LEDGER and DOMAINDEX_STORE are the same file/)
    assert.deepEqual([same.code, existsSync(path('a.db'))], [1, false])
  })

  test('DOMAINDEX_LEDGER works with SQLite only', () => {
    const settings = { DOMAINDEX_STORE: 'postgres://a@b/c', DOMAINDEX_LEDGER: 'l.db' }
    assert.throws(() => readSettings(settings), /DOMAINDEX_LEDGER is for a store in SQLite: leave it unset/)
    assert.deepEqual(readSettings({ DOMAINDEX_STORE: 'sqlite:a.db', DOMAINDEX_LEDGER: 'l.db' }).store, {
      url: 'sqlite:a.db',
      ledger: 'l.db',
    })
  })
})
