/** The messages between the two threads of an import: requests go to the reader, batches come back. */

import type { Instant } from '../values/time.ts'
import type { ImportFormatName } from './formats/import-formats.ts'
import type { ObservationColumns } from './observation-columns.ts'

/**
 * What the reader's thread starts with. `fd`: the open file. `path`: as the user gave it, `-` for standard input.
 * `format`: null for observations. `observedAt`: the time of entries that carry none.
 */
export type ReaderTask = {
  fd: number
  path: string
  strict: boolean
  format: ImportFormatName | null
  observedAt: Instant | null
}

/** A request for one batch. Lines observed later than `latest` are rejected. */
export type BatchRequest = { latest: Instant }

/** A rejected line as `--rejects` writes it. `length` in bytes, `text` its first 4 KiB. */
export type RejectedLine = { line: number; reason: string; length: number; text: string }

/**
 * One batch. `line`: number of the last line that was read. `read`: number of lines that were not empty. `bytes`: how
 * much of the file on disk was read so far. `skipped`: entries of another crawl without usable data.
 * `end` is null if more follows, else why it ended: `done`, `refused` (strict: the batch holds only the reject),
 * `unusable` (nothing more can be applied), or what is wrong with the file from this line on.
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
