/** The upkeep of the index of similar texts on SQLite: every write looks at its hold in its transaction. */

import type { DatabaseSync } from 'node:sqlite'
import { unpackTerms } from '../../shared/columns.ts'
import type { LockHold } from '../../port/jobs.ts'
import type { FrequencyRow, SimilarIndexStore, PendingPage, PostingRow, StoredDocument } from '../../port/similar.ts'
import { checksumOf } from '../database/checksum.ts'
import { writeTransaction } from '../database/connection.ts'
import { pageFiler } from './filing.ts'
import type { WriteAheadLog } from '../database/write-ahead-log.ts'

type PendingPageRow = Omit<PendingPage, 'terms'> & { terms: Uint8Array }

export function sqliteIndexer(database: DatabaseSync, log: WriteAheadLog): SimilarIndexStore {
  const stands = database.prepare(`select 1 from duty where duty = 'index' and fence = ? and holder is not null`)
  const pending = database.prepare(
    'select p.id, f.name, p.digest, p.terms from page p join facts f on f.id = p.id order by p.id limit ?',
  )
  const documents = database.prepare(
    'select number as wording, vector from wording where number > ? order by number limit ?',
  )
  const follow = database.prepare(`insert or replace into mark (name, value) values ('followed', ?)`)
  const file = pageFiler(database)
  const { begin, write, publish, rows } = segmentStatements(database)
  const { gone: tombstones, strike } = tombstoneStatements(database)
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
    `insert into segment (first, last, wordings, state, fence) values (?, ?, 0, 'building', ?) returning number`,
  )
  const post = database.prepare(
    'insert into posting (segment, place, wording, postings, checksum) values (?, ?, ?, ?, ?)',
  )
  const count = database.prepare('insert into frequency (segment, last, counts, checksum) values (?, ?, ?, ?)')
  const answer = database.prepare(
    `update segment set state = 'answering', wordings = ? where number = ? returning first, last`,
  )
  const replace = database.prepare(
    `update segment set state = 'replaced' where state = 'answering' and first >= ? and last <= ? and number <> ?`,
  )
  const rows = database.prepare(
    `select place, wording, postings from posting where segment = ? and (place, wording) > (?, ?)
     order by place, wording limit ?`,
  )
  return {
    begin({ fence }: LockHold, first: number, last: number): number {
      end.run(fence)
      return begin.get(first, last, fence)!.number as number
    },
    write(segment: number, postings: readonly PostingRow[], frequencies: readonly FrequencyRow[]): void {
      for (const { key: place, document, postings: bytes } of postings)
        post.run(segment, place, document, bytes, checksumOf([segment, place, document, bytes]))
      for (const { last, counts } of frequencies) count.run(segment, last, counts, checksumOf([segment, last, counts]))
    },
    publish(segment: number, documents: number): void {
      const { first, last } = answer.get(documents, segment) as { first: number; last: number }
      replace.run(first, last, segment)
    },
    rows: (segment: number, after: { place: number; document: number } | null, limit: number): PostingRow[] =>
      (rows.all(segment, after?.place ?? -1, after?.document ?? 0, limit) as PostingRow[]).map((row) => ({ ...row })),
  }
}

function tombstoneStatements(database: DatabaseSync) {
  const tombstones = database.prepare('select wording from gone where wording > ? and wording <= ? order by wording limit ?')
  const strike = database.prepare('delete from gone where wording = ?')
  return {
    gone: (after: number, last: number, limit: number): number[] =>
      (tombstones.all(after, last, limit) as { document: number }[]).map(({ document: wording }) => wording),
    strike(documents: readonly number[]): void {
      for (const document of documents) strike.run(document)
    },
  }
}

/** Rows of segments that no longer answer, and each segment with its last row; true where more are left. */
function replacedSegmentDeleter(database: DatabaseSync): (limit: number) => boolean {
  const next = database.prepare(`select number from segment where state = 'replaced' order by number limit 1`)
  const removals = [
    `delete from posting where segment = ?1 and (place, wording) in
       (select place, wording from posting where segment = ?1 order by place, wording limit ?2)`,
    'delete from frequency where segment = ?1 and last in (select last from frequency where segment = ?1 order by last limit ?2)',
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
