/** What an import has done so far, counted, and how that is said. */

import type { FormatName } from '../../observe/formats/formats.ts'
import type { Outcome } from '../../store/ingest.ts'
import type { Batch } from './batch.ts'

/** `line`: up to which line the file was applied. */
export type Tally = {
  read: number
  applied: number
  unchanged: number
  stale: number
  refused: number
  passedOver: number
  line: number
}

export function count(tally: Tally, { rejects, line, read, passedOver }: Batch, outcomes: readonly Outcome[]): void {
  tally.read += read
  tally.passedOver += passedOver
  tally.line = line
  tally.refused += rejects.length
  for (const outcome of outcomes) tally[outcome === 'ahead' || outcome === 'lost' ? 'refused' : outcome]++
}

export function summary(tally: Tally, seconds: number, format: FormatName | null): string {
  const { read, applied, unchanged, stale, refused, passedOver } = tally
  const counts = `read ${read}, applied ${applied}, unchanged ${unchanged}, stale ${stale}, refused ${refused}`
  const rate = Math.round(read / Math.max(seconds, 0.001))
  return `${counts}${format === null ? '' : `, passed over ${passedOver}`} (${seconds.toFixed(1)} s, ${rate} lines/s)`
}

/** As --json prints it; `passed_over` is null for observations, of which no line is. */
export function objectOf(tally: Tally, seconds: number, format: FormatName | null): object {
  const { read, applied, unchanged, stale, refused, passedOver } = tally
  return { read, applied, unchanged, stale, refused, passed_over: format === null ? null : passedOver, seconds }
}

/** How far it came: the lines of another crawl are applied in another order than theirs. */
export function placeOf(tally: Tally, path: string, format: FormatName | null): string {
  if (format === null) return `${path} is applied up to line ${tally.line}`
  const count = made(tally)
  return count === 0 ? `nothing of ${path} is applied` : `${count} observations of ${path} are applied`
}

export function made({ applied, unchanged, stale }: Tally): number {
  return applied + unchanged + stale
}
