/** A slice of the check: what is looked at in one read transaction, and what was found wrong there. */

import type { CheckFault } from '../../port/store.ts'

/** What a part found in one slice; `last` is null where its table ended. */
export type CheckSlice = { faults: CheckFault[]; checked: number; last: string | null }

/** Rows a slice: some 10 milliseconds. */
export const CHECK_SLICE_ROWS = 500

/** Notes one thing that is wrong. */
export type ReportProblem = (problem: string) => void

export function problemReporter(faults: CheckFault[], table: string, key: string): ReportProblem {
  return (problem) => void faults.push({ table, key, problem })
}

/** `last`: the key of the last row that was looked at; a slice without rows is the end. */
export function checkSlice(faults: CheckFault[], checked: number, last: string | undefined): CheckSlice {
  return { faults, checked, last: checked === 0 ? null : last! }
}

/** Runs a part of the check; a value in which nothing can be read is a fault of its row, and no end to the check. */
export function reportIfUnreadable(report: ReportProblem, part: () => void): void {
  try {
    part()
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_SQLITE_ERROR') throw error
    report(`cannot be read: ${(error as Error).message}`)
  }
}
