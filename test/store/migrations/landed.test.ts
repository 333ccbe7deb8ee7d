/** Migrations that have landed never change: stores that applied them compare their digests. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const STORE = join(import.meta.dirname, '../../../src/store')
/** Engine, part and file, with the SHA-256 of the file. A line may be added, but none may change or go. */
const LANDED: Record<string, string> = JSON.parse(readFileSync(join(import.meta.dirname, 'landed.json'), 'utf8'))

function migrations(): Record<string, string> {
  const files = readdirSync(STORE, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.sql'))
  const digestOf = (file: string) =>
    createHash('sha256')
      .update(readFileSync(join(STORE, file)))
      .digest('hex')
  return Object.fromEntries(
    files.sort().map((file) => [file.replaceAll('\\', '/').replace('/schema/', '/'), digestOf(file)]),
  )
}

test('a migration that has landed is never changed or removed', () => {
  const present = migrations()
  assert.ok(Object.keys(LANDED).length >= 36)
  const changed = Object.keys(LANDED).filter((file) => present[file] !== LANDED[file])
  assert.deepEqual(changed, [], 'restore these files: write a new migration instead')
})

test('every migration is in the list of landed ones', () => {
  const missing = Object.entries(migrations()).filter(([file]) => LANDED[file] === undefined)
  assert.deepEqual(Object.fromEntries(missing), {}, 'add these lines to test/store/migrations/landed.json')
})
