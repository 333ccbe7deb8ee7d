/** No test sleeps: it waits for what it waits for (until.ts), by an event, or by a clock of its own. */

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

/** A timer that is set, or taken from its module. Mocked ones are only named. */
const TIMER =
  /\bset(?:Timeout|Interval)\(|\b(?:setTimeout|setInterval|scheduler)\b.*'(?:node:)?timers|\bAtomics\.wait\(/

/** Who may set timers all the same, and why. */
const JUSTIFIED: Readonly<Record<string, string>> = {
  'until.ts': 'it is what the others wait with',
  'launcher.test.ts': 'the program that it starts stays until it is ended',
  'crawl/http.test.ts': 'its servers drip: what is tested is a sender that takes its time',
  'crawl/turns.test.ts': 'the order of two timers is compared, not a time',
  'crawl/patience.test.ts': 'timers are what is tested there',
}

const sources = globSync('**/*.ts', { cwd: import.meta.dirname }).map((path) => ({
  path,
  setsTimers: TIMER.test(readFileSync(`${import.meta.dirname}/${path}`, 'utf8')),
}))

test('no test sets a timer, but for those that have a reason', () => {
  assert.ok(sources.length > 200)
  const found = sources.filter(({ path, setsTimers }) => setsTimers && !(path in JUSTIFIED))
  assert.deepEqual(
    found.map(({ path }) => path),
    [],
    'wait with until() of test/until.ts, for an event, or by a clock that is given',
  )
})

test('every reason is needed', () => {
  const needed = new Set(sources.filter(({ setsTimers }) => setsTimers).map(({ path }) => path))
  assert.deepEqual(
    Object.keys(JUSTIFIED).filter((path) => !needed.has(path)),
    [],
  )
})
