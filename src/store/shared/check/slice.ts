/** A slice of the check: the rows of one read transaction, and the faults in them. */

import type { CheckFault } from '../../port/store.ts'

/** The result of one slice. `last` is null at the end of the table. */
export type CheckSlice = { faults: CheckFault[]; checked: number; last: string | null }

/** Rows per slice: about 10 milliseconds, except for names of a store with many unmerged runs, up to seconds. */
export const CHECK_SLICE_ROWS = 500

/** A boolean as an engine returns it. */
export type DatabaseBoolean = boolean | number

/** Records one problem. */
export type ReportProblem = (problem: string) => void

export function problemReporter(faults: CheckFault[], table: string, key: string): ReportProblem {
  return (problem) => void faults.push({ table, key, problem })
}

/** `last`: the key of the last checked row. A slice without rows is the end. */
export function checkSlice(faults: CheckFault[], checked: number, last: string | undefined): CheckSlice {
  return { faults, checked, last: checked === 0 ? null : last! }
}

/** Runs a part of the check. An unreadable value is a fault of its row and does not end the check. */
export function reportIfUnreadable(report: ReportProblem, part: () => void): void {
  try {
    part()
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_SQLITE_ERROR') throw error
    report(`cannot be read: ${(error as Error).message}`)
  }
}
