/** `domaindex export`: to standard output and to files, which an import reads. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { fileOf } from './import/lines.ts'
import { folderOf } from './run.ts'

test('an export is whole under its name, gzipped if the name says so, and an import restores the store', async (t) => {
  const { run, path } = folderOf(t)
  await run(['import', '-'], { input: fileOf(300, 2) })
  const plain = await run(['export', 'observations'])
  assert.equal(plain.code, 0, plain.stderr)
  const file = path('all.jsonl.gz')
  const { code, stdout } = await run(['export', 'observations', '--output', file, '--json'])
  assert.equal(code, 0)
  const text = gunzipSync(readFileSync(file)).toString()
  assert.equal(text, plain.stdout)
  assert.deepEqual(JSON.parse(stdout), { names: 300, lines: text.split('\n').length - 1, unread: 0 })
  assert.deepEqual(
    readdirSync(dirname(file)).filter((name) => name.includes('.part')),
    [],
  )
  const other = folderOf(t)
  assert.match((await other.run(['import', file])).stdout, /refused 0/)
  assert.equal((await other.run(['export', 'observations'])).stdout, text)
  assert.equal((await other.run(['check'])).code, 0)
})

test('passive DNS is exported, and imports again', async (t) => {
  const { run, path } = folderOf(t)
  await run(['import', '-'], { input: fileOf(50, 2) })
  const file = path('pdns.jsonl')
  assert.match((await run(['export', 'cof', '--output', file])).stdout, /^wrote \d+ lines of 50 names to /)
  const [line] = readFileSync(file, 'utf8').split('\n')
  assert.deepEqual(Object.keys(JSON.parse(line!)), ['rrname', 'rrtype', 'rdata', 'time_first', 'time_last'])
  const other = folderOf(t)
  assert.match((await other.run(['import', '--format', 'cof', file])).stdout, /refused 0/)
})

test('a table is written as a Parquet file, and only to a file', async (t) => {
  const { run, path } = folderOf(t)
  await run(['import', '-'], { input: fileOf(20) })
  const file = path('domains.parquet')
  const written = await run(['export', 'parquet', '--output', file])
  assert.equal(written.stdout, `wrote 20 rows of 20 names to ${file}\n`)
  const bytes = readFileSync(file)
  assert.deepEqual([bytes.subarray(0, 4).toString(), bytes.subarray(-4).toString()], ['PAR1', 'PAR1'])
  const refused = await run(['export', 'parquet'])
  assert.deepEqual([refused.code, refused.stderr], [2, 'domaindex: parquet needs --output\n'])
})

test('a reader that closes the pipe ends the export quietly', async (t) => {
  const { run, start } = folderOf(t)
  await run(['import', '-'], { input: fileOf(3_000) })
  const child = start(['export', 'observations'], {})
  let errors = ''
  child.stderr.on('data', (chunk) => (errors += chunk))
  await once(child.stdout, 'data')
  child.stdout.destroy()
  const [code] = await once(child, 'exit')
  assert.deepEqual([code, errors], [0, ''])
  assert.equal((await run(['export', 'cof'])).code, 0, 'its lock is released')
})

test('wrong usage, a missing store and a folder that does not exist are said plainly', async (t) => {
  const { run, path } = folderOf(t)
  assert.equal((await run(['export', 'nonsense'])).code, 2)
  assert.match((await run(['export', 'cof'])).stderr, /^domaindex: there is no store/)
  await run(['import', '-'], { input: fileOf(3) })
  assert.match((await run(['export', 'cof', '--json'])).stderr, /--json needs --output/)
  const missing = await run(['export', 'cof', '--output', path('none/file.jsonl')])
  assert.equal(missing.code, 1)
  assert.match(missing.stderr, /^domaindex: .*none\/file\.jsonl/)
  assert.ok(!existsSync(path('none')))
})
