/** Filing: start pages that wait are noted under the wording that they have, and wordings that none has any more are dropped. */

import type { PageFiling } from '../../port/similar.ts'
import { bytesArray, plainArray } from '../database/arrays.ts'
import { partitionOfName } from '../database/partition.ts'
import { documentRowSql } from './similar.ts'
import type { Session } from '../database/transaction.ts'

/** Orphans that are looked at in one transaction. */
const ORPHANS_PER_TRANSACTION = 1000

/**
 * What a writer has locked waits for the next round: so nothing is waited for here, and no writer of observations waits for one
 * that waits for it. Once a row is locked, nobody takes away the reading of its page before this transaction has ended.
 */
const TAKE_PENDING_PAGES = {
  name: 'filing.take',
  text: `with taken as materialized (
      select k.place, p.here from unnest($1::smallint[], $2::bigint[], $3::text[]) with ordinality k(part, id, digest, place)
      cross join lateral (
        select ctid as here from page p where p.part = k.part and p.id = k.id and p.digest = k.digest
        for update of p skip locked) p),
    removed as (delete from page where ctid = any (array(select here from taken)))
    select place from taken`,
}
const NUMBER_DOCUMENTS = {
  name: 'filing.number',
  text: `with found as materialized (
      select k.*, (select w.number from wording w where w.digest = k.digest and w.vector = k.vector limit 1) as former
      from unnest($1::bigint[], $2::bytea[]) with ordinality k(digest, vector, place)),
    numbered as materialized (
      select place, digest, vector, former, coalesce(former, nextval('wording_number')) as wording from found),
    made as (
      insert into wording (number, digest, part, vector)
      select k.wording, k.digest, (k.wording & 255)::smallint, k.vector from numbered k where k.former is null)
    select wording from numbered order by place`,
}
/** Answers the wordings that pages have no more. */
const UPSERT_PAGE_DOCUMENTS = {
  name: 'filing.keep',
  text: `with k as materialized (
      select * from unnest($1::smallint[], $2::bigint[], $3::bigint[], $4::text[]) k(part, id, wording, name)),
    former as materialized (
      select (select r.wording from reading r where r.part = k.part and r.id = k.id and r.wording is distinct from k.wording) as wording
      from k),
    kept as (
      insert into reading (part, id, wording, name) select * from k
      on conflict (part, id) do update set wording = excluded.wording
      where reading.wording is distinct from excluded.wording)
    select wording from former where wording is not null`,
}
const TAKE_ORPHANS = {
  name: 'filing.unread',
  text: `delete from orphan where ctid = any (array(select ctid from orphan limit ${ORPHANS_PER_TRANSACTION})) returning wording`,
}
const DELETE_DOCUMENTS = {
  name: 'filing.drop',
  text: `with dropped as (
      delete from wording where ctid = any (array(
        select w.here from unnest($1::bigint[]) k(wording)
        cross join lateral (
          select w.ctid as here from ${documentRowSql('k.wording')} and
          (select r.wording from reading r where r.wording = k.wording limit 1) is null) w))
      returning number)
    insert into gone (wording) select number from dropped where number <= (select max(last) from segment where state <> 'replaced')
    on conflict do nothing`,
}

type DocumentRows = { document: number }[]

export async function filePendingPages(session: Session, filings: readonly PageFiling[]): Promise<void> {
  const taken = await takePendingPages(session, filings)
  const documents = await documentNumbers(session, taken)
  const [former, unread] = await Promise.all([upsertPageDocuments(session, taken, documents), session.rows<DocumentRows[number]>(TAKE_ORPHANS)])
  const lost = [...former, ...unread].map(({ document }) => document)
  if (lost.length > 0) await session.run(DELETE_DOCUMENTS, [plainArray(lost)])
}

/** Those whose page is as it was read. */
async function takePendingPages(session: Session, filings: readonly PageFiling[]): Promise<PageFiling[]> {
  if (filings.length === 0) return []
  const digests = plainArray(filings.map(({ digest }) => digest))
  const rows = await session.rows<{ place: number }>(TAKE_PENDING_PAGES, [...pageKeyColumns(filings), digests])
  return rows.map(({ place }) => filings[place - 1]!)
}

/** The number of each one's wording, null without a word. Wordings that are new are numbered in the order given. */
async function documentNumbers(session: Session, filings: readonly PageFiling[]): Promise<(number | null)[]> {
  const texts = filings.map(({ document: filed }) => filed && `${filed.key} ${Buffer.from(filed.vector).toString('latin1')}`)
  const distinct = new Map(filings.flatMap(({ document: filed }, place) => (filed ? [[texts[place]!, filed] as const] : [])))
  if (distinct.size === 0) return filings.map(() => null)
  const rows = await session.rows<DocumentRows[number]>(NUMBER_DOCUMENTS, [
    plainArray([...distinct.values()].map(({ key }) => key)),
    bytesArray([...distinct.values()].map(({ vector }) => vector)),
  ])
  const numbers = new Map([...distinct.keys()].map((text, place) => [text, rows[place]!.document]))
  return texts.map((text) => (text === null ? null : numbers.get(text)!))
}

async function upsertPageDocuments(session: Session, filings: readonly PageFiling[], documents: (number | null)[]): Promise<DocumentRows> {
  if (filings.length === 0) return []
  const names = plainArray(filings.map(({ name }) => name))
  return session.rows<DocumentRows[number]>(UPSERT_PAGE_DOCUMENTS, [...pageKeyColumns(filings), plainArray(documents), names])
}

function pageKeyColumns(filings: readonly PageFiling[]): [string, string] {
  return [plainArray(filings.map(({ name }) => partitionOfName(name))), plainArray(filings.map(({ id }) => id))]
}
