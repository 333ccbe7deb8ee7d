/** The format that an Accept header asks for. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requestedFormat } from '../../../src/api/http/request.ts'

const CASES: [accept: string | undefined, format: 'ndjson' | 'csv' | null][] = [
  [undefined, null],
  ['', null],
  ['*/*', null],
  ['application/json', null],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', null],
  ['application/x-ndjson', 'ndjson'],
  ['Application/X-NDJSON', 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['application/jsonl', 'ndjson'],
  ['text/csv', 'csv'],
  ['text/csv; charset=utf-8', 'csv'],
  ['text/csv, */*;q=0.1', 'csv'],
  ['text/csv;q=0.5, application/x-ndjson', 'ndjson'],
  ['application/json;q=0.5, text/csv;q=0.9', 'csv'],
  ['application/json, text/csv;q=0.9', null],
  ['application/json, text/csv', null],
  ['text/csv, application/json', 'csv'],
  ['text/csv;q=0', null],
  ['text/csv;q=nonsense', 'csv'],
  ['text/*', null],
]

for (const [accept, format] of CASES) {
  test(`Accept: ${accept ?? '(missing)'} asks for ${format ?? 'JSON'}`, () => {
    assert.equal(requestedFormat(accept), format)
  })
}
