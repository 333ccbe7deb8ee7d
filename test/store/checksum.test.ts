/** The checksum of a row never changes, because stores keep it. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import * as fc from 'fast-check'
import { CHECKSUM_COLUMNS, checksumOf, crcOf, matchesChecksum } from '../../src/store/shared/check/checksum.ts'
import { columnNames } from '../../src/store/shared/tables.ts'

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
      assert.equal(crcOf(row), expected)
    }),
  )
  assert.equal(crcOf([7, 'a.example', null, Uint8Array.of(4, 192, 0, 2, 1)]), 3_432_463_220)
})

const ROW: Record<string, string | number | null> = { segment: 1, last_term: 2, counts: 'c', note: 'new' }
const columnValue = (column: string) => ROW[column]!

test('a checksum covers the columns of its version: a further list leaves those of stored rows as they are', () => {
  const first = CHECKSUM_COLUMNS.document_frequency[0]!
  const checksum = checksumOf('document_frequency', first.map(columnValue))
  assert.equal(checksum, crcOf([1, 2, 'c']), 'the first version is a plain CRC-32')
  const lists = [first, [...first, 'note']]
  assert.equal(matchesChecksum(lists, { checksum }, columnValue), true)
  const next = 2 ** 32 + crcOf([1, 2, 'c', 'new'])
  assert.equal(matchesChecksum(lists, { checksum: next }, columnValue), true)
  assert.equal(matchesChecksum([first], { checksum: next }, columnValue), true, 'of a newer release')
  for (const damaged of [checksum, next])
    assert.equal(matchesChecksum(lists, { checksum: damaged + 1 }, columnValue), false)
})

test('the lists of columns never change, and the newest one of the facts covers all their columns', () => {
  assert.equal(
    createHash('sha256').update(JSON.stringify(CHECKSUM_COLUMNS)).digest('hex'),
    '8dd98893613e3b53948b1e4772324d5fecce6726c051fdb79da116284347d374',
    'a new list was added at the end: renew this digest. Otherwise restore the lists',
  )
  assert.deepEqual(CHECKSUM_COLUMNS.facts.at(-1), columnNames('facts'))
})
