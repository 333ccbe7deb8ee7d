/** The port of the file store: keeps finished files for download, each with its manifest. */

import type { DomainName } from '../../values/domain-name.ts'
import { type Day, type Instant, parseDay } from '../../values/time.ts'
import type { PlaceNotes } from './place-mark.ts'

/**
 * `daily`: names registered on a day; `dropped`: names dropped on a day; `followup-…`: later facts of the registered ones;
 * `snapshot`, `enriched`: all known names, also as Parquet.
 */
export const FILE_KINDS = [
  'daily',
  'dropped',
  'followup-7',
  'followup-30',
  'snapshot',
  'enriched',
  'snapshot-parquet',
  'enriched-parquet',
] as const
export type FileKind = (typeof FILE_KINDS)[number]

/**
 * `2026-11-19.txt.gz`, `2026-11-19-dropped.txt.gz`, `2026-11-19-followup-7.csv.gz`, `domains-2026-11-20.txt.gz`,
 * `domains-enriched-2026-11-20.csv.gz`, and the last two with the ending `.parquet`.
 */
export type FileName = string & { readonly __brand: 'FileName' }

/** The description of a file, without its bytes and its revision. */
export type FileDescription = {
  /** The instant that the content describes. */
  generated: Instant
  /** Lines, without a header. */
  rows: number
  plain_bytes: number
  /** SHA-256 of the uncompressed content, in hexadecimal. */
  plain_sha256: string
  /** The first and the last name; null if the file has none. */
  first: DomainName | null
  last: DomainName | null
  /** The ratio of rows to the median of the same weekday in the 8 weeks before. */
  ratio?: number | null
  /** Names that earlier days list too. */
  listed_before?: number
  /** Rows whose facts are older than a day. */
  older_than_24h?: number
  /** Why the file is not available for download; null if it is available. */
  held: string | null
}

export type FileManifest = FileDescription & {
  name: FileName
  kind: FileKind
  date: Day
  /** How often a file of this name has been published, from 1. */
  revision: number
  bytes: number
  /** SHA-256 of the file as downloaded, in hexadecimal. */
  sha256: string
}

/** A manifest as stored. `data`: the name of the file with the bytes, next to it. */
export type StoredManifest = FileManifest & { data: string }

/** The manifest that replaces `former`. `data`: the name of the written file. */
export function nextManifest(
  name: FileName,
  former: StoredManifest | null,
  description: FileDescription,
  written: { bytes: number; sha256: string },
  data: string,
): StoredManifest {
  const { kind, date } = parseFileName(name)!
  const revision = (former?.revision ?? 0) + 1
  const generated = Math.max(description.generated, (former?.generated ?? -1) + 1)
  return { name, kind, date, ...description, revision, generated, ...written, data }
}

export function withoutData(stored: StoredManifest): FileManifest
export function withoutData(stored: StoredManifest | null): FileManifest | null
export function withoutData(stored: StoredManifest | null): FileManifest | null {
  if (stored === null) return null
  const { data: _, ...manifest } = stored
  return manifest
}

/** An open file. Its bytes match its manifest until it is closed, even if a newer file is published meanwhile. */
export type OpenedFile = {
  manifest: FileManifest
  /** The bytes from `start` to before `end`, in chunks of at most 128 KiB, each valid until the next one is read. */
  read(start: number, end: number): AsyncIterable<Uint8Array>
  /** Closes the file; does nothing if it is already closed. */
  close(): Promise<void>
}

export interface FileStore {
  /**
   * Writes and syncs the content, then atomically replaces the previous file of that name. Open readers keep the
   * previous file. The store counts revisions; `generated` of a newer one is at least one second later. If the source,
   * `describe` or the disk throws, the previous file stays.
   */
  publish(
    name: FileName,
    content: AsyncIterable<Uint8Array>,
    describe: (written: { bytes: number; sha256: string }) => FileDescription,
  ): Promise<FileManifest>
  /** Opens the current file; null if there is none. */
  open(name: FileName): Promise<OpenedFile | null>
  manifest(name: FileName): Promise<FileManifest | null>
  /** Lists all files of a kind, oldest date first. */
  list(kind: FileKind): Promise<FileManifest[]>
  /** Removes a file; open readers keep it. Does nothing if there is none. */
  remove(name: FileName): Promise<void>
  /** Tell to which installation the files belong. */
  readonly notes: PlaceNotes
  /** Free space in bytes; infinite if the store has no disk of its own. */
  freeBytes(): Promise<number>
}

const FILE_NAME_FORMATS: Readonly<Record<FileKind, (date: string) => string>> = {
  daily: (date) => `${date}.txt.gz`,
  dropped: (date) => `${date}-dropped.txt.gz`,
  'followup-7': (date) => `${date}-followup-7.csv.gz`,
  'followup-30': (date) => `${date}-followup-30.csv.gz`,
  snapshot: (date) => `domains-${date}.txt.gz`,
  enriched: (date) => `domains-enriched-${date}.csv.gz`,
  'snapshot-parquet': (date) => `domains-${date}.parquet`,
  'enriched-parquet': (date) => `domains-enriched-${date}.parquet`,
}

export function fileName(kind: FileKind, date: Day): FileName {
  return FILE_NAME_FORMATS[kind](date) as FileName
}

/** Parses a file name; null if the text is not one. */
export function parseFileName(text: string): { name: FileName; kind: FileKind; date: Day } | null {
  const date = parseDay(/\d{4}-\d{2}-\d{2}/.exec(text)?.[0] ?? '')
  const kind = date === null ? undefined : FILE_KINDS.find((each) => FILE_NAME_FORMATS[each](date) === text)
  return date === null || kind === undefined ? null : { name: text as FileName, kind, date }
}

/** The edition of the list of all known names that a file contains; null for another file. */
export type SnapshotEdition = Extract<FileKind, 'snapshot' | 'enriched'>

export function snapshotEditionOf(kind: FileKind): SnapshotEdition | null {
  if (kind === 'snapshot' || kind === 'snapshot-parquet') return 'snapshot'
  return kind === 'enriched' || kind === 'enriched-parquet' ? 'enriched' : null
}
