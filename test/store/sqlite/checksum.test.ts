/** The checksum of a row never changes, because stores keep it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import * as fc from 'fast-check'
import { checksumOf } from '../../../src/store/sqlite/database/checksum.ts'

const values = fc.array(
  fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('', '\ud800', 'a"\n'),
    fc.integer(),
    fc.constant(null),
    fc.uint8Array(),
  ),
)

test('the checksum of a row is the CRC-32 of each value, as JSON or as the bytes of a blob, with a line feed', () => {
  fc.assert(
    fc.property(values, (row) => {
      const bytes = row.map((value) => Buffer.from(value instanceof Uint8Array ? value : JSON.stringify(value)))
      const expected = crc32(Buffer.concat(bytes.flatMap((each) => [each, Buffer.from('\n')])))
      assert.equal(checksumOf(row), expected)
    }),
  )
  assert.equal(checksumOf([7, 'a.example', null, Uint8Array.of(4, 192, 0, 2, 1)]), 3_432_463_220)
})
