/** The shelf's port: where finished files lie until somebody fetches them, each with its manifest. */

import type { DomainName } from '../../values/domain-name.ts'
import { type Day, type Instant, parseDay } from '../../values/time.ts'

/** `daily`: names registered on a day; `followup-…`: what became of them; `snapshot`, `enriched`: all names known. */
export const FILE_KINDS = ['daily', 'followup-7', 'followup-30', 'snapshot', 'enriched'] as const
export type FileKind = (typeof FILE_KINDS)[number]

/** `2026-11-19.txt.gz`, `2026-11-19-followup-7.csv.gz`, `domains-2026-11-20.txt.gz`, `domains-enriched-2026-11-20.csv.gz`. */
export type FileName = string & { readonly __brand: 'FileName' }

/** What is told of a file beside its bytes and its revision. */
export type FileDescription = {
  /** When it was built: the moment that its content stands for. */
  generated: Instant
  /** Lines, without a header. */
  rows: number
  plain_bytes: number
  /** Of the unpacked content, in hexadecimal. */
  plain_sha256: string
  /** The first and the last name in it; null where there is none. */
  first: DomainName | null
  last: DomainName | null
  /** Rows to the median of the same weekday in the 8 weeks before. */
  ratio?: number | null
  /** Names that were registered on an earlier day too. */
  listed_before?: number
  /** Rows whose facts are older than a day. */
  older_than_24h?: number
  /** Why it is not to be handed out; null where it is. */
  held: string | null
}

export type FileManifest = FileDescription & {
  name: FileName
  kind: FileKind
  date: Day
  /** From 1: how often the file was published under this name. */
  revision: number
  bytes: number
  /** Of the file as it is handed out, in hexadecimal. */
  sha256: string
}

/** A file that stays readable until it is closed. Bytes are those of its manifest, whatever is published meanwhile. */
export type OpenedFile = {
  manifest: FileManifest
  /** The bytes from `start` to before `end`, in pieces of at most 128 KiB, each good until the next one is asked for. */
  read(start: number, end: number): AsyncIterable<Uint8Array>
  /** Nothing happens where it is closed already. */
  close(): Promise<void>
}

export interface FileStore {
  /**
   * Writes all of it, makes it durable, and puts it in the place of the former file of that name at once; whoever reads
   * that one goes on reading it. The shelf counts revisions, and a newer one is `generated` at least a second later.
   * What the source, `describe` or the disk throws leaves the former file.
   */
  publish(
    name: FileName,
    content: AsyncIterable<Uint8Array>,
    describe: (written: { bytes: number; sha256: string }) => FileDescription,
  ): Promise<FileManifest>
  /** The file as it is now; null for none. */
  open(name: FileName): Promise<OpenedFile | null>
  manifest(name: FileName): Promise<FileManifest | null>
  /** All files of a kind, the oldest date first. */
  list(kind: FileKind): Promise<FileManifest[]>
  /** Takes a file off the shelf; whoever reads it goes on. Nothing happens where there is none. */
  remove(name: FileName): Promise<void>
  /** Bytes that may still be written. */
  freeBytes(): Promise<number>
}

const FILE_NAME_FORMATS: Readonly<Record<FileKind, (date: string) => string>> = {
  daily: (date) => `${date}.txt.gz`,
  'followup-7': (date) => `${date}-followup-7.csv.gz`,
  'followup-30': (date) => `${date}-followup-30.csv.gz`,
  snapshot: (date) => `domains-${date}.txt.gz`,
  enriched: (date) => `domains-enriched-${date}.csv.gz`,
}

export function fileName(kind: FileKind, date: Day): FileName {
  return FILE_NAME_FORMATS[kind](date) as FileName
}

/** What a text names; null for a text that is the name of no file. */
export function parseFileName(text: string): { name: FileName; kind: FileKind; date: Day } | null {
  const date = parseDay(/\d{4}-\d{2}-\d{2}/.exec(text)?.[0] ?? '')
  const kind = date === null ? undefined : FILE_KINDS.find((each) => FILE_NAME_FORMATS[each](date) === text)
  return date === null || kind === undefined ? null : { name: text as FileName, kind, date }
}
