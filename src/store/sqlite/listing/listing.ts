/**
 * The listing on SQLite: it merges pending names, then reads pages as ranges of `sorted_name`. Many rows with facts come
 * from two threads.
 */

import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync, statfsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { DomainName } from '../../../values/domain-name.ts'
import type { Instant } from '../../../values/time.ts'
import { StoreFault } from '../../port/fault.ts'
import type { Listing, ListingOptions, ListingPage, NameListing } from '../../port/listing.ts'
import { MEBIBYTE } from '../../shared/disk.ts'
import { connectSqlite } from '../database/connection.ts'
import { createEmptyFile } from '../database/folder.ts'
import { writeAheadLogOf } from '../database/write-ahead-log.ts'
import { mergePendingNames } from './pending-names.ts'
import { LISTING_CACHE_KIBIBYTES, LISTING_PAGE_NAMES, pagesAfter } from './row-part.ts'
import { openLocalRows, openRowThread, type RowPages, type RowSource } from './row-source.ts'

export type ListingLimits = {
  /** Smaller stores are listed in this thread. */
  minFactsForThreads: number
  /** Names per range: a hundredth of all names, at least these. A small range is sorted in the processor's cache. */
  minNamesPerRange: number
}
const LIMITS: ListingLimits = { minFactsForThreads: 100_000, minNamesPerRange: 25_000 }
const MAX_NAMES_PER_RANGE = 100_000
/** Approximate maximum of ranges: the page that each range appends to is kept in memory. Above it, ranges grow. */
const MAX_RANGES = 1000
/** Each listing has files of its own, so that closing an older one removes no file of a newer one. */
const TEMPORARY_NAME_BYTES = 6
/** What follows the name of the store and `-temporary`. */
const TEMPORARY_END = /^(-[0-9a-f]{12}-\d)?(-journal)?$/
/** Bytes on disk per name in the temporary files (94 measured). */
const TEMPORARY_BYTES_PER_NAME = 150
/** Threads that prepare the rows of a large store. */
const MAX_THREADS = 2

const READ_NAMES_PAGE = `select count(*) as rows, min(name) as first, max(name) as last, cast(group_concat(name, x'0a') || x'0a' as blob) as text
  from (select name from sorted_name where name > ? order by name limit ${LISTING_PAGE_NAMES})`

/** The sources of rows, each with all files opened, and the number of ranges. */
type Rows = { sources: RowSource[]; ranges: number }

export function sqliteListing(path: string, now: () => Instant, limits: ListingLimits = LIMITS): Listing {
  return {
    async start(options) {
      const database = connectSqlite(path)
      try {
        database.exec(`pragma cache_size = -${LISTING_CACHE_KIBIBYTES}`)
        const startedAt = now()
        await mergePendingNames(database, path, writeAheadLogOf(database, path), options)
        return nameListingOf({ database, path, limits }, startedAt, options)
      } catch (error) {
        database.close()
        throw error
      }
    },
  }
}

type ListedStore = { database: DatabaseSync; path: string; limits: ListingLimits }

function nameListingOf(store: ListedStore, startedAt: Instant, options: ListingOptions): NameListing {
  const { database, path } = store
  const row = database.prepare(`select value from metadata where name = 'sorted_names'`).get() as
    | { value: string }
    | undefined
  const estimatedNames = Number(row?.value ?? 0)
  const opened: RowSource[] = []
  const temporary = `${temporaryPath(path)}-${randomBytes(TEMPORARY_NAME_BYTES).toString('hex')}`
  let prepared: Promise<Rows> | null = null
  return {
    startedAt,
    estimatedNames,
    names: () => namePages(database, options),
    rows: () =>
      rowPages(() => {
        prepared ??= prepareRows({ ...store, temporary }, estimatedNames, opened, options)
        return prepared
      }, options),
    async close() {
      try {
        await Promise.all(opened.map((source) => source.close()))
      } finally {
        database.close()
        for (const file of temporaryFiles(temporary, MAX_THREADS)) rmSync(file, { force: true })
      }
    },
  }
}

async function* namePages(database: DatabaseSync, { signal }: ListingOptions): AsyncGenerator<ListingPage> {
  const read = database.prepare(READ_NAMES_PAGE)
  for (const page of pagesAfter((after) => read.get(after), '')) {
    signal.throwIfAborted()
    yield page
  }
}

/** Collects all facts by ranges, and adds the sources to `opened`. `temporary`: how the paths of their files begin. */
async function prepareRows(
  { database, path, limits, temporary }: ListedStore & { temporary: string },
  estimatedNames: number,
  opened: RowSource[],
  { signal, onStage }: ListingOptions,
): Promise<Rows> {
  signal.throwIfAborted()
  requireTemporarySpace(path, estimatedNames)
  removeLeftFiles(path)
  const starts = rangeStarts(database, namesPerRange(estimatedNames, limits))
  const { last } = database.prepare('select coalesce(max(id), 0) as last from facts').get() as { last: number }
  const isLarge = last >= limits.minFactsForThreads
  const count = isLarge ? Math.min(MAX_THREADS, availableParallelism()) : 1
  const files = temporaryFiles(temporary, count)
  for (const file of files) createEmptyFile(file)
  const failure = new AbortController()
  const either = AbortSignal.any([signal, failure.signal])
  const openRows = isLarge ? openRowThread : openLocalRows
  const bounds = Array.from({ length: count + 1 }, (_, part) => Math.round((last * part) / count))
  const done = files.map(() => 0)
  const collect = (source: RowSource, part: number): Promise<void> =>
    source.collect(bounds[part]!, bounds[part + 1]!, (reached) => {
      done[part] = reached - bounds[part]!
      const sum = done.reduce((before, each) => before + each, 0)
      onStage?.('facts', sum, last)
    })
  try {
    for (const file of files) opened.push(openRows({ store: path, file, starts }, either))
    await Promise.all(opened.map(collect))
    await Promise.all(opened.map((source) => source.open(files)))
  } catch (error) {
    failure.abort(error) // the other parts need not go on
    throw error
  }
  return { sources: opened, ranges: starts.length }
}

/** Each source prepares its next pages while others are taken. */
async function* rowPages(prepare: () => Promise<Rows>, { signal }: ListingOptions): AsyncGenerator<ListingPage> {
  const { sources, ranges } = await prepare()
  const read = (source: RowSource, range: number | null): Promise<RowPages> => {
    const pages = source.pages(range)
    pages.catch(() => {}) // it is awaited in its turn
    return pages
  }
  const first = sources.slice(0, ranges)
  const next = first.map(read)
  for (let range = 0; range < ranges; range++) {
    const at = range % sources.length
    for (let isComplete = false; !isComplete; ) {
      const { pages, more } = await next[at]!
      isComplete = !more
      if (more) next[at] = read(sources[at]!, null)
      else if (range + sources.length < ranges) next[at] = read(sources[at]!, range + sources.length)
      for (const page of pages) {
        signal.throwIfAborted()
        yield page
      }
    }
  }
}

function temporaryPath(path: string): string {
  return `${path}-temporary`
}

/** The files of the first parts of a listing. */
function temporaryFiles(temporary: string, parts: number): string[] {
  return Array.from({ length: parts }, (_, part) => `${temporary}-${part}`)
}

/** Removes the files that killed listings left, also those of former releases. */
function removeLeftFiles(path: string): void {
  const [folder, prefix] = [dirname(path), basename(temporaryPath(path))]
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const isLeft = entry.name.startsWith(prefix) && TEMPORARY_END.test(entry.name.slice(prefix.length))
    if (isLeft && entry.isFile()) rmSync(join(folder, entry.name), { force: true })
  }
}

function namesPerRange(names: number, { minNamesPerRange }: ListingLimits): number {
  const hundredth = Math.min(Math.max(Math.ceil(names / 100), minNamesPerRange), MAX_NAMES_PER_RANGE)
  return Math.max(hundredth, Math.ceil(names / MAX_RANGES))
}

/** The first name of each range of `size` names, below all names for the first. */
function rangeStarts(database: DatabaseSync, size: number): DomainName[] {
  const next = database.prepare(`select name from sorted_name where name > ? order by name limit 1 offset ${size - 1}`)
  const starts: DomainName[] = []
  for (let name: string | undefined = ''; name !== undefined; ) {
    starts.push(name as DomainName)
    name = (next.get(name) as { name: string } | undefined)?.name
  }
  return starts
}

/** Throws StoreFault if the temporary data of this many names would fill the disk. */
function requireTemporarySpace(path: string, names: number): void {
  const { bavail, bsize } = statfsSync(dirname(path))
  const [free, needed] = [bavail * bsize, names * TEMPORARY_BYTES_PER_NAME]
  if (free >= needed) return
  throw new StoreFault(
    `${dirname(path)}: sorting the facts needs ${Math.ceil(needed / MEBIBYTE)} MiB next to the store, ` +
      `but ${Math.floor(free / MEBIBYTE)} MiB are free: free disk space`,
  )
}
