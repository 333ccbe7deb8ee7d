/**
 * The index of similar texts on PostgreSQL. Every write checks its lock in its transaction, which keeps the lock valid.
 */

import type { DomainName } from '../../../values/domain-name.ts'
import type { LockHold } from '../../port/jobs.ts'
import type { FrequencyRow, PageFiling, PostingRow, SimilarIndexStore, StoredDocument } from '../../port/similar.ts'
import { checksumOf } from '../../shared/check/checksum.ts'
import { addLostSegmentsSql, REPLACE_SEGMENTS } from '../../shared/check/segments.ts'
import { unpackTerms } from '../../shared/columns.ts'
import { bytesArray, plainArray } from '../database/arrays.ts'
import type { Database } from '../database/database.ts'
import { PART_VALUES, partitionOfName } from '../database/partition.ts'
import type { ReadStatement } from '../database/pipelined-reader.ts'
import { matchRows, rowStatement } from '../database/row-statements.ts'
import { inShardSql, type Shards } from '../database/shards.ts'
import type { Session } from '../database/transaction.ts'
import { PAGE_KEY, pageKeyColumns } from '../facts/page-removal.ts'
import { replacedSegmentRemover } from './replaced-segments.ts'
import { documentRowSql } from './similar.ts'

/** Orphans that are checked in one transaction. */
const ORPHANS_PER_TRANSACTION = 1000

/**
 * Skips rows that a writer has locked, until the next call. So filing waits for no writer of observations, and no
 * deadlock occurs. While a row is locked, no transaction deletes the page's row of page_document.
 */
type TakenPage = { part: number; id: number; digest: string }
const TAKE_PENDING_PAGES = rowStatement<TakenPage>(
  'filing.take',
  { ...PAGE_KEY, digest: 'word' },
  ({ numberedRows, inShard }) =>
    `with taken as materialized (
      select k.position, p.row_id from ${numberedRows}
      cross join lateral (
        select ctid as row_id from pending_page p where p.part = k.part and p.id = k.id and p.digest = k.digest
          and ${inShard('p.part')} for update of p skip locked) p),
    removed as (
      delete from pending_page d where d.ctid = any (array(select row_id from taken)) and ${inShard('d.part')})
    select position from taken`,
)
const NUMBER_DOCUMENTS = {
  name: 'filing.number',
  text: `with found as materialized (
      select k.*, (select d.number from document d where d.digest = k.digest and d.vector = k.vector limit 1) as former
      from unnest($1::bigint[], $2::bytea[]) with ordinality k(digest, vector, position)),
    numbered as materialized (
      select position, digest, vector, former, coalesce(former, nextval('document_number')) as document from found),
    inserted as (
      insert into document (number, digest, part, vector)
      select k.document, k.digest, (k.document & 255)::smallint, k.vector from numbered k where k.former is null)
    select document from numbered order by position`,
}

/** Returns the former documents of the pages. */
const UPSERT_PAGE_DOCUMENTS = {
  name: 'filing.upsert',
  text: `with k as materialized (
      select * from unnest($1::smallint[], $2::bigint[], $3::bigint[], $4::text[]) k(part, id, document, name)),
    former as materialized (
      select (select d.document from page_document d
        where d.part = k.part and d.id = k.id and d.document is distinct from k.document) as document
      from k),
    upserted as (
      insert into page_document (part, id, document, name) select * from k
      on conflict (part, id) do update set document = excluded.document
      where page_document.document is distinct from excluded.document)
    select document from former where document is not null`,
}
const TAKE_ORPHANS = {
  name: 'filing.orphans',
  text: `delete from orphan_document
    where ctid = any (array(select ctid from orphan_document limit ${ORPHANS_PER_TRANSACTION})) returning document`,
}
const DELETE_DOCUMENTS = {
  name: 'filing.delete-documents',
  text: `with deleted as (
      delete from document where ctid = any (array(
        select d.row_id from unnest($1::bigint[]) k(document)
        cross join lateral (
          select d.ctid as row_id from ${documentRowSql('k.document')} and
          (select p.document from page_document p where p.document = k.document limit 1) is null) d))
      returning number)
    insert into document_tombstone (document) select number from deleted
      where number <= (select max(last_document) from segment where state <> 'replaced')
    on conflict do nothing`,
}

type DocumentRows = { document: number }[]

/** Locks the row, so that no process acquires the lock before the end of the transaction. */
const CHECK_INDEX_LOCK = {
  name: 'indexing.lock',
  text: `select 1 from named_lock where name = 'index' and fence = $1 and holder is not null for share`,
}
/** `$6`: the partitions of the shard. */
const READ_PENDING_PAGES = {
  name: 'indexing.pending',
  text: `select part, id, (select f.name from facts f where f.part = p.part and f.id = p.id and ${inShardSql('f.part', 6)}) as name,
      digest, terms from pending_page p
    where (part, id) > ($1, $2) and (part, id) <= ($3, $4) and ${inShardSql('p.part', 6)} order by part, id limit $5`,
}
const READ_DOCUMENTS = {
  name: 'indexing.documents',
  text: 'select number as document, vector from document where number > $1 order by number limit $2',
}
const COUNT_DOCUMENTS = {
  name: 'indexing.count-documents',
  text: `select count(*) as count, max(number) as last from
    (select number from document where number > $1 and number <= $2 order by number limit $3) counted`,
}
const BEGIN_SEGMENT = {
  name: 'indexing.begin',
  text: `with ended as (update segment set state = 'replaced' where state = 'building' and fence <> $3)
    insert into segment (first_document, last_document, documents, state, fence) values ($1, $2, 0, 'building', $3) returning number`,
}
const INSERT_POSTINGS = {
  name: 'indexing.post',
  text: `insert into posting (segment, part, key, document, postings, checksum)
    select $1, key >> 22, key, document, postings, checksum
    from unnest($2::integer[], $3::bigint[], $4::bytea[], $5::bigint[]) k(key, document, postings, checksum)`,
}
const INSERT_FREQUENCIES = {
  name: 'indexing.count',
  text: `insert into document_frequency (segment, last_term, counts, checksum)
    select $1, * from unnest($2::integer[], $3::bytea[], $4::bigint[])`,
}
const PUBLISH_SEGMENT = {
  name: 'indexing.publish',
  text: `with published as (
      update segment set state = 'published', documents = $2 where number = $1 returning first_document, last_document)
    update segment s set state = 'replaced' from published p
    where s.state = 'published' and s.number <> $1
      and s.first_document >= p.first_document and s.last_document <= p.last_document`,
}
const REPLACE_ALL = { name: 'indexing.replace-all', text: REPLACE_SEGMENTS }
const ADD_LOST_SEGMENTS = { name: 'indexing.add-lost', text: addLostSegmentsSql('overriding system value') }
const READ_POSTINGS = {
  name: 'indexing.rows',
  text: `select key, document, postings from posting where segment = $1 and (key, document) > ($2, $3)
    order by key, document limit $4`,
}
const READ_TOMBSTONES = {
  name: 'indexing.tombstones',
  text: 'select document from document_tombstone where document > $1 and document <= $2 order by document limit $3',
}
const DELETE_TOMBSTONES = {
  name: 'indexing.delete-tombstones',
  text: 'delete from document_tombstone where document = any ($1::bigint[])',
}
const SET_INDEXED_UNTIL = {
  name: 'indexing.set-indexed-until',
  text: `insert into metadata (name, value) values ('indexed_until', $1) on conflict (name) do update set value = excluded.value`,
}

type IndexerDatabase = Pick<Database, 'readLong' | 'transaction' | 'shards'>

export function postgresIndexer({ readLong, transaction, shards }: IndexerDatabase): SimilarIndexStore {
  /** Runs `work` if the lock is valid; otherwise returns `rejected`. */
  const withValidLock = <Result>({ fence }: LockHold, rejected: Result, work: (session: Session) => Promise<Result>) =>
    transaction(async (session) =>
      (await session.rows(CHECK_INDEX_LOCK, [fence])).length === 0 ? rejected : work(session),
    )
  const writeWithLock = (hold: LockHold, work: (session: Session) => Promise<unknown>): Promise<boolean> =>
    withValidLock(hold, false, async (session) => {
      await work(session)
      return true
    })
  const removeReplaced = replacedSegmentRemover()
  return {
    pending: pendingPageReader(readLong, shards),
    filePages: async (hold, filings) => {
      const where = await shards()
      return writeWithLock(hold, (session) => filePendingPages(session, where, filings))
    },
    documents: (after, limit) => readLong<StoredDocument>(READ_DOCUMENTS, [after, limit]),
    countDocuments: (after, last, limit) => countDocuments(readLong, after, last, limit),
    beginSegment: (hold, first, last) =>
      withValidLock(hold, null as number | null, async ({ rows }) => {
        const [segmentRow] = await rows<{ number: number }>(BEGIN_SEGMENT, [first, last, hold.fence])
        return segmentRow!.number
      }),
    writeRows: (hold, segment, postings, frequencies) =>
      writeWithLock(hold, (session) => insertSegmentRows(session, segment, postings, frequencies)),
    publishSegment: (hold, segment, documents) =>
      writeWithLock(hold, ({ run }) => run(PUBLISH_SEGMENT, [segment, documents])),
    restart: (hold) =>
      writeWithLock(hold, async ({ run }) => {
        await run(REPLACE_ALL)
        await run(ADD_LOST_SEGMENTS)
      }),
    removeReplaced: (hold, limit) => removeReplaced((work) => withValidLock(hold, null, work), limit),
    rows: (segment, after, limit) =>
      readLong<PostingRow>(READ_POSTINGS, [segment, after?.key ?? -1, after?.document ?? 0, limit]),
    tombstones: async (after, last, limit) =>
      (await readLong<{ document: number }>(READ_TOMBSTONES, [after, last, limit])).map(({ document }) => document),
    removeTombstones: (hold, documents) =>
      writeWithLock(hold, ({ run }) => run(DELETE_TOMBSTONES, [plainArray(documents)])),
    setIndexedUntil: (hold, until) => writeWithLock(hold, ({ run }) => run(SET_INDEXED_UNTIL, [String(until)])),
  }
}

/** Counts documents, as SimilarIndexStore. */
export async function countDocuments(
  read: ReadStatement,
  after: number,
  upTo: number,
  limit: number,
): Promise<{ count: number; next: number | null }> {
  const [row] = await read<{ count: number; last: number | null }>(COUNT_DOCUMENTS, [after, upTo, limit])
  const { count, last } = row!
  return { count, next: count < limit ? null : last }
}

type PageKey = readonly [part: number, id: number]
const FIRST_PAGE_KEY: PageKey = [-1, -1]
const LAST_PAGE_KEY: PageKey = [PART_VALUES.at(-1)! + 1, 0]

type PendingRow = { part: number; id: number; name: DomainName | null; digest: string; terms: Uint8Array }

/**
 * Each call continues after the pages of the previous call, shard by shard, and starts over at the end. Until they are
 * vacuumed, deleted rows slow down every scan from the first page.
 */
function pendingPageReader(read: Database['readLong'], shards: Database['shards']): SimilarIndexStore['pending'] {
  let shard = 0
  let after = FIRST_PAGE_KEY
  return async (limit) => {
    const { parts } = await shards()
    const [firstShard, from] = [shard, after]
    const rows: PendingRow[] = []
    const readRange = async (last: PageKey): Promise<void> => {
      const left = limit - rows.length
      const found = await read<PendingRow>(READ_PENDING_PAGES, [...after, ...last, left, parts[shard]])
      rows.push(...found)
      const isFull = found.length === left
      after = isFull ? [found.at(-1)!.part, found.at(-1)!.id] : FIRST_PAGE_KEY
      if (!isFull) shard = (shard + 1) % parts.length
    }
    for (let visited = 0; visited < parts.length && rows.length < limit; visited++) await readRange(LAST_PAGE_KEY)
    if (rows.length < limit && shard === firstShard && from !== FIRST_PAGE_KEY) await readRange(from)
    return rows.flatMap(({ id, name, digest, terms }) =>
      name === null ? [] : [{ id, name, digest, terms: unpackTerms(terms) }],
    )
  }
}

async function insertSegmentRows(
  { run }: Session,
  segment: number,
  postings: readonly PostingRow[],
  frequencies: readonly FrequencyRow[],
): Promise<void> {
  const ofPosting = ({ key, document, postings: bytes }: PostingRow): number =>
    checksumOf('posting', [segment, key, document, bytes])
  const ofFrequency = ({ last, counts }: FrequencyRow): number =>
    checksumOf('document_frequency', [segment, last, counts])
  await Promise.all([
    postings.length > 0 &&
      run(INSERT_POSTINGS, [
        segment,
        plainArray(postings.map(({ key }) => key)),
        plainArray(postings.map(({ document }) => document)),
        bytesArray(postings.map((row) => row.postings)),
        plainArray(postings.map(ofPosting)),
      ]),
    frequencies.length > 0 &&
      run(INSERT_FREQUENCIES, [
        segment,
        plainArray(frequencies.map(({ last }) => last)),
        bytesArray(frequencies.map(({ counts }) => counts)),
        plainArray(frequencies.map(ofFrequency)),
      ]),
  ])
}

/** Files pending start pages under their documents, and deletes documents that no page has any more. */
async function filePendingPages(session: Session, shards: Shards, filings: readonly PageFiling[]): Promise<void> {
  const lockedFilings = await takePendingPages(session, shards, filings)
  const documents = await documentNumbers(session, lockedFilings)
  const [former, orphans] = await Promise.all([
    upsertPageDocuments(session, lockedFilings, documents),
    session.rows<DocumentRows[number]>(TAKE_ORPHANS),
  ])
  const lost = [...former, ...orphans].map(({ document }) => document)
  if (lost.length > 0) await session.run(DELETE_DOCUMENTS, [plainArray(lost)])
}

/** The filings whose page has not changed since it was read. */
async function takePendingPages(
  session: Session,
  shards: Shards,
  filings: readonly PageFiling[],
): Promise<PageFiling[]> {
  const pages = filings.map((filing) => ({ ...filing, part: partitionOfName(filing.name) }))
  const taken = await matchRows<{ position: number }, TakenPage>(session.rows, shards, TAKE_PENDING_PAGES, pages)
  return taken.map(({ row }) => row as (typeof pages)[number])
}

/** The document number of each page; null if it has no terms. New documents are numbered in the order of `filings`. */
async function documentNumbers(session: Session, filings: readonly PageFiling[]): Promise<(number | null)[]> {
  const texts = filings.map(
    ({ document }) => document && `${document.key} ${Buffer.from(document.vector).toString('latin1')}`,
  )
  const distinct = new Map(
    filings.flatMap(({ document }, index) => (document ? [[texts[index]!, document] as const] : [])),
  )
  if (distinct.size === 0) return filings.map(() => null)
  const rows = await session.rows<DocumentRows[number]>(NUMBER_DOCUMENTS, [
    plainArray([...distinct.values()].map(({ key }) => key)),
    bytesArray([...distinct.values()].map(({ vector }) => vector)),
  ])
  const numbers = new Map([...distinct.keys()].map((text, index) => [text, rows[index]!.document]))
  return texts.map((text) => (text === null ? null : numbers.get(text)!))
}

async function upsertPageDocuments(
  session: Session,
  filings: readonly PageFiling[],
  documents: (number | null)[],
): Promise<DocumentRows> {
  if (filings.length === 0) return []
  const names = plainArray(filings.map(({ name }) => name))
  return session.rows<DocumentRows[number]>(UPSERT_PAGE_DOCUMENTS, [
    ...keyColumns(filings),
    plainArray(documents),
    names,
  ])
}

function keyColumns(filings: readonly PageFiling[]): [string, string] {
  return pageKeyColumns(filings.map(({ name, id }) => ({ part: partitionOfName(name), id })))
}
