/** Tests that only the owner can read what a command writes, whatever its initial umask. */

import assert from 'node:assert/strict'
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, type TestContext, test } from 'node:test'
import { ingest } from '../../src/store/ingest.ts'
import { openStore } from '../../src/store/open.ts'
import { dns, seen, web } from '../store/conformance/world.ts'
import { fileOf } from './import/lines.ts'
import { folderOf } from './run.ts'

const OTHERS = 0o077
const LINES = fileOf(20)

let umask = 0
before(() => {
  umask = process.umask(0) // also the umask of the commands that start here
})
after(() => process.umask(umask))

/** Lists what others may read or write in a folder, except the files that the test wrote. */
function open(folder: string, own: readonly string[] = []): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => !own.includes(path))
    .filter((path) => (statSync(join(folder, path)).mode & OTHERS) !== 0)
}

function world(t: TestContext) {
  const made = folderOf(t)
  const expect = async (args: string[], input?: string): Promise<void> => {
    const { code, stderr } = await made.run(args, input === undefined ? {} : { input })
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`)
  }
  return { ...made, expect, folder: made.path('') }
}

suite('files that are made are for their owner only', { concurrency: 2 }, () => {
  test('an import with rejects, a backup, a restore and a copy write files for the owner only', async (t) => {
    const { run, expect, folder, path } = world(t)
    await expect(['import', '-'], LINES)
    assert.equal((await run(['import', '-', '--rejects', 'rejects'], { input: 'no line\n' })).code, 3)
    await expect(['backup', 'deep/backup'])
    const env = { DOMAINDEX_STORE: `sqlite:${path('restored/store.db')}` }
    chmodSync(path('deep/backup/facts.db'), 0o644) // as a user might have done
    assert.equal((await run(['restore', 'deep/backup'], { env })).code, 0)
    const to = { DOMAINDEX_STORE_TO: `sqlite:${path('copied/store.db')}` }
    assert.equal((await run(['copy'], { env: to })).code, 0)
    assert.deepEqual(open(folder, ['deep/backup/facts.db']), [])
    assert.equal(readdirSync(path('restored')).length, 2)
  })

  test('finished files, their manifests, zones and the inbox are for the owner only', async (t) => {
    const { expect, folder, path } = world(t)
    writeFileSync(path('list'), 'a.example\nb.example\n')
    const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
    await expect(['import', '--format', 'names', 'list', '--date', day])
    await expect(['build', 'daily', '--date', day])
    await expect(['build', 'snapshot'])
    assert.deepEqual(open(folder, ['list']), [])
    assert.ok(existsSync(path('data/files/daily')) && existsSync(path('data/files/enriched')))
  })

  test('a command sets the umask before it runs, also for its child processes', {
    skip: !existsSync('/proc/self/status'),
  }, async (t) => {
    const { start, expect } = world(t)
    await expect(['import', '-'], LINES)
    const child = start(['serve'], { DOMAINDEX_PORT: '0', DOMAINDEX_ADMIN: 'off', DOMAINDEX_WORKERS: '1' })
    t.after(() => child.kill('SIGKILL'))
    for await (const piece of child.stdout.setEncoding('utf8')) if (/http:/.test(piece)) break
    assert.deepEqual([...new Set(familyOf(child.pid!).map(umaskOf))].sort(), ['0077'])
  })

  test('the files and the log of a store in use are for the owner only, whichever command opens it', async (t) => {
    const { folder, url } = world(t)
    const store = await openStore(url, { access: 'write', ledger: 'own', secret: null })
    await ingest(store, [seen('a.example', 1, dns({ A: ['192.0.2.1'] }), web({ has_website: true, text: 'text' }))])
    const walk = await store.listing.start({ signal: new AbortController().signal })
    for await (const _ of walk.rows()) assert.deepEqual(open(folder), [])
    const files = readdirSync(folder)
    assert.ok(files.includes('store.db-wal') && files.includes('store.db-shm'), files.join(' '))
    assert.deepEqual(open(folder), [])
    await walk.close()
    await store.close()
  })

  test('an existing file keeps its permissions', async (t) => {
    const { expect, path } = world(t)
    await expect(['import', '-'], LINES)
    chmodSync(path('store.db'), 0o640)
    await expect(['import', '-'], LINES)
    assert.equal(statSync(path('store.db')).mode & 0o777, 0o640)
  })
})

/** Returns a process and its descendants. */
function familyOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  return [pid, ...children.flatMap(familyOf)]
}

function umaskOf(pid: number): string {
  return /^Umask:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]!
}
