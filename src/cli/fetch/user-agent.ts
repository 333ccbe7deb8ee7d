/** The User-Agent of the fetch commands. */

import { readFileSync } from 'node:fs'

/** Returns `domaindex/` and the version. */
export function userAgent(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  return `domaindex/${version}`
}
