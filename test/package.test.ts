/**
 * Tests package.json and package-lock.json: an install on any Node from 18 on brings Node 24, without a warning and
 * without an install script.
 */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '..')
const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8')

type Entry = { engines?: object; bin?: object; hasInstallScript?: boolean; dev?: boolean; devOptional?: boolean }
const manifest = JSON.parse(read('package.json')) as Record<string, Record<string, string>>
const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Entry> }
const PLATFORM = Object.keys(manifest.optionalDependencies!).filter((name) => name.startsWith('node-'))

test('the lock file contains nothing about Node that an older npm warns about or fails on: run node scripts/lock.ts', () => {
  const strange = Object.entries(packages).flatMap(([path, { engines, bin }]) => {
    const isPlatform = PLATFORM.some((name) => path === `node_modules/${name}`)
    return path !== '' && (engines !== undefined || (isPlatform && bin !== undefined)) ? [path] : []
  })
  assert.deepEqual(strange, [])
  assert.deepEqual(manifest.engines, { node: '>=18' })
})

test('Node is available for the machines that the launcher names, and no package of an installed one has an install script', () => {
  const [, list = ''] = /const MACHINES_WITH_NODE = \[(.*)\]/.exec(read('bin/domaindex.js'))!
  const brought = list.split(', ').map((text) => `node-${text.slice(1, -1)}`)
  assert.deepEqual(PLATFORM.toSorted(), brought.toSorted())
  const scripted = Object.entries(packages).filter(
    ([, entry]) => entry.hasInstallScript && !entry.dev && !entry.devOptional,
  )
  assert.deepEqual(scripted, [])
})

test('the node of npm scripts is the one that npm installed', () => {
  const { stdout } = spawnSync(join(ROOT, 'node_modules/.bin/node'), ['-p', 'process.versions.node'], {
    encoding: 'utf8',
  })
  assert.match(stdout, /^2[4-9]\./)
})

/** npm 7 and 8 run `npx domaindex` from there; later ones take the bin of package.json. */
test('npm ci links the command of a checkout, in a scope that nobody else publishes in', () => {
  const { version } = manifest
  const command = join(ROOT, 'node_modules/.bin/domaindex')
  assert.equal(spawnSync(command, ['--version'], { encoding: 'utf8' }).stdout, `${version}\n`)
  const names = ['package.json', 'client/package.json'].map((path) => JSON.parse(read(path)).name)
  assert.deepEqual(names, ['@domaindex/domaindex', '@domaindex/client'])
})

/** Outside of a checkout, npx would fetch a package of that name, whoever published it. */
test('no document tells a program or a user outside of a checkout to run npx with our name', () => {
  const files = globSync(['*.md', 'docs/**/*.md', 'client/*.md', 'deploy/**/*', 'src/**/*.ts', 'web/**/*.tsx'], {
    cwd: ROOT,
  })
  const started = files.flatMap((path) =>
    statSync(join(ROOT, path)).isFile() && /"npx"|'npx'|npx (-y|--yes) /.test(read(path)) ? [path] : [],
  )
  assert.deepEqual(started, [])
})

test('the client library has the version of the project, and no dependencies', () => {
  const { version, ...client } = JSON.parse(read('client/package.json')) as Record<string, unknown>
  assert.equal(version, manifest.version)
  assert.deepEqual(
    Object.keys(client).filter((key) => /dependencies/i.test(key)),
    [],
  )
})
