/** Removes entries from package-lock.json that older npm cannot handle. Run it after a dependency changes. */

import { readFileSync, writeFileSync } from 'node:fs'

const LOCK = new URL('../package-lock.json', import.meta.url)
/** Node for one platform. npm before 11 removes node_modules/.bin/node if one is not for this machine. */
const PLATFORM_NODE = /^node_modules\/node-[a-z]+-[a-z\d]+$/

type Lock = { packages: Record<string, { engines?: unknown; bin?: unknown }> }

const lock = JSON.parse(readFileSync(LOCK, 'utf8')) as Lock
for (const [path, entry] of Object.entries(lock.packages)) {
  if (path === '') continue
  delete entry.engines // npm compares it with its own Node and warns, but the project runs on the Node it installs
  if (PLATFORM_NODE.test(path)) delete entry.bin
}
writeFileSync(LOCK, `${JSON.stringify(lock, null, 2)}\n`)
