/** Filing: start pages that wait are noted under the wording that they have, and wordings that none has any more are dropped. */

import type { DatabaseSync } from 'node:sqlite'
import type { PageFiling } from '../../port/similar.ts'

/** Orphans that are looked at in one transaction. */
const ORPHANS_PER_WRITE = 1000

export function pageFiler(database: DatabaseSync): (filings: readonly PageFiling[]) => void {
  const take = database.prepare(
    'delete from page where id = ?1 and digest = ?2 and exists (select 1 from facts where id = ?1 and name = ?3)',
  )
  const had = database.prepare('delete from reading where id = ?')
  const find = database.prepare('select number from wording where digest = ? and vector = ?')
  const make = database.prepare('insert into wording (digest, vector) values (?, ?) returning number')
  const read = database.prepare('insert into reading (id, wording, name) values (?, ?, ?)')
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
  const orphans = database.prepare(`select wording from orphan order by wording limit ${ORPHANS_PER_WRITE}`)
  const done = database.prepare('delete from orphan where wording = ?')
  const drop = database.prepare(
    'delete from wording where number = ?1 and not exists (select 1 from reading where wording = ?1)',
  )
  const note = database.prepare(
    `insert or ignore into gone (wording) select ?1 where ?1 <= (select max(last) from segment where state <> 'replaced')`,
  )
  return () => {
    for (const { wording: document } of orphans.all() as { wording: number }[]) {
      done.run(document)
      if (drop.run(document).changes === 1) note.run(document)
    }
  }
}
