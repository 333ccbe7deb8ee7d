/** The generated types of the client library. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { CLIENT_TYPES, clientTypes } from '../../scripts/client-types.ts'

test('client/src/api-types.ts has the types of the current schemas: run node scripts/client-types.ts', () => {
  assert.equal(readFileSync(CLIENT_TYPES, 'utf8'), clientTypes())
})
