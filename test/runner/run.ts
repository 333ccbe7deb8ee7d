/**
 * `npm test`: runs all test files in groups, several groups at a time. `npm test -- FILE …` runs these files.
 */

import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { groupFiles } from './groups.ts'

const ROOT = join(import.meta.dirname, '../..')
/** A loaded machine takes several times as long as an idle one. */
const TEST_TIMEOUT_MS = 300_000
/** A test often waits, for a process or a clock, so more groups than cores run at once. */
const GROUPS_AT_ONCE = 6

const preloaded = ['memory-folder.ts', 'untracked-promises.ts'].map((name) => join(import.meta.dirname, name))
const named = process.argv.slice(2)
const paths = named.length > 0 ? named : globSync('test/**/*.test.ts', { cwd: ROOT }).sort()

/** Writes the modules that the groups' processes run. */
function writeGroups(folder: string): string[] {
  return groupFiles(paths).map((files, place) => {
    const path = join(folder, `group-${place}.mjs`)
    const absolute = files.map((file) => resolve(ROOT, file))
    const group = JSON.stringify(join(import.meta.dirname, 'group.ts'))
    writeFileSync(path, `import { runTogether } from ${group}\nawait runTogether(${JSON.stringify(absolute)})\n`)
    return path
  })
}

const folder = mkdtempSync(join(tmpdir(), 'domaindex-groups-'))
process.on('exit', () => rmSync(folder, { recursive: true }))
run({
  files: writeGroups(folder),
  concurrency: GROUPS_AT_ONCE,
  execArgv: [`--test-timeout=${TEST_TIMEOUT_MS}`, ...preloaded.flatMap((path) => ['--import', path])],
})
  .on('test:fail', ({ todo }) => {
    if (todo === undefined || todo === false) process.exitCode = 1
  })
  .compose(spec)
  .pipe(process.stdout)
