/** The index of similar texts on SQLite. Every write checks its lock in its transaction. */

import type { DatabaseSync } from 'node:sqlite'
import type { LockHold } from '../../port/jobs.ts'
import type {
  FrequencyRow,
  PageFiling,
  PendingPage,
  PostingRow,
  SimilarIndexStore,
  StoredDocument,
} from '../../port/similar.ts'
import { checksumOf } from '../../shared/check/checksum.ts'
import { addLostSegmentsSql, REPLACE_SEGMENTS } from '../../shared/check/segments.ts'
import { unpackTerms } from '../../shared/columns.ts'
import { writeTransaction } from '../database/connection.ts'
import type { WriteAheadLog } from '../database/write-ahead-log.ts'

/** Orphans that are checked in one transaction. */
const ORPHANS_PER_WRITE = 1000

type PendingPageRow = Omit<PendingPage, 'terms'> & { terms: Uint8Array }

export function sqliteIndexer(database: DatabaseSync, log: WriteAheadLog): SimilarIndexStore {
  const validLock = database.prepare(
    `select 1 from named_lock where name = 'index' and fence = ? and holder is not null`,
  )
  const pending = database.prepare(
    'select p.id, f.name, p.digest, p.terms from pending_page p join facts f on f.id = p.id order by p.id limit ?',
  )
  const documents = database.prepare(
    'select number as document, vector from document where number > ? order by number limit ?',
  )
  const countDocuments = documentCounter(database)
  const setIndexedUntil = database.prepare(`insert or replace into metadata (name, value) values ('indexed_until', ?)`)
  const file = pageFiler(database)
  const { begin, write, publish, rows } = segmentStatements(database)
  const { tombstones, removeTombstones } = tombstoneStatements(database)
  const removeReplaced = replacedSegmentDeleter(database)
  /** Runs `work` if the lock is valid; otherwise returns `rejected`. */
  const withValidLock = <Result>({ fence }: LockHold, rejected: Result, work: () => Result): Promise<Result> =>
    log.whenBounded(() => writeTransaction(database, () => (validLock.get(fence) === undefined ? rejected : work())))
  const writeWithLock = (hold: LockHold, work: () => void): Promise<boolean> =>
    withValidLock(hold, false, () => {
      work()
      return true
    })
  return {
    pending: async (limit) =>
      (pending.all(limit) as PendingPageRow[]).map((row) => ({ ...row, terms: unpackTerms(row.terms) })),
    filePages: (hold, filings) => writeWithLock(hold, () => file(filings)),
    documents: async (after, limit) => (documents.all(after, limit) as StoredDocument[]).map((row) => ({ ...row })),
    countDocuments: async (after, last, limit) => countDocuments(after, last, limit),
    beginSegment: (hold, first, last) => withValidLock(hold, null, () => begin(hold, first, last)),
    writeRows: (hold, segment, postings, frequencies) =>
      writeWithLock(hold, () => write(segment, postings, frequencies)),
    publishSegment: (hold, segment, count) => writeWithLock(hold, () => publish(segment, count)),
    restart: (hold) => writeWithLock(hold, () => database.exec(`${REPLACE_SEGMENTS}; ${addLostSegmentsSql()}`)),
    removeReplaced: (hold, limit) => withValidLock(hold, false, () => removeReplaced(limit)),
    rows: async (segment, after, limit) => rows(segment, after, limit),
    tombstones: async (after, last, limit) => tombstones(after, last, limit),
    removeTombstones: (hold, removed) => writeWithLock(hold, () => removeTombstones(removed)),
    setIndexedUntil: (hold, until) => writeWithLock(hold, () => setIndexedUntil.run(String(until))),
  }
}

function segmentStatements(database: DatabaseSync) {
  const endBuilding = database.prepare(`update segment set state = 'replaced' where state = 'building' and fence <> ?`)
  const insertSegment = database.prepare(
    `insert into segment (first_document, last_document, documents, state, fence) values (?, ?, 0, 'building', ?) returning number`,
  )
  const insertPosting = database.prepare(
    'insert into posting (segment, key, document, postings, checksum) values (?, ?, ?, ?, ?)',
  )
  const insertFrequency = database.prepare(
    'insert into document_frequency (segment, last_term, counts, checksum) values (?, ?, ?, ?)',
  )
  const publishSegment = database.prepare(
    `update segment set state = 'published', documents = ? where number = ? returning first_document as first, last_document as last`,
  )
  const replaceCovered = database.prepare(
    `update segment set state = 'replaced' where state = 'published' and first_document >= ? and last_document <= ? and number <> ?`,
  )
  const rows = database.prepare(
    `select key, document, postings from posting where segment = ? and (key, document) > (?, ?)
     order by key, document limit ?`,
  )
  return {
    begin({ fence }: LockHold, first: number, last: number): number {
      endBuilding.run(fence)
      return insertSegment.get(first, last, fence)!.number as number
    },
    write(segment: number, postings: readonly PostingRow[], frequencies: readonly FrequencyRow[]): void {
      for (const { key, document, postings: bytes } of postings)
        insertPosting.run(segment, key, document, bytes, checksumOf('posting', [segment, key, document, bytes]))
      for (const { last, counts } of frequencies)
        insertFrequency.run(segment, last, counts, checksumOf('document_frequency', [segment, last, counts]))
    },
    publish(segment: number, documents: number): void {
      const { first, last } = publishSegment.get(documents, segment) as { first: number; last: number }
      replaceCovered.run(first, last, segment)
    },
    rows: (segment: number, after: { key: number; document: number } | null, limit: number): PostingRow[] =>
      (rows.all(segment, after?.key ?? -1, after?.document ?? 0, limit) as PostingRow[]).map((row) => ({ ...row })),
  }
}

/** Counts documents, as SimilarIndexStore. */
export function documentCounter(database: DatabaseSync) {
  const count = database.prepare(
    `select count(*) as count, max(number) as last from
       (select number from document where number > ? and number <= ? order by number limit ?)`,
  )
  return (after: number, upTo: number, limit: number): { count: number; next: number | null } => {
    const { count: counted, last } = count.get(after, upTo, limit) as { count: number; last: number | null }
    return { count: counted, next: counted < limit ? null : last }
  }
}

function tombstoneStatements(database: DatabaseSync) {
  const read = database.prepare(
    'select document from document_tombstone where document > ? and document <= ? order by document limit ?',
  )
  const removeTombstone = database.prepare('delete from document_tombstone where document = ?')
  return {
    tombstones: (after: number, last: number, limit: number): number[] =>
      (read.all(after, last, limit) as { document: number }[]).map(({ document }) => document),
    removeTombstones(documents: readonly number[]): void {
      for (const document of documents) removeTombstone.run(document)
    },
  }
}

/** Deletes rows of replaced segments, and each segment with its last row. Returns true if more are left. */
function replacedSegmentDeleter(database: DatabaseSync): (limit: number) => boolean {
  const next = database.prepare(`select number from segment where state = 'replaced' order by number limit 1`)
  const removals = [
    `delete from posting where segment = ?1 and (key, document) in
       (select key, document from posting where segment = ?1 order by key, document limit ?2)`,
    'delete from document_frequency where segment = ?1 and last_term in (select last_term from document_frequency where segment = ?1 order by last_term limit ?2)',
    'delete from segment where number = ?1 and ?2 > 0',
  ].map((sql) => database.prepare(sql))
  return (limit) => {
    let left = limit
    for (let row = next.get(); row !== undefined; row = next.get()) {
      for (const removal of removals) left -= Number(removal.run(row.number!, left).changes)
      if (left <= 0) return next.get() !== undefined
    }
    return false
  }
}

/** Filing: assigns pending start pages to their documents and deletes documents without a page. */
function pageFiler(database: DatabaseSync): (filings: readonly PageFiling[]) => void {
  const deletePending = database.prepare(
    'delete from pending_page where id = ?1 and digest = ?2 and exists (select 1 from facts where id = ?1 and name = ?3)',
  )
  const deletePageDocument = database.prepare('delete from page_document where id = ?')
  const find = database.prepare('select number from document where digest = ? and vector = ?')
  const insertDocument = database.prepare('insert into document (digest, vector) values (?, ?) returning number')
  const insertPageDocument = database.prepare('insert into page_document (id, document, name) values (?, ?, ?)')
  const numberOf = ({ key, vector }: NonNullable<PageFiling['document']>): number =>
    (find.get(key, vector) ?? insertDocument.get(key, vector)!).number as number
  const removeOrphans = orphanRemover(database)
  return (filings) => {
    for (const { id, name, digest, document } of filings) {
      if (deletePending.run(id, digest, name).changes === 0) continue
      deletePageDocument.run(id)
      insertPageDocument.run(id, document && numberOf(document), name)
    }
    removeOrphans()
  }
}

/** Deletes documents that lost a page and have no other one. */
function orphanRemover(database: DatabaseSync): () => void {
  const orphans = database.prepare(`select document from orphan_document order by document limit ${ORPHANS_PER_WRITE}`)
  const deleteOrphan = database.prepare('delete from orphan_document where document = ?')
  const deleteDocument = database.prepare(
    'delete from document where number = ?1 and not exists (select 1 from page_document where document = ?1)',
  )
  const insertTombstone = database.prepare(
    `insert or ignore into document_tombstone (document) select ?1 where ?1 <= (select max(last_document) from segment where state <> 'replaced')`,
  )
  return () => {
    for (const { document } of orphans.all() as { document: number }[]) {
      deleteOrphan.run(document)
      if (deleteDocument.run(document).changes === 1) insertTombstone.run(document)
    }
  }
}
