/** Tests the groups of test files: each file runs once, and the tables name what is there. */

import assert from 'node:assert/strict'
import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ALONE, FOLDERS, groupFiles } from './groups.ts'

const ROOT = join(import.meta.dirname, '../..')

test('each test file is in one group, and some are alone in it', () => {
  const files = globSync('test/**/*.test.ts', { cwd: ROOT })
  const groups = groupFiles(files)
  assert.deepEqual(groups.flat().toSorted(), files.toSorted())
  for (const path of ALONE)
    assert.ok(
      groups.some((files) => files.length === 1 && files[0] === path),
      path,
    )
})

test('every file and folder that has a group exists', () => {
  assert.deepEqual(
    [...ALONE, ...FOLDERS].filter((path) => !existsSync(join(ROOT, path))),
    [],
  )
})
