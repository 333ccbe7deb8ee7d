/**
 * Fetches a list of names (zip, gzip, zstd or plain) and adds them to the store, the first probes in the order of the
 * list.
 */

import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { type Entry, fromRandomAccessReader, RandomAccessReader, type ZipFile } from 'yauzl'
import { errorCause, InputError } from '../../import/stream/input-error.ts'
import { parseListLine } from '../../import/stream/list-line.ts'
import type { UnnamedFile } from '../../import/stream/unnamed-file.ts'
import type { RegistrationImportOptions, RegistrationImportResult } from '../../registrations/import-options.ts'
import { inflatedBytes } from '../../registrations/inflated-bytes.ts'
import { importNames } from '../../registrations/list/import-names.ts'
import type { ReadListLine } from '../../registrations/list/parse-list.ts'
import { csvFields } from '../../values/csv.ts'
import { parseName, registrableDomain } from '../../values/domain-name.ts'
import { type DownloadOptions, download } from '../download.ts'

const READ_CHUNK_BYTES = 262_144

/** `PK\x03\x04`, or `PK\x05\x06` of an empty archive. */
const ZIP_MAGIC = /^504b(0304|0506)/

class UnnamedFileReader extends RandomAccessReader {
  readonly #file: UnnamedFile

  constructor(file: UnnamedFile) {
    super()
    this.#file = file
  }

  /** `end` is exclusive. */
  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(rangeOf(this.#file, start, end))
  }
}

/** `onBytes`: called with the bytes of all parts so far; `of` is null unless there is one part of known size. */
export type ListFetch = Omit<RegistrationImportOptions, 'root' | 'acceptsLoss' | 'isStrict'> &
  Omit<DownloadOptions, 'maxBytes'> & {
    /** The parts of the list, in their order. */
    urls: readonly string[]
    /** As for `listLineReader`. */
    column: string | null
  }

export type FetchedList = Pick<RegistrationImportResult, 'names' | 'unusable' | 'newNames'>

/** Maximum bytes of a part, and of all parts decompressed. A list of a million names has 30 MB. */
const MAX_PART_BYTES = 2 ** 30
const MAX_LIST_BYTES = 2 ** 32

/**
 * Downloads the list completely, reads it completely, then stores its names. Throws InputError before it writes to the
 * store. `maxBytes`: of the decompressed list.
 */
export async function fetchList(fetch: ListFetch, maxBytes = MAX_LIST_BYTES): Promise<FetchedList> {
  const parts: UnnamedFile[] = []
  try {
    for (const url of fetch.urls) {
      const before = parts.reduce((sum, { bytes }) => sum + bytes, 0)
      const onBytes = (bytes: number, of: number | null): void =>
        fetch.onBytes(before + bytes, fetch.urls.length === 1 ? of : null)
      parts.push(await download(url, { ...fetch, maxBytes: MAX_PART_BYTES, onBytes }))
    }
    return await importNames({ ...fetch, isStrict: false }, joinedBytes(parts, maxBytes), listLineReader(fetch.column))
  } finally {
    for (const part of parts) part.close()
  }
}

/** Yields the bytes of all parts. A line end separates them. */
async function* joinedBytes(parts: readonly UnnamedFile[], maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0
  for (const part of parts) {
    for await (const chunk of listBytes(part, maxBytes - bytes)) {
      bytes += chunk.length
      yield chunk
    }
    yield Buffer.from('\n')
  }
}

/** Yields at most `maxBytes` bytes. Throws InputError for more, or if the file is damaged. */
async function* listBytes(file: UnnamedFile, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0
  const magic = Buffer.alloc(Math.min(4, file.bytes))
  file.read(magic, 0)
  for await (const chunk of ZIP_MAGIC.test(magic.toString('hex')) ? zippedBytes(file) : plainBytes(file)) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new InputError(`it expands to more than ${maxBytes} bytes, the most that is accepted`)
    yield chunk
  }
}

function plainBytes(file: UnnamedFile): AsyncGenerator<Buffer> {
  return inflatedBytes(Readable.from(rangeOf(file, 0, file.bytes)), '', () => {})
}

/** Yields the bytes of the only file of an archive. */
async function* zippedBytes(file: UnnamedFile): AsyncGenerator<Buffer> {
  let archive: ZipFile | null = null
  try {
    archive = await openArchive(file)
    const entry = await onlyFile(archive)
    yield* (await promisify(archive.openReadStream.bind(archive))(entry)) as AsyncIterable<Buffer>
  } catch (error) {
    throw error instanceof InputError ? error : new InputError(`its zip archive is damaged: ${errorCause(error)}`)
  } finally {
    archive?.close()
  }
}

function openArchive(file: UnnamedFile): Promise<ZipFile> {
  const reader = new UnnamedFileReader(file)
  return new Promise((resolve, reject) => {
    fromRandomAccessReader(reader, file.bytes, { lazyEntries: true, autoClose: false }, (error, archive) =>
      error ? reject(error) : resolve(archive),
    )
  })
}

/** Reads the table of contents up to the second file. */
function onlyFile(archive: ZipFile): Promise<Entry> {
  return new Promise((resolve, reject) => {
    let found: Entry | null = null
    archive.on('error', reject)
    archive.on('end', () => (found === null ? reject(new InputError('its zip archive has no file')) : resolve(found)))
    archive.on('entry', (entry: Entry) => {
      if (!entry.fileName.endsWith('/')) {
        if (found !== null) return reject(new InputError('its zip archive has several files, and one is expected'))
        found = entry
      }
      archive.readEntry()
    })
    archive.readEntry()
  })
}

function* rangeOf(file: UnnamedFile, start: number, end: number): Generator<Buffer> {
  for (let at = start; at < end; at += READ_CHUNK_BYTES) {
    const chunk = Buffer.allocUnsafe(Math.min(READ_CHUNK_BYTES, end - at))
    file.read(chunk, at)
    yield chunk
  }
}

/**
 * Returns a reader of lines that replaces each name by its registrable domain, so that a host name counts as its
 * domain. `column`: a header, or a number from 1; null for one name or RANK,NAME per line.
 */
export function listLineReader(column: string | null): ReadListLine {
  if (column === null) return (text) => registrableText(parseListLine(text))
  if (/^\d+$/.test(column)) return (text) => registrableText(csvField(text, Number(column) - 1))
  let index = -1
  return (text, line) => {
    if (index >= 0) return text.trim() === column ? '' : registrableText(csvField(text, index))
    if (line > 1) throw new InputError(`it has no column ${JSON.stringify(column)}`)
    index = csvFields(text.replace(/^\uFEFF/, '')).findIndex((header) => header.trim() === column)
    if (index < 0) throw new InputError(`it has no column ${JSON.stringify(column)}`)
    return ''
  }
}

/** Leaves a text that is no name as it is, so that it is rejected with its reason. */
function registrableText(text: string): string {
  const name = parseName(text)
  return name === null ? text : registrableDomain(name)
}

function csvField(line: string, index: number): string {
  return csvFields(line)[index]?.trim() ?? ''
}
