/** The page cache of a connection follows the memory of the machine, within bounds. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readerCacheBytes } from '../../../src/store/sqlite/database/connection.ts'

const MEBIBYTE = 2 ** 20

test('the page cache of a reader is an eighth of the available memory, from 64 to 256 MiB', () => {
  assert.equal(readerCacheBytes(0), 64 * MEBIBYTE)
  assert.equal(readerCacheBytes(1024 * MEBIBYTE), 128 * MEBIBYTE)
  assert.equal(readerCacheBytes(1024 * 1024 * MEBIBYTE), 256 * MEBIBYTE)
})
