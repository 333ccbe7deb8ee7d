/** Tests the text of a prepared observation: it preserves every fact of the web part. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_WEBSITE } from '../../src/apply/crawl-state.ts'
import { parsePreparedWeb, prepareObservation } from '../../src/apply/prepare.ts'
import { seen, web } from '../store/conformance/world.ts'

for (const fact of Object.keys(NO_WEBSITE).filter((key) => NO_WEBSITE[key as keyof typeof NO_WEBSITE] === false)) {
  test(`a web part with ${fact} is prepared and parsed again with it, and with no other fact`, () => {
    const part = web({ [fact]: true })
    const { web: prepared } = prepareObservation(seen('a.example', 1, null, part))
    assert.deepEqual(parsePreparedWeb(prepared!), part)
  })
}
