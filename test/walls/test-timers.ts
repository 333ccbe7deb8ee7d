/** Finds tests that set timers. A test should wait with until.ts, for an event, or by a clock of its own. */

import { globSync, readFileSync } from 'node:fs'

/** A timer that a test sets or imports. */
const TIMER =
  /\bset(?:Timeout|Interval)\(|\b(?:setTimeout|setInterval|scheduler)\b.*'(?:node:)?timers|\bAtomics\.wait\(/

/** Files that may set timers, and why. */
const JUSTIFIED: Readonly<Record<string, string>> = {
  'until.ts': 'the other tests wait with it',
  'launcher.test.ts': 'the program that it starts runs until the test stops it',
  'probe/http/client.test.ts': 'it tests a server that sends slowly',
  'probe/policy/probe-rate-limiter.test.ts': 'it compares the order of two timers',
  'api/http/files/downloads.test.ts': 'it tests the timeout of one socket',
  'probe/stall-timer.test.ts': 'it tests timers',
}

/** Tests that set a timer without a reason, and reasons that no test needs. */
export function unjustifiedTimers(): { unjustified: string[]; needless: string[] } {
  const folder = `${import.meta.dirname}/..`
  const paths = globSync('**/*.ts', { cwd: folder })
  const withTimer = paths.filter((path) => TIMER.test(readFileSync(`${folder}/${path}`, 'utf8')))
  return {
    unjustified: withTimer.filter((path) => !(path in JUSTIFIED)),
    needless: Object.keys(JUSTIFIED).filter((path) => !withTimer.includes(path)),
  }
}
