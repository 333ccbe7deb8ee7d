/** What is loaded before every test file: an error that nobody catches still fails the file. */

import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const LOADED = fileURLToPath(new URL('./plain-promises.ts', import.meta.url))

for (const [what, deed, code] of [
  ['fails by an error that nobody catches', 'setImmediate(() => { throw new Error("lost") })', 1],
  ['fails by a rejection that nobody catches', 'Promise.reject(new Error("lost"))', 1],
  ['passes without one', '', 0],
] as const) {
  test(`a test file ${what}`, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'plain-promises-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'a.test.mjs')
    const body = `${deed}; await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))`
    writeFileSync(file, `import { test } from 'node:test'\ntest('one', async () => { ${body} })`)
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    for (const how of [[], ['--test']]) {
      const { status, stdout } = spawnSync(process.execPath, [...how, '--import', LOADED, file], {
        env,
        encoding: 'utf8',
      })
      assert.equal(status, code, stdout)
      if (code !== 0) assert.match(stdout, /lost/)
    }
  })
}

test('hooks of the tests themselves are as ever', () => {
  const hook = createHook({})
  assert.equal(hook.enable().disable(), hook)
})
