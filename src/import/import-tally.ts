/** Counts the progress of an import and describes it. */

import type { IngestOutcome } from '../store/ingest.ts'
import type { ImportBatch } from './batch.ts'
import type { ImportFormatName } from './formats/import-formats.ts'

/** `line`: the line up to which the file was applied. */
export type ImportTally = {
  read: number
  applied: number
  unchanged: number
  stale: number
  refused: number
  skipped: number
  line: number
}

export function addBatchToTally(
  tally: ImportTally,
  { rejects, line, read, skipped }: ImportBatch,
  outcomes: readonly IngestOutcome[],
): void {
  tally.read += read
  tally.skipped += skipped
  tally.line = line
  tally.refused += rejects.length
  for (const outcome of outcomes) tally[outcome === 'ahead' || outcome === 'lost' ? 'refused' : outcome]++
}

export function formatImportSummary(tally: ImportTally, seconds: number, format: ImportFormatName | null): string {
  const { read, applied, unchanged, stale, refused, skipped } = tally
  const counts = `read ${read}, applied ${applied}, unchanged ${unchanged}, stale ${stale}, refused ${refused}`
  const rate = Math.round(read / Math.max(seconds, 0.001))
  return `${counts}${format === null ? '' : `, passed over ${skipped}`} (${seconds.toFixed(1)} s, ${rate} lines/s)`
}

/** The format of `--json`. `passed_over` is null for observation files, whose lines are never skipped. */
export function importSummaryJson(tally: ImportTally, seconds: number, format: ImportFormatName | null): object {
  const { read, applied, unchanged, stale, refused, skipped } = tally
  return { read, applied, unchanged, stale, refused, passed_over: format === null ? null : skipped, seconds }
}

/** Describes how far the import got. The lines of another crawl are not applied in their own order. */
export function describeImportPosition(tally: ImportTally, path: string, format: ImportFormatName | null): string {
  if (format === null) return `${path} is applied at least up to line ${tally.line}`
  const count = observationCount(tally)
  return count === 0 ? `nothing of ${path} is applied` : `${count} observations of ${path} are applied`
}

export function observationCount({ applied, unchanged, stale }: ImportTally): number {
  return applied + unchanged + stale
}
