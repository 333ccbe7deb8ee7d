/**
 * `npm run bench:install`: packs the project, installs the tarball into a new folder without install scripts, and runs
 * it under a simulated old Node. Needs the npm registry or npm's cache.
 */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folder = mkdtempSync(join(tmpdir(), 'domaindex-install-'))
const root = join(import.meta.dirname, '..')
const run = (program: string, args: string[], cwd = folder): string =>
  execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()

try {
  const [packed] = JSON.parse(run('npm', ['pack', '--json', '--silent', '--pack-destination', folder], root))
  const tarball = join(folder, packed.filename)
  run('npm', [
    'install',
    '--global',
    '--ignore-scripts',
    '--prefer-offline',
    '--prefix',
    join(folder, 'prefix'),
    tarball,
  ])
  const old = join(folder, 'old.mjs')
  const value = "{ value: { ...process.versions, node: '20.0.0' } }"
  writeFileSync(old, `Object.defineProperty(process, 'versions', ${value})`)
  const launcher = join(folder, 'prefix/lib/node_modules/@domaindex/domaindex/bin/domaindex.js')
  const version = run(process.execPath, ['--import', old, launcher, '--version'])
  const made = run(process.execPath, ['--import', old, launcher, 'account', 'create', 'me@example.com', '--json'])
  if (JSON.parse(made).email !== 'me@example.com') throw new Error(made)
  console.log(`domaindex ${version}: ${packed.size} bytes packed, installed without scripts, runs under an old Node`)
} finally {
  rmSync(folder, { recursive: true })
}
