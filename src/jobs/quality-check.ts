/** The gate of daily files: a day of far fewer or far more names than the same weekdays before it is held back until somebody has looked at it. */

import { addDays, type Day } from '../values/time.ts'
import type { FileManifest } from './file-store/file-store.ts'

/** What the rows of a day may be, in times of the median, and the number of rows by which a day may differ from the median in any case. */
export type QualityBounds = { min: number; max: number; minDifference: number }

/** Weeks before a day whose file of the same weekday it is compared with. */
const COMPARED_WEEKS = 8
/** Earlier files without which nothing is judged. */
const MIN_EARLIER_FILES = 14

/** `ratio`: rows to the median of the same weekday; null if there is no median, or if it is 0. `held`: why the day is held back. */
export type QualityVerdict = { ratio: number | null; held: string | null }

/** Judges the rows of a day by the files that are handed out. Without bounds, and without a file of the same weekday, no day is held back. */
export function checkQuality(
  day: Day,
  rows: number,
  files: readonly Pick<FileManifest, 'date' | 'rows'>[],
  bounds: QualityBounds | null,
): QualityVerdict {
  const median = medianOf(sameWeekday(day, files).map((file) => file.rows))
  const ratio = median ? roundedRatio(rows / median) : null
  const isJudged = files.filter(({ date }) => date < day).length >= MIN_EARLIER_FILES
  return { ratio, held: bounds === null || median === null || !isJudged ? null : holdReason(rows, median, bounds) }
}

/** Why a day is held back; null if it is not. */
function holdReason(
  rows: number,
  median: number,
  { min: least, max: most, minDifference: floor }: QualityBounds,
): string | null {
  const isWithin = rows >= least * median && rows <= most * median
  if (isWithin || Math.abs(rows - median) <= floor) return null
  const bound = rows < median ? `below ${least} times that` : `above ${most} times that`
  return `${rows} rows, and the median of the same weekday in the ${COMPARED_WEEKS} weeks before is ${median}: ${bound}, and more than ${floor} rows away`
}

function sameWeekday<File extends Pick<FileManifest, 'date'>>(day: Day, files: readonly File[]): File[] {
  const days = new Set(Array.from({ length: COMPARED_WEEKS }, (_, week) => addDays(day, -7 * (week + 1))))
  return files.filter(({ date }) => days.has(date))
}

function medianOf(numbers: readonly number[]): number | null {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  if (sorted.length === 0) return null
  return Number.isInteger(middle) ? (sorted[middle - 1]! + sorted[middle]!) / 2 : sorted[Math.floor(middle)]!
}

const roundedRatio = (ratio: number): number => Math.round(ratio * 10_000) / 10_000
