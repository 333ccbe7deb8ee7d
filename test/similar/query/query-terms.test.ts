/** The terms by which a page's neighbours are searched. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MAX_ROW_POSTINGS } from '../../../src/similar/postings/postings.ts'
import { weightDocument } from '../../../src/similar/query/cosine.ts'
import type { IdfTable } from '../../../src/similar/query/idf-table.ts'
import { chooseQueryTerms, maxRowsFor, QUERY_LIMITS } from '../../../src/similar/query/query-terms.ts'
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
    fc.property(output, fc.integer({ min: 1, max: QUERY_LIMITS.rows }), (all, maxRows) => {
      const { vector, idfTable } = pageOf(all)
      const page = weightDocument(vector, idfTable)
      const chosen = chooseQueryTerms(page, idfTable, { isIndexed: true, maxRows })
      assert.ok(chosen.length <= QUERY_LIMITS.terms)
      assert.ok(chosen.reduce((sum, { rows }) => sum + rows, 0) <= maxRows)
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
  const words = chooseQueryTerms(weightDocument(vector, idfTable), idfTable, {
    isIndexed: true,
    maxRows: QUERY_LIMITS.rows,
  }).map(({ term: word }) => word)
  assert.deepEqual(words, [wordAt(1), wordAt(3)])
})

test('if the page itself is not indexed, terms of a single page are read too', () => {
  const { vector, idfTable } = pageOf([
    { pages: 1, count: 9 },
    { pages: 2, count: 1 },
  ])
  const words = chooseQueryTerms(weightDocument(vector, idfTable), idfTable, {
    isIndexed: false,
    maxRows: QUERY_LIMITS.rows,
  }).map(({ term: word }) => word)
  assert.deepEqual(words, [wordAt(0), wordAt(1)])
})

test('a term gets no more rows than its postings need, and a very frequent one a share of them by its weight', () => {
  const terms = QUERY_LIMITS.terms
  const { vector, idfTable } = pageOf(Array.from({ length: terms }, () => ({ pages: 1_000_000, count: 1 })))
  const choose = (maxRows: number) =>
    chooseQueryTerms(weightDocument(vector, idfTable), idfTable, { isIndexed: true, maxRows }).map(({ rows }) => rows)
  assert.deepEqual(choose(2 * terms), new Array(terms).fill(2))
  assert.deepEqual(choose(terms), new Array(terms).fill(1))
  assert.deepEqual(choose(100 * terms), new Array(terms).fill(QUERY_LIMITS.rowsPerTerm))
  const [rare, few] = [pageOf([{ pages: 2, count: 1 }]), { isIndexed: true, maxRows: QUERY_LIMITS.rows }]
  assert.equal(chooseQueryTerms(weightDocument(rare.vector, rare.idfTable), rare.idfTable, few)[0]!.rows, 1)
  assert.deepEqual(chooseQueryTerms(weightDocument(pageOf([]).vector, idfTable), idfTable, few), [])
})

test('the heavier of two frequent terms gets more rows', () => {
  const { vector, idfTable } = pageOf([
    { pages: 1_000_000, count: 1 },
    { pages: 1_000_000, count: 9 },
  ])
  const chosen = chooseQueryTerms(weightDocument(vector, idfTable), idfTable, { isIndexed: true, maxRows: 10 })
  assert.deepEqual(
    chosen.map(({ term, rows }) => [term, rows]),
    [
      [wordAt(1), 8],
      [wordAt(0), 2],
    ],
  )
})

test('a posting adds the weight of its term in the page times the IDF', () => {
  const { vector, idfTable } = pageOf([
    { pages: 900, count: 9 },
    { pages: 30, count: 1 },
  ])
  const page = weightDocument(vector, idfTable)
  const chosen = chooseQueryTerms(page, idfTable, { isIndexed: true, maxRows: QUERY_LIMITS.rows })
  assert.equal(chosen.length, 2)
  for (const { term, weight } of chosen) {
    const expected = page.weights[vector.terms.indexOf(term)]! * idfTable.idfOf(term)
    assert.ok(Math.abs(weight / expected - 1) < 1e-9, `${weight}, not ${expected}`)
  }
})

test('a term whose postings are in one row is read whatever its share, and others up to the rows that they fill', () => {
  const rowsOf = (pages: number, { maxRows = QUERY_LIMITS.rows as number, others = 0 } = {}) => {
    const { vector, idfTable } = pageOf([
      { pages, count: 2 },
      ...Array.from({ length: others }, () => ({ pages: 5_000, count: 1 })),
    ])
    const chosen = chooseQueryTerms(weightDocument(vector, idfTable), idfTable, { isIndexed: true, maxRows })
    return chosen.find(({ term }) => term === wordAt(0))?.rows
  }
  const half = MAX_ROW_POSTINGS / 2
  const few = { maxRows: 5, others: 100 }
  assert.deepEqual([rowsOf(half - 1, few), rowsOf(half, few)], [1, undefined])
  assert.deepEqual(
    [half, 2 * half, 2 * half + 1, 6 * half, 40 * half].map((pages) => rowsOf(pages)),
    [2, 2, 4, 4, 8],
  )
})

test('a term of half the pages is read too', () => {
  const { vector, idfTable } = pageOf([{ pages: TOTAL / 2, count: 1 }])
  const page = weightDocument(vector, idfTable)
  assert.ok(page.weights[0]! < 1)
  assert.equal(chooseQueryTerms(page, idfTable, { isIndexed: true, maxRows: 8 })[0]?.term, wordAt(0))
})

test('the only frequent term gets the largest power of two of the rows that are left', () => {
  const { vector, idfTable } = pageOf([{ pages: TOTAL / 10, count: 5 }])
  const rowsOf = (maxRows: number) =>
    chooseQueryTerms(weightDocument(vector, idfTable), idfTable, { isIndexed: true, maxRows }).map(({ rows }) => rows)
  const found = Array.from({ length: 9 }, (_, index) => rowsOf(index + 1))
  assert.deepEqual(found, [[1], [2], [2], [4], [4], [4], [4], [8], [8]])
})

test('a share of half a row is a row', () => {
  const { vector, idfTable } = pageOf(Array.from({ length: 2 }, () => ({ pages: 1_000_000, count: 1 })))
  const chosen = chooseQueryTerms(weightDocument(vector, idfTable), idfTable, { isIndexed: true, maxRows: 1 })
  assert.deepEqual(
    chosen.map(({ term, rows }) => [term, rows]),
    [[wordAt(0), 1]],
  )
})

test('an index of 50,000 pages has 96 rows, one of 500,000 has 640, and one of their geometric mean the mean', () => {
  assert.deepEqual([10, 50_000, 158_114, 500_000, 1e9].map(maxRowsFor), [96, 96, 368, 640, 640])
})

test('the number of rows grows with the index, and never exceeds the limit', () => {
  const sizes = [0, 1, 1000, 50_000, 70_000, 200_000, 500_000, 5e6, 1e9]
  const rows = sizes.map(maxRowsFor)
  assert.deepEqual(
    rows,
    rows.toSorted((a, b) => a - b),
  )
  assert.equal(rows.at(-1), QUERY_LIMITS.rows)
  assert.ok(rows[0]! > 0 && rows[0]! < QUERY_LIMITS.rows / 2)
})
