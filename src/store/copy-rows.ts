/** The rows of a copy: brought over table by table from where an earlier copy stopped, and compared in the end. */

import { CommandFault } from '../config/command-fault.ts'
import { BULK_TABLES, type BulkStore, type BulkTable, TableDigest } from './port/bulk.ts'

/** Told how many rows are done, and what share that is of all. */
type ShowProgress = (done: number, share: number) => void
/** How far a copy is: the table, the place in it (null at its beginning), and the rows so far. */
type CopyProgress = { table: number; after: string | null; done: number }

/** What was found of a table on the side that was read from; `differs`: words on the other side, where that is not the same. */
export type ComparedTable = { table: string; rows: number; digest: string; differs: string | null }

/** Rows read and written at once. */
const COPY_BATCH_ROWS = 10_000

/** Brings over what is not there yet; false where the signal stopped it. Throws CommandFault where the target is in use. */
export async function copyRows(
  source: BulkStore,
  target: BulkStore,
  signal: AbortSignal,
  show: ShowProgress,
): Promise<boolean> {
  const all = await countAllRows(source)
  const kept = await target.progress()
  if (kept === null && (await countAllRows(target)) > 0)
    throw new CommandFault('the store to copy to is not empty: name another one with DOMAINDEX_STORE_TO')
  const mark: CopyProgress = kept === null ? { table: 0, after: null, done: 0 } : JSON.parse(kept)
  for (; mark.table < BULK_TABLES.length; mark.table++, mark.after = null) {
    const table = BULK_TABLES[mark.table]!
    do {
      if (signal.aborted) return false
      const { rows, next } = await source.read(table, mark.after, COPY_BATCH_ROWS)
      mark.after = next
      mark.done += rows.length
      const following: CopyProgress = next === null ? { ...mark, table: mark.table + 1 } : mark
      await target.write(table, rows, JSON.stringify(following))
      show(mark.done, mark.done / Math.max(1, all))
    } while (mark.after !== null)
  }
  return true
}

async function countAllRows(store: BulkStore): Promise<number> {
  let rows = 0
  for (const table of BULK_TABLES) rows += await store.count(table)
  return rows
}

/** Counts and digests of every table on both sides; null where the signal stopped it. */
export async function compareStores(
  source: BulkStore,
  target: BulkStore,
  signal: AbortSignal,
  show: ShowProgress,
): Promise<ComparedTable[] | null> {
  const all = (await countAllRows(source)) + (await countAllRows(target))
  const compared: ComparedTable[] = []
  let done = 0
  const each = (rows: number): void => {
    done += rows
    show(done, done / Math.max(1, all))
  }
  for (const table of BULK_TABLES) {
    const [here, there] = await Promise.all([
      tableDigestOf(source, table, signal, each),
      tableDigestOf(target, table, signal, each),
    ])
    if (signal.aborted) return null
    const isSame = here.rows === there.rows && here.digest === there.digest
    const differs = isSame ? null : `${there.rows} rows, ${there.digest} in the copy`
    compared.push({ table: table.name, rows: here.rows, digest: here.digest, differs })
  }
  return compared
}

async function tableDigestOf(
  store: BulkStore,
  table: BulkTable,
  signal: AbortSignal,
  each: (rows: number) => void,
): Promise<TableDigest> {
  const sum = new TableDigest()
  let after: string | null = null
  do {
    const { rows, next }: Awaited<ReturnType<BulkStore['read']>> = await store.read(table, after, COPY_BATCH_ROWS)
    for (const row of rows) sum.add(row, table)
    each(rows.length)
    after = next
  } while (after !== null && !signal.aborted)
  return sum
}
