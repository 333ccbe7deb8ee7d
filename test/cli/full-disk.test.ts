/** Tests disks that are nearly full, full or read-only: what pauses, what continues, and what is reported. */

import assert from 'node:assert/strict'
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { existsSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, suite, type TestContext, test } from 'node:test'
import { mountSmall, NO_MOUNT, type SmallDisk } from '../small-disk.ts'
import { TOKEN } from './account/account.ts'
import { answersOf } from './answers.ts'
import { fileOf, nameOf } from './import/lines.ts'
import { folderOf, outcomeOf } from './run.ts'

const NAMES = 9000
const SAMPLE = ['target.example', ...Array.from({ length: NAMES / 150 }, (_, index) => nameOf(index * 150))]

const roomy = folderOf({ after })
let importedWithRoom: Promise<object> | undefined

/** The answers of a store that imported the same file on a disk with room. */
function answersWithRoom(): Promise<object> {
  importedWithRoom ??= roomy
    .run(['import', '-'], { input: fileOf(NAMES) })
    .then(() => roomy.withStore((store) => answersOf(store, SAMPLE)))
  return importedWithRoom
}

/** Waits until the output of a stream matches the pattern. */
function outputMatching(stream: NodeJS.ReadableStream, pattern: RegExp): Promise<string> {
  let text = ''
  return new Promise((resolve, reject) => {
    stream.on('data', (piece) => {
      text += piece
      if (pattern.test(text)) resolve(text)
    })
    stream.on('end', () => reject(new Error(`it ended after ${text}`)))
  })
}

suite('disks without room', { concurrency: 2 }, () => {
  for (const [size, free, why] of [
    ['6m', '50%', 'before its disk is full'],
    ['3m', '1M', 'also where one transaction takes more than that'],
  ] as const)
    test(`if ${free} must stay free, ${why}, an import pauses, reports it and continues by itself`, async (t) => {
      const disk = mountSmall(t, size)
      if (disk === null) return t.skip(NO_MOUNT)
      const { start, path, withStore } = folderOf(t)
      writeFileSync(path('a.jsonl'), fileOf(NAMES))
      const env = { DOMAINDEX_STORE: `sqlite:${disk.path}/store.db`, DOMAINDEX_MIN_DISK_FREE: free }
      const child = start(['import', 'a.jsonl'], env)
      const outcome = outcomeOf(child)
      await outputMatching(child.stderr, /paused: .*DOMAINDEX_MIN_DISK_FREE|paused: no space is left/)
      assert.equal(child.exitCode, null, 'it waits')
      disk.grow()
      const { code, stdout, stderr } = await outcome
      assert.match(stderr, /^domaindex: paused: .*\n(domaindex: .*\n)*domaindex: resumed: disk space available\n$/)
      assert.deepEqual([code, /^read 9000, applied 9000, /.test(stdout)], [0, true])
      const found = await withStore((store) => answersOf(store, SAMPLE), env.DOMAINDEX_STORE)
      assert.deepEqual(found, await answersWithRoom())
    })

  test('Ctrl-C ends an import that waits for free space', async (t) => {
    const disk = mountSmall(t, '2m')
    if (disk === null) return t.skip(NO_MOUNT)
    const { start, path } = folderOf(t)
    writeFileSync(path('a.jsonl'), fileOf(NAMES))
    disk.fill(2 ** 20)
    const env = { DOMAINDEX_STORE: `sqlite:${disk.path}/store.db`, DOMAINDEX_MIN_DISK_FREE: '70%' }
    const child = start(['import', 'a.jsonl'], env)
    const outcome = outcomeOf(child)
    await outputMatching(child.stderr, /paused: /)
    child.kill('SIGINT')
    const { signal, stderr } = await outcome
    assert.equal(signal, 'SIGINT')
    assert.match(stderr, /stopped after line 0 of a\.jsonl; .*run it again to continue/)
  })

  test('a snapshot is built once there is free space', async (t) => {
    const disk = mountSmall(t, '128m')
    if (disk === null) return t.skip(NO_MOUNT)
    const { run, start } = folderOf(t)
    await run(['import', '-'], { input: fileOf(20) })
    disk.fill(80 * 2 ** 20)
    const env = { DOMAINDEX_FILES: join(disk.path, 'files'), DOMAINDEX_MIN_DISK_FREE: '100M' }
    const child = start(['build', 'snapshot'], env)
    const outcome = outcomeOf(child)
    await outputMatching(child.stderr, /paused: the disk of \S+files has less than 100 MiB free/)
    disk.clear()
    const { code, stderr } = await outcome
    assert.deepEqual([code, /resumed: disk space available/.test(stderr)], [0, true], stderr)
  })

  test('on a full disk calls are counted and answered, from the reserve of the ledger', async (t) => {
    const disk = mountSmall(t, '40m')
    if (disk === null) return t.skip(NO_MOUNT)
    const { ask, ready, store } = await serving(t, disk)
    assert.ok(existsSync(`${store}-ledger.db-reserve`))
    disk.fill()
    assert.equal(freeOf(disk), 0)
    const statuses = new Set<number>()
    for (let call = 0; call < 300; call++) statuses.add(await ask())
    assert.deepEqual([...statuses], [200], 'the log is used again where it lies')
    const reader = new DatabaseSync(`${store}-ledger.db`, { readOnly: true })
    reader.exec('begin; select * from account') // prevents the reuse of the log
    while (existsSync(`${store}-ledger.db-reserve`)) statuses.add(await ask())
    for (let call = 0; call < 50; call++) statuses.add(await ask())
    reader.close()
    assert.deepEqual([...statuses], [200], 'the reserve is freed')
    assert.equal(await ready(), 200)
  })

  test('if the ledger is not writable, readiness reports it with the cause in the log, and recovers afterwards', async (t) => {
    const disk = mountSmall(t, '40m')
    if (disk === null) return t.skip(NO_MOUNT)
    const { child, ready, ask, store } = await serving(t, disk)
    assert.equal(await ready(), 200)
    const reader = new DatabaseSync(`${store}-ledger.db`, { readOnly: true })
    reader.exec('begin; select * from account') // prevents the reuse of the log
    rmSync(`${store}-ledger.db-reserve`)
    disk.fill()
    const output = outputMatching(child.stderr, /no space is left on the disk of \S+-ledger\.db/)
    while ((await ready()) !== 503) await ask()
    await output
    reader.close()
    disk.clear()
    while ((await ready()) !== 200);
    assert.equal(await ask(), 200)
  })

  test('on a disk without any free space a command reports it, also if SQLite has no room for its -shm file', async (t) => {
    const disk = mountSmall(t, '4m')
    if (disk === null) return t.skip(NO_MOUNT)
    const { runAlone } = folderOf(t)
    const env = { DOMAINDEX_STORE: `sqlite:${disk.path}/store.db`, DOMAINDEX_MIN_DISK_FREE: 'off' }
    assert.equal((await runAlone(['import', '-'], { env, input: fileOf(5) })).code, 0)
    disk.fill()
    for (const args of [['check'], ['import', '-']]) {
      const { code, stderr } = await runAlone(args, { env, input: fileOf(9) })
      assert.match(
        stderr,
        /^domaindex: (\S+ cannot be opened: )?no space is left on the disk of \S+store(-ledger)?\.db; /,
      )
      assert.equal(code, 1)
    }
    disk.clear()
    disk.setReadOnly(true)
    const { stderr } = await runAlone(['import', '-'], { env, input: fileOf(9) })
    assert.match(
      stderr,
      /^domaindex: \S+ cannot be opened: the file system of \S+ is read-only: mount it for writing; /,
    )
  })
})

function freeOf({ path }: SmallDisk): number {
  const { bavail, bsize } = statfsSync(path)
  return bavail * bsize
}

/** Starts a server whose store is on the disk, with an account that has units left. */
async function serving(t: TestContext, disk: SmallDisk) {
  const folder = folderOf(t)
  const store = join(disk.path, 'store')
  const env = { DOMAINDEX_STORE: `sqlite:${store}.db`, DOMAINDEX_MIN_DISK_FREE: 'off' }
  await folder.run(['import', '-'], { env, input: fileOf(5) })
  const created = await folder.run(['account', 'create', 'ann@example.com', '--plan', 'premium'], { env })
  const [token] = TOKEN.exec(created.stdout)!
  const started: ChildProcessWithoutNullStreams = folder.start(['serve'], {
    ...env,
    DOMAINDEX_PORT: '0',
    DOMAINDEX_ADMIN: 'off',
    DOMAINDEX_WORKERS: '1',
    DOMAINDEX_JOB_TIMES: 'off',
    DOMAINDEX_INDEX: 'off',
    DOMAINDEX_LOG_LEVEL: 'warn',
  })
  t.after(() => started.kill('SIGKILL'))
  const [, address] = /(http:\S+)/.exec(await outputMatching(started.stdout, /http:\S+\s/))!
  const statusOf = async (url: string): Promise<number> => {
    const response = await fetch(url)
    await response.arrayBuffer()
    return response.status
  }
  return {
    child: started,
    store,
    ready: () => statusOf(`${address}/readyz`),
    ask: () => statusOf(`${address}/v1.0/lookup?token=${token}&query=${nameOf(1)}`),
  }
}
