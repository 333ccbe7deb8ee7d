/** A slice of the check: what is looked at in one read transaction, and what was found wrong there. */

import type { Fault } from '../store.ts'

/** What a part found in one slice; `last` is null where its table ended. */
export type Slice = { faults: Fault[]; checked: number; last: string | null }

/** Rows a slice: some 10 milliseconds. */
export const SLICE = 500

/** Notes one thing that is wrong. */
export type Report = (problem: string) => void

export function reporter(faults: Fault[], table: string, key: string): Report {
  return (problem) => void faults.push({ table, key, problem })
}

/** `last`: the key of the last row that was looked at; a slice without rows is the end. */
export function sliceOf(faults: Fault[], checked: number, last: string | undefined): Slice {
  return { faults, checked, last: checked === 0 ? null : last! }
}

/** Runs a part of the check; a value in which nothing can be read is a fault of its row, and no end to the check. */
export function readable(report: Report, part: () => void): void {
  try {
    part()
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_SQLITE_ERROR') throw error
    report(`cannot be read: ${(error as Error).message}`)
  }
}
