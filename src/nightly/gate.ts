/** The gate of daily files: a day of far fewer or far more names than its days before is held back until somebody has looked at it. */

import { addDays, type Day } from '../words/time.ts'
import type { Manifest } from './shelf.ts'

/** What the rows of a day may be, in times of the median. */
export type Bounds = { least: number; most: number }

/** Days before a day that it is compared with. */
export const WINDOW_DAYS = 28
/** Earlier files without which nothing is judged. */
const FEWEST = 14

/** `ratio`: rows to the median of the 28 days before; null where there is none, or none above 0. `held`: why it is held back. */
export type Verdict = { ratio: number | null; held: string | null }

/** The files of the 28 days before a day. */
export function windowOf<File extends Pick<Manifest, 'date'>>(day: Day, files: readonly File[]): File[] {
  const from = addDays(day, -WINDOW_DAYS)
  return files.filter(({ date }) => date >= from && date < day)
}

/** Judges the rows of a day by the files that are handed out; without bounds, and where most days were empty, no day is held back. */
export function judge(
  day: Day,
  rows: number,
  files: readonly Pick<Manifest, 'date' | 'rows'>[],
  bounds: Bounds | null,
): Verdict {
  const median = medianOf(windowOf(day, files).map((file) => file.rows))
  const ratio = median ? rounded(rows / median) : null
  const isJudged = bounds !== null && ratio !== null && files.filter(({ date }) => date < day).length >= FEWEST
  if (!isJudged || median === null || (rows >= bounds.least * median && rows <= bounds.most * median))
    return { ratio, held: null }
  const [word, bound] = rows < bounds.least * median ? ['below', bounds.least] : ['above', bounds.most]
  const held = `${rows} rows, where the median of the ${WINDOW_DAYS} days before is ${median}: ${word} ${bound} times that`
  return { ratio, held }
}

function medianOf(numbers: readonly number[]): number | null {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  if (sorted.length === 0) return null
  return Number.isInteger(middle) ? (sorted[middle - 1]! + sorted[middle]!) / 2 : sorted[Math.floor(middle)]!
}

const rounded = (ratio: number): number => Math.round(ratio * 10_000) / 10_000
