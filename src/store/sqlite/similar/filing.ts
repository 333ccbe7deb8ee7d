/** Filing: start pages that wait are noted under the wording that they have, and wordings that none has any more are dropped. */

import type { DatabaseSync } from 'node:sqlite'
import type { PageFiling } from '../../port/similar.ts'

/** Orphans that are looked at in one transaction. */
const ORPHANS_PER_WRITE = 1000

export function pageFiler(database: DatabaseSync): (filings: readonly PageFiling[]) => void {
  const take = database.prepare(
    'delete from pending_page where id = ?1 and digest = ?2 and exists (select 1 from facts where id = ?1 and name = ?3)',
  )
  const had = database.prepare('delete from page_document where id = ?')
  const find = database.prepare('select number from document where digest = ? and vector = ?')
  const make = database.prepare('insert into document (digest, vector) values (?, ?) returning number')
  const read = database.prepare('insert into page_document (id, document, name) values (?, ?, ?)')
  const numberOf = ({ key, vector }: NonNullable<PageFiling['document']>): number =>
    (find.get(key, vector) ?? make.get(key, vector)!).number as number
  const drop = orphanRemover(database)
  return (filings) => {
    for (const { id, name, digest, document: filed } of filings) {
      if (take.run(id, digest, name).changes === 0) continue
      had.run(id)
      read.run(id, filed && numberOf(filed), name)
    }
    drop()
  }
}

/** Drops the wordings that lost a page and have no other one. */
function orphanRemover(database: DatabaseSync): () => void {
  const orphans = database.prepare(`select document from orphan_document order by document limit ${ORPHANS_PER_WRITE}`)
  const done = database.prepare('delete from orphan_document where document = ?')
  const drop = database.prepare(
    'delete from document where number = ?1 and not exists (select 1 from page_document where document = ?1)',
  )
  const note = database.prepare(
    `insert or ignore into document_tombstone (document) select ?1 where ?1 <= (select max(last_document) from segment where state <> 'replaced')`,
  )
  return () => {
    for (const { document } of orphans.all() as { document: number }[]) {
      done.run(document)
      if (drop.run(document).changes === 1) note.run(document)
    }
  }
}
