/** The terms by which a page's neighbours are searched. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { weightDocument } from '../../../src/similar/query/cosine.ts'
import type { IdfTable } from '../../../src/similar/query/idf-table.ts'
import { chooseQueryTerms, QUERY_LIMITS } from '../../../src/similar/query/query-terms.ts'
import type { TermVector } from '../../../src/similar/text/term-vector.ts'
import { idfTableOf } from '../sample-documents.ts'

const TOTAL = 10_000_000

type Said = { pages: number; count: number }

/** A page whose n-th term has this count and this document frequency. */
function pageOf(output: readonly Said[]): { vector: TermVector; idfTable: IdfTable } {
  const pages = output.map(({ pages }, at) => [wordAt(at), pages] as const).filter(([, pages]) => pages > 0)
  const words = Uint32Array.from(output, (_, at) => wordAt(at))
  return {
    vector: { size: output.length, terms: words, counts: Uint32Array.from(output, ({ count }) => count) },
    idfTable: idfTableOf(TOTAL, pages),
  }
}

const wordAt = (at: number) => 7 + at * 9_001

const output = fc.array(
  fc.record({
    pages: fc.oneof(fc.nat(3), fc.nat(5000), fc.nat(TOTAL)),
    count: fc.integer({ min: 1, max: 30 }),
  }),
  { maxLength: 400, size: 'max' },
)

test('a query reads a bounded number of terms, rows per term and rows, each once, the heaviest terms first', () => {
  fc.assert(
    fc.property(output, (all) => {
      const { vector, idfTable } = pageOf(all)
      const page = weightDocument(vector, idfTable)
      const chosen = chooseQueryTerms(page, idfTable, true)
      assert.ok(chosen.length <= QUERY_LIMITS.terms)
      assert.ok(chosen.reduce((sum, { rows }) => sum + rows, 0) <= QUERY_LIMITS.rows)
      assert.ok(chosen.every(({ rows }) => Number.isInteger(rows) && rows >= 1 && rows <= QUERY_LIMITS.rowsPerTerm))
      assert.equal(new Set(chosen.map(({ term: word }) => word)).size, chosen.length)
      const weights = chosen.map(({ term: word }) => page.weights[vector.terms.indexOf(word)]!)
      assert.deepEqual(
        weights,
        weights.toSorted((a, b) => b - a),
      )
    }),
    { numRuns: 30 },
  )
})

test('terms of no other page are not read, however rare they are', () => {
  const { vector, idfTable } = pageOf([
    { pages: 1, count: 9 },
    { pages: 2, count: 1 },
    { pages: 1, count: 1 },
    { pages: 900, count: 1 },
  ])
  const words = chooseQueryTerms(weightDocument(vector, idfTable), idfTable, true).map(({ term: word }) => word)
  assert.deepEqual(words, [wordAt(1), wordAt(3)])
})

test('if the page itself is not indexed, terms of a single page are read too', () => {
  const { vector, idfTable } = pageOf([
    { pages: 1, count: 9 },
    { pages: 2, count: 1 },
  ])
  const words = chooseQueryTerms(weightDocument(vector, idfTable), idfTable, false).map(({ term: word }) => word)
  assert.deepEqual(words, [wordAt(0), wordAt(1)])
})

test('a term gets as many rows as its postings need, up to a limit, until no rows are left', () => {
  const { vector, idfTable } = pageOf(Array.from({ length: 128 }, () => ({ pages: 1_000_000, count: 1 })))
  const many = chooseQueryTerms(weightDocument(vector, idfTable), idfTable, true)
  assert.equal(many.length, Math.ceil(QUERY_LIMITS.rows / QUERY_LIMITS.rowsPerTerm))
  assert.equal(
    many.reduce((sum, { rows }) => sum + rows, 0),
    QUERY_LIMITS.rows,
  )
  const few = pageOf([{ pages: 2, count: 1 }])
  assert.equal(chooseQueryTerms(weightDocument(few.vector, few.idfTable), few.idfTable, true)[0]!.rows, 1)
  assert.deepEqual(chooseQueryTerms(weightDocument(pageOf([]).vector, idfTable), idfTable, true), [])
})
