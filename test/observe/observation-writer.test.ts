/** A written observation is parsed as the same observation. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Observation } from '../../src/observe/observation.ts'
import { parseObservation } from '../../src/observe/observation-parser.ts'
import { writeObservation } from '../../src/observe/observation-writer.ts'
import { lines } from './lines.ts'

test('an observation that is written and parsed is the same', () => {
  fc.assert(
    fc.property(lines, (line) => {
      const observation = parseObservation(line) as Observation
      const written = writeObservation(observation)
      assert.deepEqual(parseObservation(written), observation)
      assert.doesNotMatch(written, /\n/)
    }),
    { numRuns: 500 },
  )
})

test('parts that were not probed, and a page without text, are left out', () => {
  const bare = '{"domain":"example.com","observed_at":"2026-11-20T03:04:05Z"}'
  assert.equal(writeObservation(parseObservation(bare) as Observation), bare)
  const web =
    '"web":{"has_website":false,"redirect_to_https":false,"redirect_to_www":false,"only_with_www":false,"redirects_to":null,"ssl":"nocert","social_accounts":[]}'
  const line = `${bare.slice(0, -1)},"dns":{"status":"nxdomain"},${web}}`
  assert.equal(writeObservation(parseObservation(line) as Observation), line)
})
