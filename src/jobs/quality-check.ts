/** The quality check: holds a daily file that has far fewer or far more names than earlier days of the same weekday. */

import { addDays, type Day } from '../values/time.ts'
import type { FileManifest } from './file-store/file-store.ts'

/** Bounds as multiples of the median. A difference of up to `minDifference` rows from the median is always allowed. */
export type QualityBounds = { min: number; max: number; minDifference: number }

/** The number of earlier weeks whose file of the same weekday is compared. */
const COMPARED_WEEKS = 8
/** With fewer earlier files, no day is held. */
const MIN_EARLIER_FILES = 14

/**
 * `ratio`: rows to the median of the same weekday; null if there is no median, or if it is 0. `held`: why the day is
 * held; null if it is not.
 */
type QualityVerdict = { ratio: number | null; held: string | null }

/**
 * Compares the rows of a day with the published files. Without bounds or a file of the same weekday, no day is held.
 */
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

/** Returns why a day is held; null if it is not. */
function holdReason(rows: number, median: number, { min, max, minDifference }: QualityBounds): string | null {
  const isWithin = rows >= min * median && rows <= max * median
  if (isWithin || Math.abs(rows - median) <= minDifference) return null
  const bound = rows < median ? `below ${min} times that` : `above ${max} times that`
  return (
    `${rows} rows, and the median of the same weekday in the ${COMPARED_WEEKS} weeks before is ${median}: ` +
    `${bound}, and more than ${minDifference} rows away`
  )
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
