/** Tests `domaindex forget`: names, suffixes and the opt-out list leave the store, the files and later imports. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { fileName } from '../../../src/jobs/file-store/file-store.ts'
import { openFolderFileStore } from '../../../src/jobs/file-store/folder.ts'
import { parseName } from '../../../src/values/domain-name.ts'
import type { Day } from '../../../src/values/time.ts'
import { readAll } from '../../jobs/file-store/conformance.ts'
import { lineOf, nameOf } from '../import/lines.ts'
import { folderOf, outcomeOf } from '../run.ts'

const DAY = '2026-11-19' as Day

/** An observation of a name. */
const line = (domain: string) =>
  JSON.stringify({ domain, observed_at: '2026-11-20T03:04:05Z', dns: { status: 'ok', A: ['192.0.2.1'] } })

/** A folder with a store, and functions that read what is in it. */
function installation(t: Parameters<typeof folderOf>[0]) {
  const folder = folderOf(t)
  return {
    ...folder,
    /** Which of the names the store knows. */
    known: (names: readonly string[]) =>
      folder.withStore(async ({ facts }) => {
        const lookups = await Promise.all(names.map((name) => facts.lookup(parseName(name)!)))
        return names.filter((_, place) => lookups[place] !== null)
      }),
    /** The unpacked daily file; null if there is none. */
    async daily(): Promise<string | null> {
      const opened = await openFolderFileStore(folder.path('data/files')).open(fileName('daily', DAY))
      if (opened === null) return null
      const packed = await readAll(opened)
      await opened.close()
      return gunzipSync(packed).toString()
    },
    /** Imports lines of observations from a file: the process of the test cannot read them from standard input. */
    observe(lines: string, env: Record<string, string> = {}) {
      writeFileSync(folder.path('observations'), lines)
      return folder.run(['import', 'observations'], { env })
    },
    /** Imports a list of the names of DAY. */
    async list(names: readonly string[], env: Record<string, string> = {}) {
      writeFileSync(folder.path('list'), `${names.join('\n')}\n`)
      const { code, stderr } = await folder.run(['import', '--format', 'names', 'list', '--date', DAY], { env })
      assert.equal(code, 0, stderr)
    },
  }
}

suite('domaindex forget', { concurrency: 2 }, () => {
  test('forget removes a name permanently, so that later imports of it are stale', async (t) => {
    const { run, observe } = installation(t)
    await observe(lineOf(1))
    const { stdout, code } = await run(['forget', nameOf(1).toUpperCase(), nameOf(2)])
    assert.deepEqual([code, stdout], [0, `${nameOf(1)}: forgotten\n${nameOf(2)}: was not known\n`])
    await run(['claim'])
    const elsewhere = await run(['forget', nameOf(2)], { env: { DOMAINDEX_FILES: 'elsewhere' } })
    assert.equal(elsewhere.code, 1)
    assert.match(elsewhere.stderr, /\(elsewhere\) is empty, or has no mark: .*; the names are forgotten in the store$/m)
    assert.match((await observe(`${lineOf(1, 1)}\n${lineOf(2)}`)).stdout, /applied 0, .* stale 2,/)
    assert.equal((await run(['check'])).code, 0)
    const refused = await run(['forget', nameOf(3), 'https://example.com/'])
    assert.match(refused.stderr, /^domaindex: "https:\/\/example\.com\/": a scheme .*; send example\.com\n$/)
  })

  test('given another process builds files, forget waits, and a signal ends it with advice', async (t) => {
    const { start, observe, withStore } = installation(t)
    await observe(lineOf(1))
    await withStore(({ jobs }) => jobs.acquireLock('daily', 'another process'))
    const child = start(['forget', nameOf(1)])
    const outcome = outcomeOf(child)
    await once(child.stderr, 'data')
    child.kill('SIGINT')
    const { stdout, stderr, ...ended } = await outcome
    assert.deepEqual([ended, stdout], [{ code: null, signal: 'SIGINT' }, `${nameOf(1)}: forgotten\n`])
    assert.equal(
      stderr,
      'waiting until another process has built the daily files\nstopped before the end; run it again to continue\n',
    )
  })

  test('forget --opted-out removes the names and suffixes of the opt-out list and nothing else', async (t) => {
    const { run, path, observe, known } = installation(t)
    const names = ['a.example', 'www.a.example', 'b.a.example', 'c.example', 'd.c.example', 'e.example']
    await observe(names.map(line).join('\n'))
    const refused = await run(['forget', '--opted-out'])
    assert.match(refused.stderr, /^domaindex: there is no opt-out list: .*DOMAINDEX_CRAWL_OPT_OUT\n$/)
    const env = { DOMAINDEX_CRAWL_OPT_OUT: 'opt-out' }
    writeFileSync(path('opt-out'), 'a.example\nnonsense')
    const bad = await run(['forget', '--opted-out'], { env })
    assert.match(bad.stderr, /^domaindex: opt-out, line 2: "nonsense" is not a name/)
    writeFileSync(path('opt-out'), 'a.example\n*.c.example\n192.0.2.0/24\nunknown.example')
    assert.equal((await run(['forget', '--opted-out'], { env })).stdout, 'checked 6 names, forgot 4\n')
    assert.equal((await run(['forget', '--opted-out'], { env })).stdout, 'checked 2 names, forgot 0\n')
    assert.deepEqual(await known(names), ['b.a.example', 'e.example'])
    assert.match((await run(['forget'])).stderr, /give the names to forget, --suffix or --opted-out/)
  })

  test('forget --suffix removes a name and all names below it, and the audit log has its digest alone', async (t) => {
    const { run, list, known } = installation(t)
    const names = ['a.example', 'b.a.example', 'c.b.a.example', 'xa.example', 'a.example.org']
    await list(names)
    const { code, stdout } = await run(['forget', '--suffix', 'a.example', '--json'])
    assert.deepEqual([code, JSON.parse(stdout)], [0, { forgotten: 3, files: [] }])
    assert.deepEqual(await known(names), ['xa.example', 'a.example.org'])
    const { log } = JSON.parse((await run(['account', 'log', '--json'])).stdout)
    const sha256 = [createHash('sha256').update('a.example').digest('hex')]
    const { action, origin, details } = log.at(-1)
    assert.deepEqual(
      [action, origin, details],
      ['names.forget', 'domaindex forget', { by: 'suffix', sha256, names: 3, files: 0 }],
    )
    assert.ok(!JSON.stringify(log).includes('a.example'))
    assert.match((await run(['forget', '--suffix', 'a.example', 'b.example'])).stderr, /either names, --suffix/)
  })

  for (const [mode, left] of [
    ['rebuild', 'b.example\n'],
    ['withdraw', null],
    ['keep', 'a.example\nb.example\n'],
  ] as const)
    test(`DOMAINDEX_FORGET_FILES=${mode}: what becomes of a finished file with the name`, async (t) => {
      const { run, list, daily } = installation(t)
      await list(['b.example', 'a.example'])
      assert.equal((await run(['build', 'daily', '--date', DAY])).code, 0)
      const env = { DOMAINDEX_FORGET_FILES: mode }
      assert.equal((await run(['forget', 'c.example'], { env })).stdout, 'c.example: was not known\n')
      assert.equal(await daily(), 'a.example\nb.example\n')
      const outcome = { rebuild: 'rebuilt', withdraw: 'withdrawn', keep: null }[mode]
      const expected = outcome === null ? '' : `${fileName('daily', DAY)}: ${outcome}\n`
      assert.equal((await run(['forget', 'a.example'], { env })).stdout, `a.example: forgotten\n${expected}`)
      assert.equal(await daily(), left)
      assert.equal((await run(['forget', 'a.example'], { env })).stdout, 'a.example: was not known\n')
    })

  test('names of the opt-out list do not come in by imports, and no file is built with them', async (t) => {
    const { run, list, observe, known, daily, path } = installation(t)
    writeFileSync(path('opt-out'), '.out.example\nx.example')
    const env = { DOMAINDEX_CRAWL_OPT_OUT: 'opt-out' }
    const names = ['a.example', 'b.out.example', 'out.example', 'x.example']
    const observed = await observe(names.map(line).join('\n'), env)
    assert.match(observed.stdout, /applied 1, .* stale 3,/)
    await list(names, env)
    assert.deepEqual(await known(names), ['a.example'])
    assert.equal((await run(['build', 'daily', '--date', DAY], { env })).code, 0)
    assert.equal(await daily(), 'a.example\n')
    const bad = await observe(line('b.example'), { DOMAINDEX_CRAWL_OPT_OUT: 'none' })
    assert.match(bad.stderr, /^domaindex: none cannot be read: the file does not exist \(DOMAINDEX_CRAWL_OPT_OUT\)\n$/)
    assert.equal(bad.code, 1)
    const refused = await run(['serve'], { env: { DOMAINDEX_CRAWL_OPT_OUT: 'none' } })
    assert.deepEqual([refused.code, refused.stderr], [1, bad.stderr])
  })
})
