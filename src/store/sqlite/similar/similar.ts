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
  const page = pageReader(database)
  const findDocument = database.prepare('select number from document where digest = ? and vector = ?')
  const vectors = blobReader(database, '(select vector from document where number = j.value)')
  const names = arrayStatement(
    database,
    `select group_concat(coalesce((select group_concat(name, ',')
       from (select name from page_document where document = j.value order by name limit ?2)), ''), ';')
     from json_each(?1) j`,
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
    page: async (name) => page(name),
    findDocument: async (digest, vector) => (findDocument.get(digest, vector)?.number ?? null) as number | null,
    vectors: async (documents) => vectors(documents),
    names: async (documents, limit) => {
      const [joined] = names.get(JSON.stringify(documents), limit) as unknown as [string | null]
      return joined === null ? [] : joined.split(';').map((all) => (all === '' ? [] : (all.split(',') as DomainName[])))
    },
    segments: async () => (segments.all() as Segment[]).map((row) => ({ ...row })),
    frequencies: async (segment, after, limit) =>
      (frequencies.all(segment, after, limit) as FrequencyRow[]).map((row) => ({ ...row })),
    postings: async (reads) => readTransaction(database, () => postings(reads)),
    indexedUntil: async () => (indexedUntil.get()?.until ?? null) as number | null,
  }
}

/** Returns a function that reads the start page of a name; null if no text is stored. */
export function pageReader(database: DatabaseSync): (name: DomainName) => PageOfName | null {
  const page = database.prepare(
    `select p.digest, p.terms, r.name, r.document, w.vector from crawl_state v left join pending_page p on p.id = v.id
     left join page_document r on r.id = v.id left join document w on w.number = r.document where v.slot = ? and v.name = ?`,
  )
  return (name) => {
    const row = page.get(slotOf(name), name) as PageOfNameRow | undefined
    if (row === undefined || (row.digest === null && row.name === null)) return null
    if (row.digest !== null) return { terms: unpackTerms(row.terms!) }
    return { document: row.document, vector: row.vector }
  }
}

/**
 * Each read covers all segments in their order. One statement serves all reads with the same row limit in a segment.
 */
function postingReader(database: DatabaseSync): (reads: readonly PostingsRead[]) => Uint8Array[] {
  const segments = database.prepare(READ_PUBLISHED_SEGMENTS)
  const rowsFrom = 'select postings from posting where segment = ?2 and key >= j.value order by key, document limit'
  const readRow = blobReader(database, `(${rowsFrom} 1)`)
  const readRows = blobReader(database, `(select cast(group_concat(postings, '') as blob) from (${rowsFrom} ?3))`)
  return (reads) => {
    const pieces: Uint8Array[][] = reads.map(() => [])
    const published = segments.all() as Segment[]
    const totalDocuments = published.reduce((sum, { documents }) => sum + documents, 0)
    for (const { segment, documents } of published)
      for (const [limit, indexes] of Map.groupBy(reads.keys(), (index) =>
        segmentRowLimit(reads[index]!.rows, documents, totalDocuments),
      )) {
        const keys = indexes.map((index) => reads[index]!.key)
        const blobs = limit === 1 ? readRow(keys, segment) : readRows(keys, segment, limit)
        for (const [at, bytes] of blobs.entries()) if (bytes) pieces[indexes[at]!]!.push(bytes)
      }
    return pieces.map((bytes) => (bytes.length === 1 ? bytes[0]! : Buffer.concat(bytes)))
  }
}

function segmentRowLimit(rows: number, documents: number, totalDocuments: number): number {
  return Math.max(1, Math.ceil((rows * documents) / Math.max(1, totalDocuments)))
}

/**
 * Prepares a statement that computes a blob, or null, for each number of a list, `j.value`. `parameters` are ?2 and
 * later. SQLite joins the blobs and lists their lengths, which takes half as long as one row for each blob. It
 * aggregates in the order of the list.
 */
function blobReader(
  database: DatabaseSync,
  blob: string,
): (numbers: readonly number[], ...parameters: number[]) => (Uint8Array | null)[] {
  const statement = arrayStatement(
    database,
    `select cast(group_concat(b, '') as blob), group_concat(coalesce(length(b), 'null'), ',')
     from (select ${blob} as b from json_each(?1) j limit -1)`,
  )
  return (numbers, ...parameters) => {
    if (numbers.length === 0) return []
    const row = statement.get(JSON.stringify(numbers), ...parameters)
    const [joined, lengths] = row as unknown as [Uint8Array | null, string]
    let end = 0
    return lengths.split(',').map((length) => {
      if (length === 'null') return null
      end += Number(length)
      return joined!.subarray(end - Number(length), end)
    })
  }
}

function arrayStatement(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql)
  statement.setReturnArrays(true)
  return statement
}
