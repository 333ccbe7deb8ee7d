/** Tests `domaindex import` as a user runs it. */

import assert from 'node:assert/strict'
import { appendFileSync, chmodSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { parseName } from '../../../src/values/domain-name.ts'
import { folderOf } from '../run.ts'
import { fileOf, lineOf, nameOf } from './lines.ts'

const counts = (stdout: string): string => stdout.replace(/ \(.*\n/, '')

suite('domaindex import', { concurrency: 2 }, () => {
  test('an import applies a file, a second import changes nothing, and a later probe confirms', async (t) => {
    const { path, run } = folderOf(t)
    writeFileSync(path('a.jsonl'), fileOf(100))
    const first = await run(['import', 'a.jsonl'])
    assert.equal(counts(first.stdout), 'read 100, applied 100, unchanged 0, stale 0, refused 0')
    assert.deepEqual([first.stderr, first.code], ['', 0])
    const second = await run(['import', 'a.jsonl'])
    assert.equal(counts(second.stdout), 'read 100, applied 0, unchanged 0, stale 100, refused 0')
    const later = fileOf(100, 3).split('\n').slice(200).join('\n')
    const third = await run(['import', '-'], { input: later })
    assert.equal(counts(third.stdout), 'read 100, applied 34, unchanged 66, stale 0, refused 0')
  })

  test('gzip with many members, zstd with many frames and plain text are detected by content, also on standard input', async (t) => {
    const { path, run } = folderOf(t)
    const halves = [fileOf(50), fileOf(100).slice(fileOf(50).length)]
    const files = { gzip: halves.map((half) => gzipSync(half)), zstd: halves.map((half) => zstdCompressSync(half)) }
    writeFileSync(path('gzip.jsonl'), Buffer.concat(files.gzip))
    writeFileSync(path('zstd.gz'), Buffer.concat(files.zstd))
    assert.match((await run(['import', 'gzip.jsonl'])).stdout, /^read 100, applied 100, /)
    assert.match((await run(['import', 'zstd.gz'])).stdout, /^read 100, .* stale 100, refused 0/)
    assert.match((await run(['import', '-'], { input: Buffer.concat(files.gzip) })).stdout, /^read 100, .* stale 100/)
  })

  test('rejected lines are reported with number and reason and written by --rejects, and the other lines are applied', async (t) => {
    const { path, run, withStore } = folderOf(t)
    const ahead = lineOf(3).replace('2026-01-01', '2999-01-01')
    const lines = [lineOf(1), '{"domain":', '', lineOf(2).replace('"ok"', '7'), ahead, '\ufeff', lineOf(4)]
    writeFileSync(path('bad.jsonl'), `${lines.join('\r\n')}\n`)
    appendFileSync(path('bad.jsonl'), Buffer.from([0x22, 0xff, 0x22]))
    const { code, stdout, stderr } = await run(['import', 'bad.jsonl', '--rejects', 'rejects.jsonl'])
    assert.deepEqual([code, counts(stdout)], [3, 'read 7, applied 2, unchanged 0, stale 0, refused 5'])
    const rejects = readFileSync(path('rejects.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(
      rejects.map(({ line }) => line),
      [2, 4, 5, 6, 8],
    )
    assert.deepEqual(
      stderr.trim().split('\n'),
      rejects.map(({ line, reason }) => `line ${line}: ${reason}`),
    )
    assert.match(rejects[0].reason, /JSON/)
    assert.match(rejects[1].reason, /^dns\.status: /)
    assert.match(rejects[2].reason, /^observed_at: .*5 minutes ahead/)
    assert.match(rejects[4].reason, /UTF-8/)
    assert.deepEqual([rejects[2].length, rejects[2].text], [ahead.length + 1, `${ahead}\r`])
    assert.ok(await withStore(({ facts }) => facts.lookup(parseName(nameOf(4))!)))
  })

  test('a line of 100 MB is rejected with its length and its first 4 KiB, and the other lines are applied', async (t) => {
    const { path, run } = folderOf(t)
    writeFileSync(path('long.jsonl'), '{"domain":"example.com"')
    truncateSync(path('long.jsonl'), 100_000_000)
    appendFileSync(path('long.jsonl'), `\n${lineOf(1)}`)
    const { code, stdout } = await run(['import', 'long.jsonl', '--rejects', 'rejects.jsonl'])
    assert.deepEqual([code, counts(stdout)], [3, 'read 2, applied 1, unchanged 0, stale 0, refused 1'])
    const reject = JSON.parse(readFileSync(path('rejects.jsonl'), 'utf8'))
    assert.deepEqual([reject.line, reject.length, reject.text.length], [1, 100_000_000, 4096])
  })

  test('if a gzip or zstd file is truncated, the complete part is applied and the command fails', async (t) => {
    const { path, run } = folderOf(t)
    const whole = gzipSync(fileOf(2000))
    writeFileSync(path('cut.gz'), whole.subarray(0, whole.length / 2))
    const { code, stdout, stderr } = await run(['import', 'cut.gz'])
    const [, read, applied] = /^read (\d+), applied (\d+), .* refused 0/.exec(stdout) ?? []
    assert.ok(Number(read) > 100 && read === applied, stdout)
    assert.deepEqual([code, stderr], [1, `domaindex: cut.gz: the gzip data is cut off; applied up to line ${read}\n`])
    writeFileSync(path('cut.zst'), zstdCompressSync(fileOf(2000)).subarray(0, -1))
    assert.match((await run(['import', 'cut.zst'])).stderr, /cut\.zst: the zstd data is cut off/)
    writeFileSync(path('empty.gz'), '')
    assert.equal((await run(['import', 'empty.gz'])).code, 1)
  })

  test('--strict stops at the first rejected line and applies nothing of its batch', async (t) => {
    const { path, run } = folderOf(t)
    writeFileSync(path('a.jsonl'), `${lineOf(1)}\n{}\n${lineOf(2)}\n`)
    const { code, stdout, stderr } = await run(['import', '--strict', 'a.jsonl'])
    assert.deepEqual([code, counts(stdout)], [3, 'read 1, applied 0, unchanged 0, stale 0, refused 1'])
    assert.match(stderr, /line 2: domain.*\nstopped at line 2 of a\.jsonl/)
  })

  test('an unreadable file and an unwritable rejects file are refused before a store is created', async (t) => {
    const { path, run } = folderOf(t)
    mkdirSync(path('folder'))
    writeFileSync(path('a.jsonl'), lineOf(1))
    for (const [args, words] of [
      [['nowhere.jsonl'], /^domaindex: nowhere\.jsonl cannot be read: no such file/],
      [['folder'], /^domaindex: folder cannot be read: it is a folder/],
      [['a.jsonl', '--rejects', 'a.jsonl'], /^domaindex: a\.jsonl is the file that is imported/],
      [['a.jsonl', '--rejects', 'nowhere/rejects'], /^domaindex: nowhere\/rejects cannot be written/],
    ] as const) {
      const { code, stderr } = await run(['import', ...args])
      assert.match(stderr, words)
      assert.deepEqual([code, stderr.split('\n').length], [1, 2])
    }
    assert.throws(() => readFileSync(path('store.db')))
  })

  test('a file without read permission is refused', {
    skip: process.getuid?.() === 0 && 'root may read every file',
  }, async (t) => {
    const { path, run } = folderOf(t)
    writeFileSync(path('a.jsonl'), lineOf(1))
    chmodSync(path('a.jsonl'), 0)
    assert.match((await run(['import', 'a.jsonl'])).stderr, /a\.jsonl cannot be read: permission denied/)
  })

  test('a store of a newer release and a file that is not a store are refused with one line', async (t) => {
    const { path, run, withStore } = folderOf(t)
    writeFileSync(path('a.jsonl'), lineOf(1))
    await withStore(async () => {})
    const { DatabaseSync } = await import('node:sqlite')
    const database = new DatabaseSync(path('store.db'))
    database.exec(`insert into migration values (9999, '9999-later.sql', '', '')`)
    database.close()
    const newer = await run(['import', 'a.jsonl'])
    assert.match(newer.stderr, /^domaindex: .*9999-later\.sql.* newer domaindex\n$/)
    const { code, stderr } = await run(['import', 'a.jsonl'], { env: { DOMAINDEX_STORE: 'sqlite:a.jsonl' } })
    assert.match(
      stderr,
      /^domaindex: .*a\.jsonl cannot be opened: .*not a database: set DOMAINDEX_STORE to another file\n$/,
    )
    assert.deepEqual([code, newer.code], [1, 1])
  })
})
