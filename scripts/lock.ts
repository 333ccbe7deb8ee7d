/** Takes out of package-lock.json what npm of an older Node stumbles over. Run it after every change of a dependency. */

import { readFileSync, writeFileSync } from 'node:fs'

const LOCK = new URL('../package-lock.json', import.meta.url)
/** Node for one kind of machine. npm before 11 removes node_modules/.bin/node where one of them does not fit. */
const PLATFORM_NODE = /^node_modules\/node-[a-z]+-[a-z\d]+$/

type Lock = { packages: Record<string, { engines?: unknown; bin?: unknown }> }

const lock = JSON.parse(readFileSync(LOCK, 'utf8')) as Lock
for (const [path, entry] of Object.entries(lock.packages)) {
  if (path === '') continue
  delete entry.engines // npm warns of each that does not fit its own Node, and the project brings another
  if (PLATFORM_NODE.test(path)) delete entry.bin
}
writeFileSync(LOCK, `${JSON.stringify(lock, null, 2)}\n`)
