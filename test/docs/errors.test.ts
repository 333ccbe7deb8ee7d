/** docs/errors.md has every error key once, with its status, and no other. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ALL_ERRORS, ERRORS, PAGE_ERRORS } from '../../src/api/http/errors.ts'
import { codes, readPage, tableOf } from './markdown.ts'

const page = readPage('errors.md')
const rows = tableOf(page, 'status')
const pageRows = tableOf(page, 'status of the page')

for (const [errors, documentedRows] of [
  [ERRORS, rows],
  [PAGE_ERRORS, pageRows],
] as const)
  test(`every error key is documented with its status, and nothing else: ${Object.keys(errors)[0]}`, () => {
    const documented = documentedRows.map(([status, key]) => [codes(key!)[0]!, Number(status)])
    const declared = Object.entries(errors).map(([key, [status]]) => [key, status])
    assert.deepEqual(documented.toSorted(), declared.toSorted())
  })

test('no key is in both tables', () => {
  assert.equal(Object.keys(ALL_ERRORS).length, rows.length + pageRows.length)
})

test('every row says when the error occurs and what to do', () => {
  for (const [, key, when, operation] of [...rows, ...pageRows]) assert.ok(when !== '' && operation !== '', key)
})

test('the examples are errors of the table', () => {
  const [, block = ''] = /```json\n(.*?)\n```/s.exec(page) ?? []
  for (const line of block.split('\n')) {
    const body = JSON.parse(line) as { result?: object }
    const { rcode, error, msg, ...others } = (body.result ?? body) as Record<string, unknown>
    assert.deepEqual(others, {})
    assert.equal(rcode, ERRORS[error as keyof typeof ERRORS][0])
    assert.ok(msg)
  }
})
