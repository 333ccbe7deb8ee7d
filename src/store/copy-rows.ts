/** Copies a store table by table, resumes an interrupted copy, and compares both stores. */

import { CommandFault } from '../config/command-fault.ts'
import { BULK_TABLES, type BulkStore, type BulkTable, TableDigest } from './port/bulk.ts'

/** `done`: rows so far. `share`: their share of all rows, 0 to 1. */
type ShowProgress = (done: number, share: number) => void
/**
 * How far a copy is: the table, the last position in it (null at its start), and the rows so far. `tables`: all tables,
 * because another release may have others, and then the index of a table means nothing.
 */
type CopyProgress = { table: number; after: string | null; done: number; tables: string }

/** A table of the source. `differs` describes the table of the target if it is not the same, and is null otherwise. */
export type ComparedTable = { table: string; rows: number; digest: string; differs: string | null }

/** Rows per read and write. */
const COPY_BATCH_ROWS = 10_000
const TABLES = BULK_TABLES.map(({ name }) => name).join(' ')

/**
 * Copies the rows that the target does not have yet. Returns false if the signal stopped it. Throws CommandFault if the
 * target is in use, or if another release began the copy.
 */
export async function copyRows(
  source: BulkStore,
  target: BulkStore,
  signal: AbortSignal,
  show: ShowProgress,
): Promise<boolean> {
  const totalRows = await countAllRows(source)
  const stored = await target.progress()
  if (stored === null && (await countAllRows(target)) > 0)
    throw new CommandFault('the target store is not empty: set DOMAINDEX_STORE_TO to another one')
  const position = startPosition(stored)
  for (; position.table < BULK_TABLES.length; position.table++, position.after = null) {
    const table = BULK_TABLES[position.table]!
    do {
      if (signal.aborted) return false
      const { rows, next } = await source.read(table, position.after, COPY_BATCH_ROWS)
      position.after = next
      position.done += rows.length
      const nextPosition: CopyProgress = next === null ? { ...position, table: position.table + 1 } : position
      await target.write(table, rows, JSON.stringify(nextPosition))
      show(position.done, position.done / Math.max(1, totalRows))
    } while (position.after !== null)
  }
  return true
}

function startPosition(stored: string | null): CopyProgress {
  if (stored === null) return { table: 0, after: null, done: 0, tables: TABLES }
  const position = JSON.parse(stored) as CopyProgress
  if (position.tables === TABLES) return position
  throw new CommandFault(
    'another release of domaindex began this copy: end it with that release, or use an empty target',
  )
}

async function countAllRows(store: BulkStore): Promise<number> {
  let rows = 0
  for (const table of BULK_TABLES) rows += await store.count(table)
  return rows
}

/** Compares counts and digests of every table. Returns null if the signal stopped it. */
export async function compareStores(
  source: BulkStore,
  target: BulkStore,
  signal: AbortSignal,
  show: ShowProgress,
): Promise<ComparedTable[] | null> {
  const totalRows = (await countAllRows(source)) + (await countAllRows(target))
  const compared: ComparedTable[] = []
  let done = 0
  const onRows = (rows: number): void => {
    done += rows
    show(done, done / Math.max(1, totalRows))
  }
  for (const table of BULK_TABLES) {
    const [sourceDigest, targetDigest] = await Promise.all([
      tableDigestOf(source, table, signal, onRows),
      tableDigestOf(target, table, signal, onRows),
    ])
    if (signal.aborted) return null
    const isEqual = sourceDigest.rows === targetDigest.rows && sourceDigest.digest === targetDigest.digest
    const differs = isEqual ? null : `${targetDigest.rows} rows, ${targetDigest.digest} in the copy`
    compared.push({ table: table.name, rows: sourceDigest.rows, digest: sourceDigest.digest, differs })
  }
  return compared
}

async function tableDigestOf(
  store: BulkStore,
  table: BulkTable,
  signal: AbortSignal,
  onRows: (rows: number) => void,
): Promise<TableDigest> {
  const digest = new TableDigest()
  let after: string | null = null
  do {
    const { rows, next }: Awaited<ReturnType<BulkStore['read']>> = await store.read(table, after, COPY_BATCH_ROWS)
    for (const row of rows) digest.add(row, table)
    onRows(rows.length)
    after = next
  } while (after !== null && !signal.aborted)
  return digest
}
