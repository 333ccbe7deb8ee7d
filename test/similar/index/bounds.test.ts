/** The work per query is bounded, even if all terms are as frequent as possible. */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { maxRowsFor, QUERY_LIMITS } from '../../../src/similar/query/query-terms.ts'
import { openSimilarityService } from '../../../src/similar/query/similarity-service.ts'
import type { PostingsRead, SimilarReader } from '../../../src/store/port/similar.ts'
import { name } from '../../store/conformance/world.ts'
import { World } from '../world.ts'

/** The reads of a query from the store. */
type Work = {
  calls: string[]
  requested: PostingsRead[]
  rows: number
  vectors: number
  documents: number
  limits: number[]
}

function counted(similar: SimilarReader): { similar: SimilarReader; work: Work } {
  const work: Work = { calls: [], requested: [], rows: 0, vectors: 0, documents: 0, limits: [] }
  const noted = <Key extends keyof SimilarReader>(key: Key, note: (...args: Parameters<SimilarReader[Key]>) => void) =>
    (async (...args: Parameters<SimilarReader[Key]>) => {
      work.calls.push(key)
      note(...args)
      return (similar[key] as (...all: unknown[]) => unknown)(...args)
    }) as unknown as SimilarReader[Key]
  return {
    work,
    similar: {
      page: noted('page', () => {}),
      findDocument: noted('findDocument', () => {}),
      segments: noted('segments', () => {}),
      frequencies: noted('frequencies', () => {}),
      indexedUntil: noted('indexedUntil', () => {}),
      vectors: noted('vectors', (documents) => {
        work.vectors += documents.length
      }),
      names: noted('names', (documents, limit) => {
        work.documents += documents.length
        work.limits.push(limit)
      }),
      async postings(requested) {
        work.calls.push('postings')
        work.requested.push(...requested)
        const read = await similar.postings(requested)
        work.rows += read.reduce((sum, bytes) => sum + rowsIn(bytes), 0)
        return read
      },
    },
  }
}

/** Splits rows, each of which starts with its length in two bytes. */
function rowsIn(bytes: Uint8Array): number {
  let rows = 0
  for (let at = 0; at < bytes.length; at += bytes[at]! * 256 + bytes[at + 1]!) rows++
  return rows
}

/** Most words of a template that all pages share, some words of every third page, and one unique word. */
const TEMPLATE = Array.from({ length: 160 }, (_, at) => `template${at}`)
const textOf = (at: number) =>
  [
    ...TEMPLATE.filter((_, word) => (at + word) % 5 !== 0),
    ...Array.from({ length: 12 }, (_, word) => `some${(at + word * 7) % 40}`),
    `own${at}`,
  ].join(' ')
/** The first read, and one for each further group. */
const MAX_VECTOR_READS = 1 + (QUERY_LIMITS.cosines - QUERY_LIMITS.first) / QUERY_LIMITS.next
const domainOf = (at: number) => `page${at}.example`

const world = await World.open()
after(() => world.close())
let pages = 0

async function grow(to: number): Promise<void> {
  const range = Array.from({ length: to - pages }, (_, at) => pages + at)
  pages = to
  await world.say(Object.fromEntries(range.map((at) => [domainOf(at), textOf(at)])))
  await world.index()
}

async function check(limit: number): Promise<void> {
  const { similar, work } = counted(world.store.similar)
  const retrieval = openSimilarityService({ similar }, () => 0)
  await retrieval.similar(name(domainOf(1)), limit) // builds the IDF table
  Object.assign(work, { calls: [], requested: [], rows: 0, vectors: 0, documents: 0, limits: [] })
  const rows = await retrieval.similar(name(domainOf(0)), limit)
  assert.equal(rows?.length, limit)
  const times = Object.groupBy(work.calls, (call) => call)
  const segments = (await world.store.similar.segments()).length
  assert.equal(times.page?.length, 1)
  assert.equal(times.postings?.length, 1)
  assert.equal(times.findDocument, undefined)
  assert.equal(times.frequencies, undefined)
  assert.ok((times.vectors?.length ?? 0) <= MAX_VECTOR_READS && (times.names?.length ?? 0) <= 3, work.calls.join(' '))
  assert.ok(work.requested.length <= QUERY_LIMITS.terms)
  const maxRows = maxRowsFor(pages)
  assert.ok(work.requested.reduce((sum, { rows }) => sum + rows, 0) <= maxRows)
  assert.ok(work.rows <= maxRows + segments * QUERY_LIMITS.terms, `${work.rows} rows`)
  assert.ok(work.rows > maxRows / 2, 'these words are frequent')
  assert.ok(work.vectors > 0 && work.vectors <= QUERY_LIMITS.cosines)
  assert.ok(work.documents <= 1 + QUERY_LIMITS.cosines && work.limits.every((max) => max <= limit + 1))
}

test('a query reads at most so many terms, rows, vectors and names, whether among a thousand pages or more', async () => {
  for (const size of [1000, 1300, 2600]) {
    await grow(size)
    for (const limit of [1, 100]) await check(limit)
  }
})
