/** Tests `domaindex build snapshot`: the files that it builds, and what it rejects. */

import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type FileKind, fileName } from '../../../src/jobs/file-store/file-store.ts'
import { openFolderFileStore } from '../../../src/jobs/file-store/folder.ts'
import type { Day } from '../../../src/values/time.ts'
import { fileOf, nameOf } from '../import/lines.ts'
import { folderOf } from '../run.ts'

const NAMES = 50

suite('build snapshot', { concurrency: 2 }, () => {
  test('builds both editions of the imported names and keeps as many as the setting allows', async (t) => {
    const { run, path } = folderOf(t)
    const env = { DOMAINDEX_FILES: path('files'), DOMAINDEX_SNAPSHOTS_KEPT: '1' }
    await run(['import', '-'], { input: fileOf(NAMES, 1) })
    for (const day of ['2026-01-01', '2026-01-02']) {
      const { code, stdout, stderr } = await run(['build', 'snapshot', '--date', day], { env })
      assert.deepEqual([code, stderr], [0, ''])
      assert.match(
        stdout,
        new RegExp(`^domains-${day}.txt.gz: 50 names, \\d+ bytes\ndomains-enriched-${day}.csv.gz: 50 `),
      )
    }
    const fileStore = openFolderFileStore(path('files'))
    const sorted = Array.from({ length: NAMES }, (_, n) => nameOf(n)).sort()
    for (const kind of ['snapshot', 'enriched'] satisfies FileKind[]) {
      const [manifest, ...others] = await fileStore.list(kind)
      assert.deepEqual([manifest?.name, others.length], [fileName(kind, '2026-01-02' as Day), 0])
      assert.deepEqual([manifest?.rows, manifest?.first, manifest?.last], [NAMES, sorted[0], sorted.at(-1)])
    }
  })

  test('rejects an invalid day, a day in the future and a missing store', async (t) => {
    const { run, withStore } = folderOf(t)
    assert.match((await run(['build', 'snapshot'])).stderr, /^domaindex: there is no store at .*: import a file/)
    await withStore(async () => {})
    const wrong = await run(['build', 'snapshot', '--date', '2026-02-30'])
    assert.match(
      wrong.stderr,
      /^domaindex: option '--date <day>' argument '2026-02-30' is invalid. It must be a day such as/,
    )
    const later = await run(['build', 'snapshot', '--date', '9999-01-01'])
    assert.match(later.stderr, /^domaindex: 9999-01-01 is in the future: today is \d{4}-\d\d-\d\d \(UTC\)\n$/)
    assert.deepEqual([wrong.code, later.code], [2, 1])
  })
})
