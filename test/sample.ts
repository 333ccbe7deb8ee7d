/** Tests a generator: a sample must contain every kind of value that the generator should produce. */

import assert from 'node:assert/strict'
import fc from 'fast-check'

/** The same sample at every run. */
const SEED = 20_261_122

/** Asserts that a sample of generated values contains each kind. */
export function assertMakes<Value>(
  arbitrary: fc.Arbitrary<Value>,
  kinds: Readonly<Record<string, (value: Value) => boolean>>,
  size = 400,
): void {
  const sample = fc.sample(arbitrary, { numRuns: size, seed: SEED })
  const missing = Object.keys(kinds).filter((kind) => !sample.some(kinds[kind]!))
  assert.deepEqual(missing, [], `of these kinds a sample of ${size} has none`)
}
