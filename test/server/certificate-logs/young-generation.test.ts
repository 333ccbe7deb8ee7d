/** The bound of V8's young generation, in a process of its own, because a flag holds for a whole process. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'

const MAX_BYTES = 2 ** 23
const MODULE = new URL('../../../src/server/certificate-logs/young-generation.ts', import.meta.url).href

/** Makes objects of which many are in use for a while, and prints the largest size of the young generation. */
const SCRIPT = `
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
const { youngGenerationBound } = await import(process.argv[1])
const [maxBytes, before] = JSON.parse(process.argv[2])
if (before !== null) setFlagsFromString('--semi-space-growth-factor=' + before)
const bound = maxBytes === null ? () => {} : youngGenerationBound(maxBytes)
const kept = []
let largest = 0
for (let round = 0; round < 300; round++) {
  kept[round % 20] = Array.from({ length: 10_000 }, (_, index) => ({ round, index }))
  bound()
  largest = Math.max(largest, getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size)
}
console.log(largest)
`

/** `before`: the factor that something else has set. */
function largestYoungGeneration(maxBytes: number | null, before: number | null = null): number {
  const limits = ['--min-semi-space-size=1', '--max-semi-space-size=64']
  const args = [...limits, '--input-type=module', '--eval', SCRIPT, MODULE, JSON.stringify([maxBytes, before])]
  const env = { ...process.env, NODE_OPTIONS: '' }
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8', env }))
}

test('the young generation does not grow beyond the size that it has when the bound is seen', () => {
  const bounded = largestYoungGeneration(MAX_BYTES)
  assert.ok(bounded >= MAX_BYTES && bounded <= 2 * MAX_BYTES, `${bounded} bytes`)
  const unbounded = largestYoungGeneration(null)
  assert.ok(unbounded > 2 * MAX_BYTES, `${unbounded} bytes`)
})

test('below its bound, the young generation can grow again', () => {
  const stopped = largestYoungGeneration(null, 1)
  assert.ok(stopped < MAX_BYTES, `${stopped} bytes`)
  const released = largestYoungGeneration(MAX_BYTES, 1)
  assert.ok(released >= MAX_BYTES, `${released} bytes`)
})
