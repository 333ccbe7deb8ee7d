/** The check of a table whose keys lead back to earlier ones, as those of a damaged page may. */

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import {
  numberKeyBeyond,
  type SqliteCheckPart,
  skippingDamage,
  textKeyBeyond,
} from '../../src/store/sqlite/maintenance/check/damaged.ts'

/** A part of which every slice behind `from` ends at `to`, up to the key `end`. */
function leadingBack(from: string, to: string, end: string, beyond: SqliteCheckPart['keyBeyond']): SqliteCheckPart {
  const check: SqliteCheckPart['check'] = (_database, after) => {
    if (after === null) return { faults: [], checked: 1, last: from }
    return after < end ? { faults: [], checked: 1, last: to } : { faults: [], checked: 0, last: null }
  }
  return { name: 'made up', check, keyBeyond: beyond }
}

for (const [what, part] of [
  ['numbers', leadingBack('5', '5', '6', numberKeyBeyond)],
  ['an earlier number', leadingBack('5', '4', '6', numberKeyBeyond)],
  ['texts', leadingBack('["04c0",null]', '["04c0",null]', '["05', textKeyBeyond(1, true))],
] as const) {
  test(`a check that is led back ends, and says so: ${what}`, async (t) => {
    const database = new DatabaseSync(':memory:')
    t.after(() => database.close())
    const check = skippingDamage(database, part)
    const problems: string[] = []
    let last: string | null = null
    for (let slices = 0; slices === 0 || last !== null; slices++) {
      assert.ok(slices < 1_000, 'it does not end')
      const slice = await check(last)
      problems.push(...slice.faults.map(({ problem }) => problem))
      last = slice.last
    }
    assert.match(problems[0]!, /^cannot be read after this key.*: its keys are out of order$/)
  })
}
