/** Removes start pages from the pages that wait for the indexer, and from the documents of the index of /similar. */

import { plainArray } from '../database/arrays.ts'
import { type RowStatement, rowStatement, runForRows } from '../database/row-statements.ts'
import type { Shards } from '../database/shards.ts'
import type { Session } from '../database/transaction.ts'

/** The key of a name's own rows. */
export type PageKey = { part: number; id: number }

/** The columns of such a key. */
export const PAGE_KEY = { part: 'smallint', id: 'bigint' } as const

const DELETE_PENDING_PAGES: RowStatement<PageKey> = rowStatement(
  'pending-page.delete',
  PAGE_KEY,
  ({ rows, inShard }) =>
    `delete from pending_page p using ${rows} where p.part = k.part and p.id = k.id and ${inShard('p.part')}`,
)
/**
 * The indexer then checks whether another page still has the documents. A subquery per key, because a plan that was made
 * while the table was empty may read all of it.
 */
const REMOVE_FILED_PAGES = {
  name: 'page-document.remove',
  text: `with removed as (
      delete from page_document where ctid = any (array(
        select (select d.ctid from page_document d where d.part = k.part and d.id = k.id)
        from unnest($1::smallint[], $2::bigint[]) as k(part, id)))
      returning document)
    insert into orphan_document (document) select document from removed where document is not null`,
}

export function deletePendingPages({ run }: Session, shards: Shards, pages: readonly PageKey[]): Promise<void> {
  return runForRows(run, shards, DELETE_PENDING_PAGES, pages)
}

/**
 * Removes pages without a text from the index. Call it at the end of a transaction that deletes their rows of
 * pending_page: only then nobody can file them in between.
 */
export async function removeFiledPages({ run }: Session, pages: readonly PageKey[]): Promise<void> {
  if (pages.length > 0) await run(REMOVE_FILED_PAGES, pageKeyColumns(pages))
}

export function pageKeyColumns(pages: readonly PageKey[]): [string, string] {
  return [plainArray(pages.map(({ part }) => part)), plainArray(pages.map(({ id }) => id))]
}
