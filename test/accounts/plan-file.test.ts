/** The file that changes the limits of the plans: its content, and the message about a mistake in it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_PLAN_LIMITS } from '../../src/accounts/plan.ts'
import { readPlanFile } from '../../src/accounts/plan-file.ts'
import { codes, readPage, tableOf } from '../docs/markdown.ts'

test('the file changes what it names, and everything else stays as in the specification', () => {
  const file = {
    free: { daily_calls: 1_000, history_states: 5 },
    premium: { daily_calls: null, page_rows: 20_000, watches: 500 },
  }
  assert.deepEqual(readPlanFile(JSON.stringify(file)), {
    ...DEFAULT_PLAN_LIMITS,
    free: { dailyCalls: 1_000, pageRows: 1_000, historyStates: 5, watches: 10, webhooks: 1, probeHours: null },
    premium: { dailyCalls: null, pageRows: 20_000, historyStates: 100, watches: 500, webhooks: 100, probeHours: 6 },
  })
  assert.deepEqual(readPlanFile('{}'), DEFAULT_PLAN_LIMITS)
  const without = readPlanFile('{"basic": {"history_states": null}}')
  assert.deepEqual(without, { ...DEFAULT_PLAN_LIMITS, basic: { ...DEFAULT_PLAN_LIMITS.basic, historyStates: null } })
})

for (const [text, fault] of [
  ['', /^must be a JSON object/],
  ['[]', /^must be a JSON object/],
  ['{"gold": {}}', /^plan "gold": it must be free, basic, premium$/],
  ['{"local": {"page_rows": 5}}', /^plan "local": it must be free, basic, premium$/],
  ['{"free": 5}', /^plan "free": its value must be an object of limits$/],
  [
    '{"free": {"rows": 5}}',
    /^plan "free", key "rows": it must be daily_calls, page_rows, history_states, watches, webhooks, probe_hours$/,
  ],
  ['{"free": {"toString": 5}}', /^plan "free", key "toString"/],
  ['{"free": {"__proto__": {}}}', /^plan "free", key "__proto__"/],
  ['{"basic": {"page_rows": 0}}', /^plan "basic", key "page_rows": 0 must be a whole number from 1 to 50000$/],
  ['{"basic": {"page_rows": 50001}}', /from 1 to 50000$/],
  ['{"basic": {"page_rows": null}}', /^plan "basic", key "page_rows": null must be a whole number from 1 to 50000$/],
  ['{"free": {"daily_calls": "9"}}', /^plan "free", key "daily_calls": "9" must be .*, or null \(no limit\)$/],
  ['{"free": {"daily_calls": 1.5}}', /must be a whole number from 0/],
  ['{"free": {"history_states": 1001}}', /from 1 to 1000, or null \(no \/dnshistory\)$/],
] as const) {
  test(`a mistake is reported with plan and key: ${text}`, () => {
    const faults = readPlanFile(text)
    assert.ok(Array.isArray(faults), text)
    assert.equal(faults.length, 1)
    assert.match(faults[0]!, fault)
  })
}

const LIMIT_NAMES = Object.keys(DEFAULT_PLAN_LIMITS.free)
const FILE_KEYS = /it must be (.*)$/.exec((readPlanFile('{"free": {"unknown": 1}}') as string[])[0]!)![1]!.split(', ')

test('every limit of a plan has a key in the file', () => {
  const keys = LIMIT_NAMES.map((limit) => limit.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
  assert.deepEqual(FILE_KEYS.toSorted(), keys.toSorted())
})

test('docs/operating.md has a row for every key of the file', () => {
  const rows = tableOf(readPage('operating.md'), 'key').map(([cell]) => codes(cell!)[0]!)
  assert.deepEqual(rows.toSorted(), FILE_KEYS.toSorted())
})
