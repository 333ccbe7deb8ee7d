/**
 * Tests DOMAINDEX_PLANS: the commands that need the file read it, and a mistake in it ends them with file, plan and
 * key.
 */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { folderOf } from '../cli/run.ts'

test('a mistake in the file of plans ends config and serve with file, plan and key, and a correct file takes effect', async (t) => {
  const { path, run } = folderOf(t)
  const env = { DOMAINDEX_PLANS: path('plans.json'), DOMAINDEX_ADMIN: 'off' }
  const missing = await run(['config'], { env })
  assert.equal(missing.code, 1)
  assert.match(missing.stderr, /plans\.json \(DOMAINDEX_PLANS\) cannot be read: .*; correct the path, or unset it\n$/)
  writeFileSync(path('plans.json'), '{"free": {"daily_calls": -1}, "gold": {}}')
  for (const command of ['config', 'serve']) {
    const { code, stderr } = await run([command], { env })
    assert.equal(code, 1)
    const where = `domaindex: ${path('plans.json')} (DOMAINDEX_PLANS): plan`
    assert.ok(stderr.startsWith(`${where} "free", key "daily_calls": -1 must be a whole number from 0`), stderr)
    assert.ok(stderr.includes(`\n${where} "gold": it must be free, basic, premium\n`), stderr)
  }
  writeFileSync(path('plans.json'), '{"free": {"daily_calls": 7}}')
  await run(['account', 'create', 'ann@example.com'], { env })
  const { stdout } = await run(['account', 'show', 'ann@example.com', '--json'], { env })
  assert.equal(JSON.parse(stdout).limit, 7)
})
