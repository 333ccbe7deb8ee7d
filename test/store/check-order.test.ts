/** The check of a table whose keys lead backwards, as those of a damaged page can, and the computation of next keys. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CheckedTable, type KeyColumn, keyBeyond, skippingDamage } from '../../src/store/shared/check/damaged.ts'
import type { CheckPart } from '../../src/store/shared/check/sequence.ts'

const THROW = (error: unknown): string => {
  throw error
}

/** A table in which every slice after `from` ends at `to`, up to the key `end`. */
function leadingBack(from: string, to: string, end: string, column: KeyColumn): CheckedTable {
  const check: CheckedTable['check'] = (after) => {
    if (after === null) return { faults: [], checked: 1, last: from }
    return after < end ? { faults: [], checked: 1, last: to } : { faults: [], checked: 0, last: null }
  }
  return { name: 'made up', columns: [column], check }
}

for (const [what, table] of [
  ['numbers', leadingBack('[5]', '[5]', '[6', 'number')],
  ['an earlier number', leadingBack('[5]', '[4]', '[6', 'number')],
  ['texts', leadingBack('["04c0"]', '["04c0"]', '["05', 'hex')],
] as const) {
  test(`a check that is led backwards ends and reports it: ${what}`, async () => {
    const check = skippingDamage(table, THROW)
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

/**
 * Checks a table of `rows` rows whose slices of more than `most` rows fail. Every row must be checked, without a finding.
 * Returns the limits of all slices.
 */
async function limitsOf(rows: number, most: number, checkOf: (table: CheckedTable) => CheckPart): Promise<number[]> {
  const limits: number[] = []
  const check = checkOf({
    name: 'made up',
    columns: ['number'],
    check(after, limit) {
      limits.push(limit)
      if (limit > most) throw new Error('too many')
      const from = after === null ? 0 : (JSON.parse(after) as [number])[0]
      const last = Math.min(rows, from + limit)
      return { faults: [], checked: last - from, last: last === from ? null : JSON.stringify([last]) }
    },
  })
  let [checked, last] = [0, null as string | null]
  do {
    const slice = await check(last)
    assert.deepEqual(slice.faults, [])
    checked += slice.checked
    last = slice.last
  } while (last !== null)
  assert.equal(checked, rows)
  return limits
}

test('given slices of more than ten rows that take too long, the check reads fewer, and only once too many', async () => {
  const limits = await limitsOf(200, 10, (table) => skippingDamage(table, THROW, () => true))
  assert.deepEqual(
    limits.filter((limit) => limit > 10),
    [500, 63],
  )
})

test('if every slice of full size meets damaged rows, few are tried, and all rows are checked', async () => {
  const limits = await limitsOf(20_000, 100, (table) => skippingDamage(table, (error) => (error as Error).message))
  const full = limits.filter((limit) => limit === 500).length
  assert.ok(full > 1 && full < 12, `${full} of ${limits.length} slices had the full size`)
})

test('a row that takes too long by itself ends the check', async () => {
  const check: CheckedTable['check'] = () => {
    throw new Error('too long')
  }
  const part = skippingDamage({ name: 'made up', columns: ['number'], check }, THROW, () => true)
  await assert.rejects(async () => part(null), /too long/)
})

const COLUMNS: readonly KeyColumn[] = ['part', 'hex', 'text']

test('keys after a key grow up to the last possible one and contain no NUL', () => {
  for (const after of [null, '[7,"04c6336409","n1.example"]', '[255,"ff","zz"]']) {
    const [part, hex, name] = after === null ? [-1, '', ''] : (JSON.parse(after) as [number, string, string])
    let previous: [number, string, string] = [part, hex, name]
    let steps = 0
    for (let key = keyBeyond(COLUMNS, after, 0); key !== null; key = keyBeyond(COLUMNS, after, ++steps)) {
      const [nextPart, nextHex, nextName] = JSON.parse(key) as [number, string, string]
      assert.ok(!key.includes('\\u0000'), key)
      const isGreater =
        nextPart > part || (nextPart === part && (nextHex > hex || (nextHex === hex && nextName > name)))
      assert.ok(isGreater, `${key} after ${after}`)
      const isLater =
        nextPart > previous[0] || (nextPart === previous[0] && (nextHex > previous[1] || nextName >= previous[2]))
      assert.ok(isLater, `${key} after ${previous}`)
      previous = [nextPart, nextHex, nextName]
    }
    assert.ok(steps > 50, `${steps} steps`)
    assert.ok(previous[0] >= 127, 'the last key is far away')
  }
})
