/** The table of engines: which engines it contains, what their URLs look like, and which modules they load. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { ENGINES, engineOf, redactedStoreUrl, userMessageOf } from '../../src/store/engines.ts'
import { openStore } from '../../src/store/open.ts'
import { toStoreFault } from '../../src/store/postgres/database/errors.ts'
import { isDiskFull } from '../../src/store/shared/disk.ts'
import { toDiskFault } from '../../src/store/sqlite/database/errors.ts'
import { noPostgres, postgresServer } from './postgres/server.ts'

const SOURCE = new URL('../../src/store/', import.meta.url)
const OPTIONS = { access: 'write', ledger: 'own', secret: null } as const

const engineFolders = globSync('*/', { cwd: SOURCE })
  .map((folder) => basename(folder))
  .filter((folder) => !['port', 'shared', 'ledger', 'inverse'].includes(folder))

test('each folder of an engine exports one engine, and the table has one row for each', async () => {
  const exported = await Promise.all(
    engineFolders.map(async (folder) => Object.values(await import(new URL(`${folder}/engine.ts`, SOURCE).href))),
  )
  const loaded = await Promise.all(ENGINES.map(({ load }) => load()))
  assert.deepEqual(new Set(exported.flat()), new Set(loaded))
  assert.equal(loaded.length, engineFolders.length)
  assert.equal(new Set(ENGINES.map(({ name }) => name)).size, ENGINES.length)
})

for (const folder of engineFolders) {
  test(`the conformance suites of the store and of its ledger run on ${folder}`, () => {
    for (const [file, suite] of [
      [`${folder}/${folder}.test.ts`, '../conformance/suite.ts'],
      [`ledger/${folder}.test.ts`, './suite.ts'],
    ] as const) {
      const text = readFileSync(new URL(file, import.meta.url), 'utf8')
      assert.ok(text.includes(`from '${suite}'`), `test/store/${file} does not run ${suite}`)
    }
  })

  test(`the tests of a store's creation, upgrade, expansion and schema run on ${folder}`, () => {
    for (const name of ['creation', 'upgrade', 'expanded', 'check-schema']) {
      const file = `migrations/${name}`
      const text = readFileSync(new URL(`${file}.test.ts`, import.meta.url), 'utf8')
      assert.ok(text.toLowerCase().includes(folder), `test/store/${file}.test.ts does not name ${folder}`)
    }
  })
}

const sqliteError = (errcode: number) => Object.assign(new Error('from SQLite'), { errcode })
const codeError = (code: string, path?: string) => Object.assign(new Error('from outside'), { code, path })

test('errors of SQLite and of files that a user can fix have a message, and all others have none', () => {
  const messages = [sqliteError(5), sqliteError(517), sqliteError(13), codeError('ENOSPC'), codeError('ENOSPC', '/a')]
  assert.deepEqual(messages.map(userMessageOf), [
    'the store is locked by another process: try again when that process has ended',
    'the store is locked by another process: try again when that process has ended',
    'the disk is full; what was not finished was not written',
    'the disk is full; what was not finished was not written',
    'no space is left on the disk of /a; what was not finished was not written',
  ])
  assert.match(userMessageOf(codeError('EACCES', '/a'))!, /^\/a: permission denied/)
  assert.equal(userMessageOf(codeError('EROFS')), 'from outside: the file system is read-only')
  for (const other of [sqliteError(1), codeError('ECONNRESET'), new Error('any'), 'text', null])
    assert.equal(userMessageOf(other), null)
})

test('a full disk is recognized on every engine and in files, also as the cause of another error', () => {
  const postgres = (code: string) => toStoreFault(codeError(code), 'postgres://db/data')
  const full = [toDiskFault(sqliteError(13), '/a/b.db'), postgres('53100'), codeError('ENOSPC')]
  for (const error of full)
    assert.deepEqual([error, new Error('outer', { cause: error })].map(isDiskFull), [true, true])
  for (const error of [toDiskFault(sqliteError(5), '/a/b.db'), postgres('53300'), codeError('EROFS')])
    assert.equal(isDiskFull(error), false)
})

test('a URL belongs to the engine of its scheme, and any other URL is rejected without showing its password', async () => {
  assert.equal(engineOf('sqlite:data/domaindex.db').name, 'SQLite')
  assert.equal(engineOf({ url: 'sqlite:/srv/a.db', ledger: '/fast/b.db' }).name, 'SQLite')
  for (const url of ['postgres://me:hush@db/data', 'postgresql:///data?host=/run'])
    assert.equal(engineOf(url).name, 'PostgreSQL')
  for (const url of ['', 'sqlite:', 'sqlite::memory:', 'sqlite:postgres://me:hush@db', 'postgres:me:hush', 'my:hush'])
    await assert.rejects(openStore(url, OPTIONS), ({ message }: Error) => {
      assert.match(message, /^DOMAINDEX_STORE is .*: write sqlite:PATH, or postgres:\/\//)
      return !message.includes('hush')
    })
  assert.equal(redactedStoreUrl({ url: 'sqlite:a:b@c.db', ledger: 'd.db' }), 'sqlite:a:b@c.db')
})

/** Opens a store in its own process, and prints which database clients the process has loaded. */
const OPEN_AND_LIST = `
  const { openStore } = await import(process.argv[1])
  await (await openStore(process.argv[2], ${JSON.stringify(OPTIONS)})).close()
  const { cache } = (await import('node:module')).createRequire(process.argv[1])
  const isSqliteLoaded = process.moduleLoadList.includes('NativeModule sqlite')
  const isPgLoaded = Object.keys(cache).some((path) => /node_modules.pg.lib/.test(path))
  console.log(JSON.stringify({ isSqliteLoaded, isPgLoaded }))`

async function clientsLoadedFor(url: string): Promise<unknown> {
  const open = new URL('open.ts', SOURCE).href
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '-e',
    OPEN_AND_LIST,
    open,
    url,
  ])
  return JSON.parse(stdout)
}

test('a process that uses SQLite does not load the client of PostgreSQL', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'domaindex-engines-'))
  t.after(() => rm(folder, { recursive: true }))
  const loaded = await clientsLoadedFor(`sqlite:${join(folder, 'store.db')}`)
  assert.deepEqual(loaded, { isSqliteLoaded: true, isPgLoaded: false })
})

test('a process that uses PostgreSQL does not load SQLite', { skip: noPostgres }, async (t) => {
  const { url, drop } = await (await postgresServer()).schema()
  t.after(drop)
  assert.deepEqual(await clientsLoadedFor(url), { isSqliteLoaded: false, isPgLoaded: true })
})

test('the glossary and the README name every engine', () => {
  for (const file of ['docs/glossary.md', 'README.md']) {
    const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
    for (const { name } of ENGINES) assert.ok(text.includes(name), `${file} does not name ${name}`)
  }
})
