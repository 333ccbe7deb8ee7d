/**
 * `npm test`: runs all test files in groups, several groups at a time. `npm test -- FILE …` runs these files.
 */

import { globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { groupFiles } from './groups.ts'

const ROOT = join(import.meta.dirname, '../..')
/** A loaded machine takes several times as long as an idle one. */
const TEST_TIMEOUT_MS = 300_000
/** A file ends long before, also on a loaded machine. A loop that never waits would otherwise hold its group forever. */
const FILE_LIMIT_MS = 900_000
const LATE_CHECK_MS = 5_000
/** A test often waits, for a process or a clock, so more groups than cores run at once. */
const GROUPS_AT_ONCE = 6

const preloaded = ['memory-folder.ts', 'untracked-promises.ts'].map((name) => join(import.meta.dirname, name))
const named = process.argv.slice(2)
const all = globSync('test/**/*.test.ts', { cwd: ROOT }).sort()
const paths = named.length > 0 ? named.map((path) => relative(ROOT, resolve(path))) : all
const unknown = paths.find((path) => !all.includes(path))
if (unknown !== undefined) {
  console.error(`${unknown} is no test file: name files of test/ that end with .test.ts`)
  process.exit(2)
}

/** Kills a group if one of its files runs for too long. It writes its process and the file when the file begins. */
function killLate(folder: string): void {
  for (const name of globSync('*.running', { cwd: folder })) {
    const path = join(folder, name)
    if (Date.now() - statSync(path).mtimeMs < FILE_LIMIT_MS) continue
    const { pid, file } = JSON.parse(readFileSync(path, 'utf8'))
    rmSync(path)
    console.error(`${file} runs for ${FILE_LIMIT_MS / 1_000} s: its process is killed`)
    process.kill(pid, 'SIGKILL')
  }
}

/** Writes the modules that the groups' processes run. */
function writeGroups(folder: string): string[] {
  return groupFiles(paths).map((files, place) => {
    const path = join(folder, `group-${place}.mjs`)
    const absolute = files.map((file) => resolve(ROOT, file))
    const group = JSON.stringify(join(import.meta.dirname, 'group.ts'))
    const values = [absolute, `${path}.running`].map((value) => JSON.stringify(value))
    writeFileSync(path, `import { runTogether } from ${group}\nawait runTogether(${values})\n`)
    return path
  })
}

/** The files whose suites have no result yet. */
const unfinished = new Set(paths)
const folder = mkdtempSync(join(tmpdir(), 'domaindex-groups-'))
setInterval(killLate, LATE_CHECK_MS, folder).unref()
process.on('exit', () => rmSync(folder, { recursive: true }))
run({
  files: writeGroups(folder),
  concurrency: GROUPS_AT_ONCE,
  execArgv: [`--test-timeout=${TEST_TIMEOUT_MS}`, ...preloaded.flatMap((path) => ['--import', path])],
})
  .on('test:pass', ({ name }) => void unfinished.delete(name))
  .on('test:fail', ({ name, todo }) => {
    unfinished.delete(name)
    if (todo === undefined || todo === false) process.exitCode = 1
  })
  .on('end', () => {
    for (const file of unfinished) console.error(`${file} did not end`)
    if (unfinished.size > 0) process.exitCode = 1
  })
  .compose(spec)
  .pipe(process.stdout)
