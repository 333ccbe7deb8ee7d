/** Which tests set timers: a test waits for what it waits for (until.ts), by an event, or by a clock of its own. */

import { globSync, readFileSync } from 'node:fs'

/** A timer that is set, or taken from its module. Mocked ones are only named. */
const TIMER =
  /\bset(?:Timeout|Interval)\(|\b(?:setTimeout|setInterval|scheduler)\b.*'(?:node:)?timers|\bAtomics\.wait\(/

/** Who may set timers all the same, and why. */
const JUSTIFIED: Readonly<Record<string, string>> = {
  'until.ts': 'it is what the others wait with',
  'launcher.test.ts': 'the program that it starts stays until it is ended',
  'crawl/http.test.ts': 'its servers drip: what is tested is a sender that takes its time',
  'crawl/turns.test.ts': 'the order of two timers is compared, not a time',
  'api/downloads.test.ts': 'the time-out is that of one socket, and is what is tested',
  'crawl/patience.test.ts': 'timers are what is tested there',
}

/** Tests that set a timer without a reason, and reasons that nobody needs. */
export function unjustifiedWaits(): { unjustified: string[]; needless: string[] } {
  const folder = `${import.meta.dirname}/..`
  const paths = globSync('**/*.ts', { cwd: folder })
  const waiting = paths.filter((path) => TIMER.test(readFileSync(`${folder}/${path}`, 'utf8')))
  return {
    unjustified: waiting.filter((path) => !(path in JUSTIFIED)),
    needless: Object.keys(JUSTIFIED).filter((path) => !waiting.includes(path)),
  }
}
