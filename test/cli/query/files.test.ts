/** `domaindex daily` and `snapshot` download files, resume them, and bring a folder up to date. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, suite, type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { EXIT_CODES } from '../../../src/cli/program/client-fault.ts'
import { openFolderFileStore } from '../../../src/jobs/file-store/folder.ts'
import { makeAccount, serverOf } from '../../api/server.ts'
import { listOf, noise, publish } from '../../spec/files/files.ts'
import { until } from '../../until.ts'
import { outcomeOf } from '../run.ts'

const { run, start, path, serve, withStore } = serverOf({ after } as never)
const lookup = { domain: 'example.com', observed_at: '2026-11-01T00:00:00Z', dns: { status: 'ok', A: ['192.0.2.1'] } }

assert.equal((await run(['import', '-'], { input: JSON.stringify(lookup) })).code, 0)
const { token, free } = await withStore(async (store) => ({
  token: (await makeAccount(store, 'local')).token,
  free: (await makeAccount(store, 'free')).token,
}))
const { address: server, log } = await serve({ DOMAINDEX_WORKERS: '1' })
const world = { fileStore: openFolderFileStore(path('data/files')) } as never
const LARGE = noise(3_000_000)
await publish(world, '2026-11-17.txt.gz', listOf('old.example'))
await publish(world, '2026-11-18.txt.gz', LARGE)
await publish(world, '2026-11-20.txt.gz', listOf('new.example'))
await publish(world, '2026-11-10-followup-7.csv.gz', listOf('domain'))
await publish(world, 'domains-2026-11-20.txt.gz', listOf('example.com'), { rows: 1 })

const REMOTE = { DOMAINDEX_SERVER: server, DOMAINDEX_TOKEN: token }
const LOCAL = {}
const etagOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex').slice(0, 32)

/** A server with one file, of whose first response only half arrives. */
async function halfServer(t: TestContext) {
  const ranges: (string | undefined)[] = []
  const entry = { name: '2026-11-18.txt.gz', kind: 'daily', date: '2026-11-18', rows: 1, bytes: LARGE.length }
  const files = [{ ...entry, etag: `"${etagOf(LARGE)}"`, last_modified: '2026-11-19T02:00:00Z' }]
  const server = createServer(({ url, headers }, response) => {
    if (!url?.endsWith('.gz')) return response.end(JSON.stringify({ files, next: null }))
    ranges.push(headers.range)
    const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0)
    const digest = createHash('sha256').update(LARGE).digest('base64')
    response.writeHead(headers.range === undefined ? 200 : 206, {
      ETag: `"${etagOf(LARGE)}"`,
      'Repr-Digest': `sha-256=:${digest}:`,
      'Content-Length': LARGE.length - from,
      ...(from > 0 && { 'Content-Range': `bytes ${from}-${LARGE.length - 1}/${LARGE.length}` }),
    })
    if (from === 0) return response.write(LARGE.subarray(0, LARGE.length / 2))
    return response.end(LARGE.subarray(from))
  })
  server.listen(0, '127.0.0.1')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  await until(() => server.listening)
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ranges }
}

type SyncRow = { date: string; state: string; bytes?: number }
const rowsOf = (stdout: string): SyncRow[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
const statesOf = (stdout: string): string[] => rowsOf(stdout).map(({ date, state }) => `${date} ${state}`)

suite('daily and snapshot', { concurrency: 2 }, () => {
  for (const [from, env] of [
    ['a server', REMOTE],
    ['the local store', LOCAL],
  ] as const) {
    test(`from ${from}, the file of a day is saved under its name, or written to standard output`, async () => {
      const output = path(`daily-${from}`)
      mkdirSync(output)
      const { code, stdout, stderr } = await run(['daily', '2026-11-18', '--output', output], { env })
      assert.deepEqual([code, stderr], [0, ''])
      const [row] = rowsOf(stdout)
      assert.deepEqual([row?.date, row?.state, row?.bytes], ['2026-11-18', 'fetched', LARGE.length])
      assert.deepEqual(readdirSync(output), ['2026-11-18.txt.gz'])
      assert.ok(readFileSync(`${output}/2026-11-18.txt.gz`).equals(LARGE))
      const followup = await run(['daily', '2026-11-10', '--followup', '7', '--output', `${output}/f`], { env })
      assert.equal(followup.code, 0, followup.stderr)
      assert.equal(gunzipSync(readFileSync(`${output}/f`)).toString(), 'domain\n')
      const piped = await run(['daily', '2026-11-20', '--output', '-'], { env })
      assert.ok(piped.stdout.length > 0)
      const missing = await run(['daily', '2026-11-19', '--output', output], { env })
      assert.deepEqual([missing.code, missing.stdout], [EXIT_CODES.noData[0], ''])
    })

    test(`from ${from}, the snapshot is reported and downloaded`, async () => {
      const report = await run(['snapshot'], { env })
      const { filename, domains, format } = JSON.parse(report.stdout)
      assert.deepEqual([filename, domains, format, report.code], ['domains-2026-11-20.txt.gz', 1, 'names', 0])
      const output = path(`snapshot-${from}`)
      const { code, stderr } = await run(['snapshot', '--download', '--output', output], { env })
      assert.deepEqual([code, stderr], [0, ''])
      assert.equal(gunzipSync(readFileSync(output)).toString(), 'example.com\n')
      assert.equal((await run(['snapshot', '--enriched'], { env })).code, EXIT_CODES.noData[0])
    })

    test(`from ${from}, sync fetches what a folder lacks, and says which days have no file`, async () => {
      const folder = path(`sync-${from}`)
      const sync = (...args: string[]) => run(['daily', '--sync', folder, '--until', '2026-11-20', ...args], { env })
      const first = await sync()
      assert.deepEqual(statesOf(first.stdout), [
        '2026-11-17 fetched',
        '2026-11-18 fetched',
        '2026-11-19 missing',
        '2026-11-20 fetched',
      ])
      assert.equal(first.code, EXIT_CODES.partial[0])
      assert.equal(first.stderr, 'domaindex: 3 fetched, 0 already there, 1 without a file\n')
      const again = await sync('--since', '2026-11-20')
      assert.deepEqual([again.stdout, again.code], ['', 0])
      writeFileSync(`${folder}/2026-11-20.txt.gz`, 'shorter')
      utimesSync(`${folder}/2026-11-17.txt.gz`, 1, 1)
      assert.deepEqual(statesOf((await sync()).stdout), [
        '2026-11-17 fetched',
        '2026-11-19 missing',
        '2026-11-20 fetched',
      ])
      const none = await sync('--since', '2026-11-19', '--until', '2026-11-19')
      assert.deepEqual([statesOf(none.stdout), none.code], [['2026-11-19 missing'], EXIT_CODES.noData[0]])
      assert.deepEqual(
        readdirSync(folder).map((name) => [name, statSync(`${folder}/${name}`).mode & 0o777]),
        ['17', '18', '20'].map((day) => [`2026-11-${day}.txt.gz`, 0o600]),
      )
    })
  }

  test('a stopped download continues where it was, by a range', async () => {
    const folder = path('resumed')
    mkdirSync(folder)
    writeFileSync(`${folder}/2026-11-18.txt.gz.${etagOf(LARGE)}.part`, LARGE.subarray(0, 2_000_000))
    const parts = () => log().filter(({ status }) => status === 206).length
    const before = parts()
    const { code, stderr } = await run(['daily', '2026-11-18', '--output', folder], { env: REMOTE })
    assert.equal(code, 0, stderr)
    assert.ok(readFileSync(`${folder}/2026-11-18.txt.gz`).equals(LARGE))
    assert.deepEqual(readdirSync(folder), ['2026-11-18.txt.gz'])
    await until(() => parts() === before + 1) // the log has the line when the response is closed
  })

  test('a sync that is stopped within a file keeps the part, and the next one fetches only the rest', async (t) => {
    const sent = await halfServer(t)
    const folder = path('stopped')
    const args = ['daily', '--sync', folder, '--since', '2026-11-18', '--until', '2026-11-18']
    const env = { DOMAINDEX_SERVER: sent.address, DOMAINDEX_TOKEN: token }
    const child = start(args, env)
    const outcome = outcomeOf(child)
    const part = `${folder}/2026-11-18.txt.gz.${etagOf(LARGE)}.part`
    await until(() => statSync(part, { throwIfNoEntry: false })?.size === LARGE.length / 2)
    child.kill('SIGINT')
    const { signal, stdout } = await outcome
    assert.deepEqual([signal, stdout], ['SIGINT', ''])
    assert.deepEqual(readdirSync(folder), [`2026-11-18.txt.gz.${etagOf(LARGE)}.part`])
    const { code, stderr } = await run(args, { env })
    assert.deepEqual([code, stderr], [0, 'domaindex: 1 fetched, 0 already there, 0 without a file\n'])
    assert.ok(readFileSync(`${folder}/2026-11-18.txt.gz`).equals(LARGE))
    assert.deepEqual(sent.ranges, [undefined, `bytes=${LARGE.length / 2 - 1}-`])
  })

  test('the part of another file is not continued, and bytes with a wrong digest are never renamed', async () => {
    const folder = path('changed')
    mkdirSync(folder)
    const name = `${folder}/2026-11-18.txt.gz`
    writeFileSync(`${name}.${etagOf(Buffer.from('x'))}.part`, 'another file')
    assert.equal((await run(['daily', '2026-11-18', '--output', folder], { env: REMOTE })).code, 0)
    assert.deepEqual(readdirSync(folder), ['2026-11-18.txt.gz'])
    const wrong = `${folder}/wrong`
    writeFileSync(`${wrong}.${etagOf(LARGE)}.part`, Buffer.alloc(1_000_000))
    const { code } = await run(['daily', '2026-11-18', '--output', wrong], { env: REMOTE })
    assert.equal(code, EXIT_CODES.network[0])
    assert.equal(existsSync(wrong), false)
    assert.equal((await run(['daily', '2026-11-18', '--output', wrong], { env: REMOTE })).code, 0)
    assert.ok(readFileSync(wrong).equals(LARGE))
  })

  test('an account without the plan gets its exit code', async () => {
    const env = { ...REMOTE, DOMAINDEX_TOKEN: free }
    for (const args of [['daily', '2026-11-18'], ['daily', '--sync', path('never')], ['snapshot']]) {
      const { code, stdout } = await run(args, { env })
      assert.deepEqual([code, stdout], [EXIT_CODES.plan[0], ''])
    }
  })
})
