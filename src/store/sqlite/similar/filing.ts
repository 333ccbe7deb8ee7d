/** Filing: assigns pending start pages to their documents and deletes documents without a page. */

import type { DatabaseSync } from 'node:sqlite'
import type { PageFiling } from '../../port/similar.ts'

/** Orphans that are checked in one transaction. */
const ORPHANS_PER_WRITE = 1000

export function pageFiler(database: DatabaseSync): (filings: readonly PageFiling[]) => void {
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
