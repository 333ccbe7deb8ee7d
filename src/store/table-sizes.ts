/** The sizes of the tables of a store: measured on request, and kept for the page of operators. */

import type { Instant } from '../values/time.ts'
import type { Store, StoreMaintenance, TableSize } from './port/store.ts'

/** The measurement. `at`: by the store's clock. */
export type MeasuredTables = { at: Instant; tables: TableSize[] }

/** The name under which the store keeps it. */
const JOB = 'table-sizes'

/** Measures all tables and keeps the result. On SQLite this reads the whole file, table by table. */
export async function measureTables(store: Pick<Store, 'maintenance' | 'now'>): Promise<MeasuredTables> {
  const tables = await store.maintenance.tableSizes()
  const measured = { at: await store.now(), tables: tables.toSorted((a, b) => b.bytes - a.bytes) }
  await store.maintenance.saveProgress(JOB, JSON.stringify(measured))
  return measured
}

/** The last measurement; null if there is none. */
export async function readMeasuredTables(
  maintenance: Pick<StoreMaintenance, 'progress'>,
): Promise<MeasuredTables | null> {
  const text = await maintenance.progress(JOB)
  return text === null ? null : (JSON.parse(text) as MeasuredTables)
}
