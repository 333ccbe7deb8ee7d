/** Similar texts on SQLite: a query for many keys is one statement, with one range of a key for each. */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import type { FrequencyRow, PageOfName, PostingsRead, Segment, SimilarReader } from '../../port/similar.ts'
import { unpackTerms } from '../../shared/columns.ts'
import { readTransaction } from '../database/connection.ts'

/** `digest`: that of a pending page. `name`: that of an indexed page. */
type PageOfNameRow = {
  digest: string | null
  terms: Uint8Array | null
  name: DomainName | null
  document: number | null
  vector: Uint8Array | null
}

const READ_PUBLISHED_SEGMENTS = `select number as segment, first_document as first, last_document as last, documents
  from segment where state = 'published' order by first_document`

export function sqliteSimilar(database: DatabaseSync): SimilarReader {
  const page = database.prepare(
    `select p.digest, p.terms, r.name, r.document, w.vector from crawl_state v left join pending_page p on p.id = v.id
     left join page_document r on r.id = v.id left join document w on w.number = r.document where v.slot = ? and v.name = ?`,
  )
  const findDocument = database.prepare('select number from document where digest = ? and vector = ?')
  const vectors = arrayStatement(
    database,
    'select j.key, w.vector from json_each(?) j join document w on w.number = j.value',
  )
  const names = arrayStatement(
    database,
    `select j.key, (select json_group_array(name)
       from (select name from page_document where document = j.value order by name limit ?2)) from json_each(?1) j`,
  )
  const segments = database.prepare(READ_PUBLISHED_SEGMENTS)
  const frequencies = database.prepare(
    `select last_term as last, counts from document_frequency f where segment = ? and last_term > ?
       and exists (select 1 from segment s where s.number = f.segment and s.state = 'published') order by last_term limit ?`,
  )
  const indexedUntil = database.prepare(
    `select cast(value as integer) as until from metadata where name = 'indexed_until'`,
  )
  const postings = postingReader(database)
  return {
    page: async (name) => pageOfNameRow(page.get(slotOf(name), name) as PageOfNameRow | undefined),
    findDocument: async (digest, vector) => (findDocument.get(digest, vector)?.number ?? null) as number | null,
    vectors: async (documents) => inPlaces(vectors.all(JSON.stringify(documents)), documents.length),
    names: async (documents, limit) =>
      inPlaces<string>(names.all(JSON.stringify(documents), limit), documents.length).map((all) => JSON.parse(all!)),
    segments: async () => (segments.all() as Segment[]).map((row) => ({ ...row })),
    frequencies: async (segment, after, limit) =>
      (frequencies.all(segment, after, limit) as FrequencyRow[]).map((row) => ({ ...row })),
    postings: async (reads) => readTransaction(database, () => postings(reads)),
    indexedUntil: async () => (indexedUntil.get()?.until ?? null) as number | null,
  }
}

function pageOfNameRow(row: PageOfNameRow | undefined): PageOfName | null {
  if (row === undefined || (row.digest === null && row.name === null)) return null
  if (row.digest !== null) return { terms: unpackTerms(row.terms!) }
  return { document: row.document, vector: row.vector }
}

/**
 * Each read covers all segments in their order. One statement serves all reads with the same row limit in a segment.
 */
function postingReader(database: DatabaseSync): (reads: readonly PostingsRead[]) => Uint8Array[] {
  const segments = database.prepare(READ_PUBLISHED_SEGMENTS)
  // Joined by SQLite, this takes a third of the time of one row per call.
  const read = arrayStatement(
    database,
    `select j.key, (select cast(group_concat(postings, '') as blob) from (select postings from posting
       where segment = ?2 and key >= j.value order by key, document limit ?3)) from json_each(?1) j`,
  )
  return (reads) => {
    const pieces: Uint8Array[][] = reads.map(() => [])
    const published = segments.all() as Segment[]
    const totalDocuments = published.reduce((sum, { documents }) => sum + documents, 0)
    for (const { segment, documents } of published)
      for (const [limit, indexes] of Map.groupBy(reads.keys(), (index) =>
        segmentRowLimit(reads[index]!.rows, documents, totalDocuments),
      )) {
        const keys = indexes.map((index) => reads[index]!.key)
        const rows = read.all(JSON.stringify(keys), segment, limit) as unknown as [number, Uint8Array | null][]
        for (const [key, bytes] of rows) if (bytes) pieces[indexes[key]!]!.push(bytes)
      }
    return pieces.map((bytes) => (bytes.length === 1 ? bytes[0]! : Buffer.concat(bytes)))
  }
}

function segmentRowLimit(rows: number, documents: number, totalDocuments: number): number {
  return Math.max(1, Math.ceil((rows * documents) / Math.max(1, totalDocuments)))
}

function arrayStatement(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql)
  statement.setReturnArrays(true)
  return statement
}

/** An array of the values of (index, value) rows; null for an index without a row. */
function inPlaces<Value = Uint8Array>(rows: readonly unknown[], length: number): (Value | null)[] {
  const all = new Array<Value | null>(length).fill(null)
  for (const [index, value] of rows as [number, Value][]) all[index] = value
  return all
}
