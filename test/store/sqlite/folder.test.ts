/** Folders for the files of a store. */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createFolder } from '../../../src/store/sqlite/database/folder.ts'

test('a folder is created with its parents, and an existing one stays', async (context) => {
  const base = await mkdtemp(join(tmpdir(), 'domaindex-folder-'))
  context.after(() => rm(base, { recursive: true }))
  const deep = join(base, 'a', 'b', 'c')
  createFolder(deep)
  createFolder(deep)
  assert.ok(existsSync(deep))
})

test('if the file system cannot create folders, the error comes at once', { skip: !existsSync('/proc/self') }, () => {
  assert.throws(() => createFolder('/proc/nowhere/deep'), /ENOENT|EACCES|EPERM/)
})
