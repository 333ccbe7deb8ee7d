/** Packs the client library as a release does, and installs the package in an empty project. */

import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const ROOT = join(import.meta.dirname, '../../..')
/** Imports the package and uses it. */
const CONSUMER = join(import.meta.dirname, 'consumer.mjs')

/** Makes a project in a folder that has the package and the consumer. Returns the path of the consumer. */
export function installClient(folder: string): string {
  const checkout = join(folder, 'checkout')
  cpSync(join(ROOT, 'client'), join(checkout, 'client'), {
    recursive: true,
    filter: (path) => !['dist', 'node_modules'].includes(basename(path)),
  })
  for (const name of ['package.json', 'tsconfig.json']) cpSync(join(ROOT, name), join(checkout, name))
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'))
  const [packed] = JSON.parse(npm(checkout, 'pack', '-w', '@domaindex/client', '--json', '--pack-destination', folder))

  const project = join(folder, 'project')
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }')
  npm(project, 'install', '--offline', '--no-audit', '--no-fund', join(folder, packed.filename))
  cpSync(CONSUMER, join(project, 'consumer.mjs'))
  return join(project, 'consumer.mjs')
}

/** Runs npm with a cache of its own. Returns its output. */
function npm(cwd: string, ...args: string[]): string {
  const env = { ...process.env, npm_config_cache: join(cwd, '.npm'), npm_config_loglevel: 'error' }
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd, env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm ${args.join(' ')} failed: ${stderr}`)
  return stdout
}
