/**
 * The listing on SQLite: it merges pending names, then reads pages as ranges of `sorted_name`. Rows with facts come from
 * two threads if there are many.
 */

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
import { writeAheadLogOf } from '../database/write-ahead-log.ts'
import { mergePendingNames } from './pending-names.ts'
import { LISTING_CACHE_KIBIBYTES, LISTING_PAGE_NAMES } from './row-part.ts'
import { openLocalRows, openRowThread, type RowSource } from './row-source.ts'

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
  let prepared: Promise<Rows> | null = null
  return {
    startedAt,
    estimatedNames,
    names: () => namePages(database, options),
    rows: () =>
      rowPages(() => {
        prepared ??= prepareRows(store, estimatedNames, opened, options)
        return prepared
      }, options),
    async close() {
      await Promise.all(opened.map((source) => source.close()))
      database.close()
      removeTemporaryFiles(path)
    },
  }
}

async function* namePages(database: DatabaseSync, { signal }: ListingOptions): AsyncGenerator<ListingPage> {
  const read = database.prepare(READ_NAMES_PAGE)
  for (let after = ''; ; ) {
    signal.throwIfAborted()
    const page = { ...read.get(after) } as ListingPage
    if (page.rows > 0) yield page
    if (page.rows < LISTING_PAGE_NAMES) return
    after = page.last
  }
}

/** Collects all facts by ranges. Adds the sources to `opened` before they do anything. */
async function prepareRows(
  { database, path, limits }: ListedStore,
  estimatedNames: number,
  opened: RowSource[],
  { signal, onStage }: ListingOptions,
): Promise<Rows> {
  requireTemporarySpace(path, estimatedNames)
  removeTemporaryFiles(path)
  const starts = rangeStarts(database, namesPerRange(estimatedNames, limits))
  const { last } = database.prepare('select coalesce(max(id), 0) as last from facts').get() as { last: number }
  const isLarge = last >= limits.minFactsForThreads
  const count = isLarge ? Math.min(MAX_THREADS, availableParallelism()) : 1
  const files = Array.from({ length: count }, (_, part) => `${temporaryPath(path)}-${part}`)
  const failure = new AbortController()
  const either = AbortSignal.any([signal, failure.signal])
  const openRows = isLarge ? openRowThread : openLocalRows
  for (const file of files) opened.push(openRows({ store: path, file, starts }, either))
  const bounds = Array.from({ length: count + 1 }, (_, part) => Math.round((last * part) / count))
  const done = files.map(() => 0)
  const collect = (source: RowSource, part: number): Promise<void> =>
    source.collect(bounds[part]!, bounds[part + 1]!, (reached) => {
      done[part] = reached - bounds[part]!
      const sum = done.reduce((before, each) => before + each, 0)
      onStage?.('facts', sum, last)
    })
  try {
    await Promise.all(opened.map(collect))
    await Promise.all(opened.map((source) => source.open(files)))
  } catch (error) {
    failure.abort(error) // the other parts need not go on
    throw error
  }
  return { sources: opened, ranges: starts.length }
}

/** Each source prepares its next range while the pages of the one before are taken. */
async function* rowPages(prepare: () => Promise<Rows>, { signal }: ListingOptions): AsyncGenerator<ListingPage> {
  const { sources, ranges } = await prepare()
  const read = (range: number): Promise<ListingPage[]> | null =>
    range < ranges ? sources[range % sources.length]!.pages(range) : null
  const next = sources.map((_, range) => read(range))
  for (const each of next) each?.catch(() => {}) // it is awaited in its turn
  for (let range = 0; range < ranges; range++) {
    const pages = await next[range % next.length]!
    const following = read(range + sources.length)
    following?.catch(() => {})
    next[range % next.length] = following
    for (const page of pages) {
      signal.throwIfAborted()
      yield page
    }
  }
}

function temporaryPath(path: string): string {
  return `${path}-temporary`
}

/** Also those that a killed listing left. */
function removeTemporaryFiles(path: string): void {
  const folder = dirname(path)
  for (const name of readdirSync(folder))
    if (name.startsWith(basename(temporaryPath(path)))) rmSync(join(folder, name), { force: true })
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
