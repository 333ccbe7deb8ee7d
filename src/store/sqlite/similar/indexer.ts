/** The upkeep of the index of similar texts on SQLite: every write looks at its hold in its transaction. */

import type { DatabaseSync } from 'node:sqlite'
import type { LockHold } from '../../port/jobs.ts'
import type { FrequencyRow, PendingPage, PostingRow, SimilarIndexStore, StoredDocument } from '../../port/similar.ts'
import { unpackTerms } from '../../shared/columns.ts'
import { checksumOf } from '../database/checksum.ts'
import { writeTransaction } from '../database/connection.ts'
import type { WriteAheadLog } from '../database/write-ahead-log.ts'
import { pageFiler } from './filing.ts'

type PendingPageRow = Omit<PendingPage, 'terms'> & { terms: Uint8Array }

export function sqliteIndexer(database: DatabaseSync, log: WriteAheadLog): SimilarIndexStore {
  const stands = database.prepare(`select 1 from named_lock where name = 'index' and fence = ? and holder is not null`)
  const pending = database.prepare(
    'select p.id, f.name, p.digest, p.terms from pending_page p join facts f on f.id = p.id order by p.id limit ?',
  )
  const documents = database.prepare(
    'select number as document, vector from document where number > ? order by number limit ?',
  )
  const follow = database.prepare(`insert or replace into metadata (name, value) values ('indexed_until', ?)`)
  const file = pageFiler(database)
  const { begin, write, publish, rows } = segmentStatements(database)
  const { tombstones, strike } = tombstoneStatements(database)
  const sweep = replacedSegmentDeleter(database)
  /** `work` where the hold stands, and `refused` where it does not. */
  const held = <Result>({ fence }: LockHold, refused: Result, work: () => Result): Promise<Result> =>
    log.whenBounded(() => writeTransaction(database, () => (stands.get(fence) === undefined ? refused : work())))
  const done = (hold: LockHold, work: () => void): Promise<boolean> =>
    held(hold, false, () => {
      work()
      return true
    })
  return {
    pending: async (limit) =>
      (pending.all(limit) as PendingPageRow[]).map((row) => ({ ...row, terms: unpackTerms(row.terms) })),
    filePages: (hold, filings) => done(hold, () => file(filings)),
    documents: async (after, limit) => (documents.all(after, limit) as StoredDocument[]).map((row) => ({ ...row })),
    beginSegment: (hold, first, last) => held(hold, null, () => begin(hold, first, last)),
    writeRows: (hold, segment, postings, frequencies) => done(hold, () => write(segment, postings, frequencies)),
    publishSegment: (hold, segment, count) => done(hold, () => publish(segment, count)),
    removeReplaced: (hold, limit) => held(hold, false, () => sweep(limit)),
    rows: async (segment, after, limit) => rows(segment, after, limit),
    tombstones: async (after, last, limit) => tombstones(after, last, limit),
    removeTombstones: (hold, struck) => done(hold, () => strike(struck)),
    setIndexedUntil: (hold, until) => done(hold, () => follow.run(String(until))),
  }
}

function segmentStatements(database: DatabaseSync) {
  const end = database.prepare(`update segment set state = 'replaced' where state = 'building' and fence <> ?`)
  const begin = database.prepare(
    `insert into segment (first_document, last_document, documents, state, fence) values (?, ?, 0, 'building', ?) returning number`,
  )
  const post = database.prepare(
    'insert into posting (segment, key, document, postings, checksum) values (?, ?, ?, ?, ?)',
  )
  const count = database.prepare(
    'insert into document_frequency (segment, last_term, counts, checksum) values (?, ?, ?, ?)',
  )
  const answer = database.prepare(
    `update segment set state = 'published', documents = ? where number = ? returning first_document as first, last_document as last`,
  )
  const replace = database.prepare(
    `update segment set state = 'replaced' where state = 'published' and first_document >= ? and last_document <= ? and number <> ?`,
  )
  const rows = database.prepare(
    `select key, document, postings from posting where segment = ? and (key, document) > (?, ?)
     order by key, document limit ?`,
  )
  return {
    begin({ fence }: LockHold, first: number, last: number): number {
      end.run(fence)
      return begin.get(first, last, fence)!.number as number
    },
    write(segment: number, postings: readonly PostingRow[], frequencies: readonly FrequencyRow[]): void {
      for (const { key, document, postings: bytes } of postings)
        post.run(segment, key, document, bytes, checksumOf([segment, key, document, bytes]))
      for (const { last, counts } of frequencies) count.run(segment, last, counts, checksumOf([segment, last, counts]))
    },
    publish(segment: number, documents: number): void {
      const { first, last } = answer.get(documents, segment) as { first: number; last: number }
      replace.run(first, last, segment)
    },
    rows: (segment: number, after: { key: number; document: number } | null, limit: number): PostingRow[] =>
      (rows.all(segment, after?.key ?? -1, after?.document ?? 0, limit) as PostingRow[]).map((row) => ({ ...row })),
  }
}

function tombstoneStatements(database: DatabaseSync) {
  const read = database.prepare(
    'select document from document_tombstone where document > ? and document <= ? order by document limit ?',
  )
  const strike = database.prepare('delete from document_tombstone where document = ?')
  return {
    tombstones: (after: number, last: number, limit: number): number[] =>
      (read.all(after, last, limit) as { document: number }[]).map(({ document }) => document),
    strike(documents: readonly number[]): void {
      for (const document of documents) strike.run(document)
    },
  }
}

/** Rows of segments that no longer answer, and each segment with its last row; true where more are left. */
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
