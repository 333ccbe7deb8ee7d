/** The bound of V8's young generation, in a process of its own, because a flag holds for a whole process. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'

const MAX_BYTES = 2 ** 23
const MODULE = new URL('../../src/server/certificate-logs/young-generation.ts', import.meta.url).href

/** Makes objects of which many are in use for a while, and prints the largest size of the young generation. */
const SCRIPT = `
import { getHeapSpaceStatistics } from 'node:v8'
const { youngGenerationBound } = await import(process.argv[1])
const bound = process.argv[2] === 'null' ? () => {} : youngGenerationBound(Number(process.argv[2]))
const kept = []
let largest = 0
for (let round = 0; round < 300; round++) {
  kept[round % 20] = Array.from({ length: 10_000 }, (_, index) => ({ round, index }))
  bound()
  largest = Math.max(largest, getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size)
}
console.log(largest)
`

function largestYoungGeneration(maxBytes: number | null): number {
  const args = ['--input-type=module', '--eval', SCRIPT, MODULE, String(maxBytes)]
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }))
}

test('the young generation does not grow beyond the size that it has when the bound is seen', () => {
  const [bounded, unbounded] = [largestYoungGeneration(MAX_BYTES), largestYoungGeneration(null)]
  assert.ok(bounded >= MAX_BYTES && bounded <= 2 * MAX_BYTES, `${bounded} bytes`)
  assert.ok(unbounded > 2 * MAX_BYTES, `${unbounded} bytes`)
})
