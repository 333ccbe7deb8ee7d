/** Tests complete imports of the two real files. An independent script determined their counts. */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { faultsOf } from '../answers.ts'
import { folderOf } from '../run.ts'

const FOLDER = fileURLToPath(new URL('../../../../shared/data/observations/', import.meta.url))
const FILES = [
  ['gov-zone-2023-2025.jsonl.gz', 'read 20489, applied 20365, unchanged 63, stale 61, refused 0', 0],
  // Line 15,048 has two mail servers in one, with a space between them.
  ['registry-2020-2025.jsonl.gz', 'read 30528, applied 29813, unchanged 714, stale 0, refused 1', 3],
] as const

suite('the real files', { concurrency: 2, skip: !existsSync(FOLDER) && 'the sample data is not here' }, () => {
  for (const [file, counts, exitCode] of FILES) {
    test(`${file} is imported completely, and check finds nothing`, async (t) => {
      const { run, withStore } = folderOf(t)
      const { code, stdout } = await run(['import', `${FOLDER}${file}`])
      assert.deepEqual([stdout.replace(/ \(.*\n/, ''), code], [counts, exitCode])
      assert.deepEqual(await withStore(faultsOf), [])
    })
  }
})
