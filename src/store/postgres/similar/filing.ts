/** Files pending start pages under their documents, and deletes documents that no page has any more. */

import type { PageFiling } from '../../port/similar.ts'
import { bytesArray, plainArray } from '../database/arrays.ts'
import { partitionOfName } from '../database/partition.ts'
import { inShardSql, type Shards } from '../database/shards.ts'
import type { Session } from '../database/transaction.ts'
import { pageKeyColumns } from '../facts/page-removal.ts'
import { documentRowSql } from './similar.ts'

/** Orphans that are checked in one transaction. */
const ORPHANS_PER_TRANSACTION = 1000

/**
 * Skips rows that a writer has locked, until the next call. So filing waits for no writer of observations, and no
 * deadlock occurs. While a row is locked, no transaction deletes the page's row of page_document.
 */
const TAKE_PENDING_PAGES = {
  name: 'filing.take',
  text: `with taken as materialized (
      select k.position, p.row_id from unnest($1::smallint[], $2::bigint[], $3::text[]) with ordinality k(part, id, digest, position)
      cross join lateral (
        select ctid as row_id from pending_page p where p.part = k.part and p.id = k.id and p.digest = k.digest
          and ${inShardSql('p.part', 4)} for update of p skip locked) p),
    removed as (
      delete from pending_page d where d.ctid = any (array(select row_id from taken)) and ${inShardSql('d.part', 4)})
    select position from taken`,
}
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

export async function filePendingPages(
  session: Session,
  shards: Shards,
  filings: readonly PageFiling[],
): Promise<void> {
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
  const taken = shards.batches(filings, partOf).map(async ({ rows, parts }) => {
    const columns = [...keyColumns(rows), plainArray(rows.map(({ digest }) => digest)), parts]
    const positions = await session.rows<{ position: number }>(TAKE_PENDING_PAGES, columns)
    return positions.map(({ position }) => rows[position - 1]!)
  })
  return (await Promise.all(taken)).flat()
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
  return pageKeyColumns(filings.map((filing) => ({ part: partOf(filing), id: filing.id })))
}

function partOf({ name }: PageFiling): number {
  return partitionOfName(name)
}
