/** What the two halves of an import tell each other: orders go to the reader, batches come back. */

import type { Instant } from '../values/time.ts'
import type { ImportFormatName } from './formats/import-formats.ts'
import type { ObservationColumns } from './observation-columns.ts'

/**
 * What the reader's thread begins with. `fd`: the open file; `path` as the user named it; `-` for standard input.
 * `format`:
 * null for observations; `observedAt`: the time of what carries none.
 */
export type ReaderTask = {
  fd: number
  path: string
  strict: boolean
  format: ImportFormatName | null
  observedAt: Instant | null
}

/** An order for one batch. `latest`: what was observed later than this is refused. */
export type BatchRequest = { latest: Instant }

/** A refused line as `--rejects` keeps it. `length` in bytes, `text` its first 4 KiB. */
export type RejectedLine = { line: number; reason: string; length: number; text: string }

/**
 * One batch. `line`: number of the last line that was looked at; `read`: lines that held something; `bytes`: how much
 * of the file, as it lies on disk, was read so far; `passedOver`: entries of another crawl that hold nothing that we
 * keep. `end` is null while more follows, then why it ended: `done`, `refused` (strict: the batch is empty but for the
 * reject), what is wrong with the file from this line on, or why nothing more of it can be applied (`unusable`).
 */
export type ImportBatch = {
  observations: ObservationColumns
  rejects: RejectedLine[]
  line: number
  read: number
  bytes: number
  skipped: number
  end: 'done' | 'refused' | { problem: string } | { unusable: string } | null
}
