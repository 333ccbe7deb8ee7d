/** The file store in a folder: the conformance suite, and the state after kill -9. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parseFileName } from '../../../src/jobs/file-store/file-store.ts'
import { openFolderFileStore } from '../../../src/jobs/file-store/folder.ts'
import { inForm } from '../../long.ts'
import { bytes, contentOf, description, fileStoreConformance, NAME, nameOf, pieces } from './conformance.ts'

const KILLED = fileURLToPath(new URL('writer-killed.ts', import.meta.url))

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-shelf-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

fileStoreConformance({
  name: 'folder',
  async open(t) {
    const folder = join(folderOf(t), 'files')
    return { fileStore: openFolderFileStore(folder), another: () => openFolderFileStore(folder) }
  },
})

/** The steps from one that is tried to the next. The first one is random. */
const STRIDE = inForm(3, 1)

/** Publishes in a process that is killed before a step. Returns true if there is no such step. */
async function publishKilled(folder: string, step: number): Promise<boolean> {
  const run = promisify(execFile)(process.execPath, [KILLED, folder, String(step)])
  return run.then(
    () => true,
    ({ signal }) => {
      assert.equal(signal, 'SIGKILL')
      return false
    },
  )
}

for (const former of [true, false]) {
  test(`kill -9 at any step, ${former ? 'over a former file' : 'of a first file'}: no partial file is visible, and the next run starts clean`, async (t) => {
    const outcomes = new Set<number | undefined>()
    const tryStep = async (step: number): Promise<boolean> => {
      const folder = folderOf(t)
      const fileStore = openFolderFileStore(folder)
      if (former) await fileStore.publish(NAME, pieces(bytes(1_000)), () => description())
      const isWhole = await publishKilled(folder, step)
      const length = (await contentOf(fileStore))?.length
      assert.ok(length === 300_000 || (!isWhole && length === (former ? 1_000 : undefined)), `step ${step}: ${length}`)
      outcomes.add(length)
      await fileStore.publish(NAME, pieces(bytes(2_000)), () => description())
      assert.equal((await contentOf(fileStore))!.length, 2_000)
      assert.equal(readdirSync(join(folder, 'daily')).length, 2, `step ${step}`)
      return isWhole
    }
    let step = randomInt(1, STRIDE + 1)
    for (; !(await Promise.all([tryStep(step), tryStep(step + STRIDE)])).includes(true); step += 2 * STRIDE);
    assert.ok(step + STRIDE > 12, `${step} steps`)
    assert.deepEqual([...outcomes], [former ? 1_000 : undefined, 300_000])
  })
}

test('temporary files of another machine are kept for a day', async (t) => {
  const folder = folderOf(t)
  mkdirSync(join(folder, 'daily'))
  const left = (name: string) => join(folder, 'daily', `2026-11-18.txt.gz.elsewhere.1.${name}`)
  for (const name of ['aaaaaaaaaaaa', 'bbbbbbbbbbbb']) writeFileSync(left(name), 'half')
  const longAgo = Date.now() / 1000 - 90_000
  utimesSync(left('bbbbbbbbbbbb'), longAgo, longAgo)
  await openFolderFileStore(folder).publish(NAME, pieces(bytes(1)), () => description())
  const entries = readdirSync(join(folder, 'daily'))
  assert.equal(entries.length, 3)
  assert.ok(entries.includes('2026-11-18.txt.gz.elsewhere.1.aaaaaaaaaaaa'))
})

test('files of other programs are kept', async (t) => {
  const folder = folderOf(t)
  mkdirSync(join(folder, 'daily'))
  for (const name of ['README', 'x.json', '.keep']) writeFileSync(join(folder, 'daily', name), 'x')
  const fileStore = openFolderFileStore(folder)
  await fileStore.publish(NAME, pieces(bytes(1)), () => description())
  assert.equal((await fileStore.list('daily')).length, 1)
  assert.equal(readdirSync(join(folder, 'daily')).length, 5)
})

test('damaged or missing data is an error that names the file and says what to do', async (t) => {
  const folder = folderOf(t)
  const fileStore = openFolderFileStore(folder)
  await fileStore.publish(NAME, pieces(bytes(10)), () => description())
  const data = join(folder, 'daily', readdirSync(join(folder, 'daily')).find((name) => !name.endsWith('.json'))!)
  truncateSync(data, 9)
  await assert.rejects(
    fileStore.open(NAME),
    /^BuildFault: .*2026-11-19\.txt\.gz\.json: .* has 9 bytes instead of 10\. Remove that manifest/,
  )
  rmSync(data)
  await assert.rejects(fileStore.open(NAME), /2026-11-19\.txt\.gz\.json: .* is missing\. Remove/)
  writeFileSync(join(folder, 'daily', '2026-11-19.txt.gz.json'), '{')
  await assert.rejects(fileStore.manifest(NAME), /2026-11-19\.txt\.gz\.json: it is not a manifest\. Remove/)
})

for (const [text, kind] of [
  ['2026-11-19.txt.gz', 'daily'],
  ['2026-11-19-followup-7.csv.gz', 'followup-7'],
  ['2026-11-19-followup-30.csv.gz', 'followup-30'],
  ['domains-2026-11-20.txt.gz', 'snapshot'],
  ['domains-enriched-2026-11-20.csv.gz', 'enriched'],
] as const) {
  test(`${text} is the name of a file: ${kind}`, () => {
    assert.deepEqual(parseFileName(text), { name: nameOf(text), kind, date: /\d{4}-\d\d-\d\d/.exec(text)![0] })
  })
}

for (const text of [
  '',
  '2026-11-19',
  '2026-02-29.txt.gz',
  '2026-11-19.txt',
  '2026-11-19.csv.gz',
  '2026-11-19-followup-14.csv.gz',
  'domains-2026-11-20.csv.gz',
  'Domains-2026-11-20.txt.gz',
  '../2026-11-19.txt.gz',
  'daily/2026-11-19.txt.gz',
  '2026-11-19.txt.gz.json',
  ' 2026-11-19.txt.gz',
  '2026-11-19.txt.gz\n',
]) {
  test(`${JSON.stringify(text)} is not a file name`, () => assert.equal(parseFileName(text), null))
}

test('if the working directory is gone, a file in a relative folder is an error, and no endless try', async (t) => {
  const program = `
    import { rmdirSync } from 'node:fs'
    import { openFolderFileStore } from '${new URL('../../../src/jobs/file-store/folder.ts', import.meta.url)}'
    const store = openFolderFileStore('files')
    rmdirSync(process.cwd())
    await store.publish('${NAME}', (async function* () {})(), () => ({})).catch(({ code }) => console.log(code))`
  const args = ['--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folderOf(t) })
  assert.equal(stdout, 'ENOENT\n')
})
