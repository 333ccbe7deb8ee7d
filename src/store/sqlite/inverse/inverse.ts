/** The inverse index on SQLite: its reads, and the run that a transaction adds. */

import type { DatabaseSync } from 'node:sqlite'
import { type Block, bytesOfBlocks } from '../../../inverse/entries/block.ts'
import type { SetChange } from '../../../inverse/entries/record-events.ts'
import type { Certificate } from '../../../values/certificate/certificate.ts'
import { type DomainName, SLOT_COUNT, slotOf } from '../../../values/domain-name.ts'
import { readNames } from '../../inverse/name-reader.ts'
import { readNamesOfParts } from '../../inverse/parts-reader.ts'
import { RunWriter } from '../../inverse/run-writer.ts'
import type { InverseRead } from '../../inverse/scan.ts'
import { readNamedHosts, readPresented, readRedirects, readSpans } from '../../inverse/span-reader.ts'
import type { InverseProgress, InverseReader, RunSlice } from '../../port/inverse.ts'
import { checksumOf } from '../../shared/check/checksum.ts'
import { NO_STORED_CLOCKS, type StoredClocks } from '../../shared/columns.ts'
import { readTransaction } from '../database/connection.ts'
import type { BeginRead } from '../database/read-iteration.ts'
import { rangeBlockReader } from './range-blocks.ts'

/** The runs that together are the index. */
export const PUBLISHED_RUNS_SQL = `select number, bytes from inverse_run where state = 'published' order by number`

/** The first block of each published run that ends at a position or later. */
const FIRST_BLOCKS_SQL = `select b.last_position, b.entries from inverse_run r
  join inverse_block b on b.number = (select number from inverse_block
    where run = r.number and last_position >= ?1 order by last_position limit 1)
  where r.state = 'published'`

/** Returns a function that answers a read inside of a transaction. */
export function inverseReadAnswerer(database: DatabaseSync): <Result>(read: InverseRead<Result>) => Result {
  const runs = database.prepare(PUBLISHED_RUNS_SQL)
  const firstBlocks = database.prepare(FIRST_BLOCKS_SQL)
  firstBlocks.setReturnArrays(true)
  const clocksOf = clockReader(database)
  const readSlicesOf = sliceReader(database)
  const readRangeBlocks = rangeBlockReader(database)
  const numbersOfRuns = (): number[] => (runs.all() as { number: number }[]).map(({ number }) => number)
  const readSlices = (from: Uint8Array, blocks: number): RunSlice[] => {
    if (blocks > 1) return readSlicesOf(numbersOfRuns(), from, blocks)
    const rows = firstBlocks.all(from) as unknown as [last: Uint8Array, entries: Uint8Array][]
    return rows.map(([last, entries]) => ({ blocks: [entries], last, more: true }))
  }
  return (read) => {
    let step = read.next([])
    while (!step.done) {
      const request = step.value
      if (request.needs === 'clocks') step = read.next(clocksOf(request.names))
      else if (request.needs === 'blocks') step = read.next(readRangeBlocks(numbersOfRuns(), request))
      else step = read.next(readSlices(request.from, request.blocks))
    }
    return step.value
  }
}

export function sqliteInverse(database: DatabaseSync, beginRead: BeginRead): InverseReader {
  const answerInTransaction = inverseReadAnswerer(database)
  const answer = <Result>(read: InverseRead<Result>): Result => {
    beginRead()
    return readTransaction(database, () => answerInTransaction(read))
  }
  const fill = fillProgressReader(database)
  return {
    spans: async (query, fence, position, limit) => answer(readSpans(query, fence, position, limit)),
    redirects: async (target, fence, position, limit) => answer(readRedirects(target, fence, position, limit)),
    presented: async (sha256, position, limit) => answer(readPresented(sha256, position, limit)),
    namedHosts: async (name, position, limit) => answer(readNamedHosts(name, position, limit)),
    names: async (query, filter, position, limit) => answer(readNames(query, filter, position, limit)),
    namesOfParts: async (parts) => answer(readNamesOfParts(parts)),
    async progress() {
      beginRead()
      return fill()
    },
  }
}

/** Names whose clocks one statement reads: as many as it can without becoming slow to prepare. */
const NAMES_PER_STATEMENT = 50
const CLOCKS_SQL = 'select clock, other_clocks from crawl_state where slot = ? and name = ?'
/** A left join keeps the order of its left side. */
const MANY_CLOCKS_SQL = `with k (slot, name) as (values ${Array(NAMES_PER_STATEMENT).fill('(?, ?)').join()})
  select ifnull(v.clock, 0), v.other_clocks from k left join crawl_state v on v.slot = k.slot and v.name = k.name`

/** Returns a function that reads the clocks of names. One statement for many of them takes a third less time. */
function clockReader(database: DatabaseSync): (names: readonly DomainName[]) => StoredClocks[] {
  const one = database.prepare(CLOCKS_SQL)
  const many = database.prepare(MANY_CLOCKS_SQL)
  for (const statement of [one, many]) statement.setReturnArrays(true)
  return (names) => {
    const clocks: StoredClocks[] = []
    let from = 0
    for (; from + NAMES_PER_STATEMENT <= names.length; from += NAMES_PER_STATEMENT) {
      const keys: (number | string)[] = []
      for (let at = from; at < from + NAMES_PER_STATEMENT; at++) keys.push(slotOf(names[at]!), names[at]!)
      clocks.push(...(many.all(...keys) as unknown as StoredClocks[]))
    }
    for (const name of names.slice(from))
      clocks.push((one.get(slotOf(name), name) as unknown as StoredClocks | undefined) ?? NO_STORED_CLOCKS)
    return clocks
  }
}

/** How far a store that is older than its index is filled. */
export function fillProgressReader(database: DatabaseSync): () => InverseProgress {
  const select = database.prepare(`select value from metadata where name = 'inverse_fill'`)
  const certificates = database.prepare(`select 1 from metadata where name = 'certificate_fill'`)
  const names = database.prepare(`select value from metadata where name = 'name_fill'`)
  return () => {
    const events = select.get() as { value: string } | undefined
    const keys = names.get() as { value: string } | undefined
    const [filled, last] = events === undefined ? [1, 0] : (JSON.parse(events.value) as [number, number])
    const [slot] = keys === undefined ? [SLOT_COUNT] : (JSON.parse(keys.value) as [number])
    return { share: certificates.get() ? 0 : (filled / (last + 1) + Math.max(0, slot) / SLOT_COUNT) / 2 }
  }
}

/** Returns a function that reads at most `blocks` blocks of each run, from the first one that ends at `from` or later. */
export function sliceReader(
  database: DatabaseSync,
): (runs: readonly number[], from: Uint8Array, blocks: number) => RunSlice[] {
  const select = database.prepare(
    'select last_position, entries from inverse_block where run = ? and last_position >= ? order by last_position limit ?',
  )
  select.setReturnArrays(true)
  return (runs, from, blocks) => {
    const slices: RunSlice[] = []
    for (const run of runs) {
      const rows = select.all(run, from, blocks) as unknown as [last: Uint8Array, entries: Uint8Array][]
      if (rows.length === 0) continue
      slices.push({ blocks: rows.map(([, entries]) => entries), last: rows.at(-1)![0], more: rows.length === blocks })
    }
    return slices
  }
}

/** Prepares the statements once. Each call of the returned function starts the run of one transaction. */
export function inverseWriter(database: DatabaseSync) {
  const insertRun = database.prepare(
    `insert into inverse_run (state, fence, bytes) values ('published', 0, ?) returning number`,
  )
  const insertBlocks = blockWriter(database)
  const writer = new RunWriter()
  return () => {
    writer.finish() // a transaction that failed may have left something
    return {
      addName: (name: DomainName): void => writer.addName(name),
      addChanges: (name: DomainName, changes: readonly SetChange[]): void => writer.addChanges(name, changes),
      addEntries: (name: DomainName, entries: ReadonlyMap<string, readonly number[]>): void =>
        writer.addEntries(name, entries),
      addCertificate: (certificate: Certificate): void => writer.addCertificate(certificate),
      finish(): void {
        const blocks = writer.finish()
        if (blocks.length > 0) insertBlocks(insertRun.get(bytesOfBlocks(blocks))!.number as number, blocks)
      },
    }
  }
}

/** Returns a function that inserts blocks of a run. */
export function blockWriter(database: DatabaseSync): (run: number, blocks: readonly Block[]) => void {
  const insert = database.prepare(
    'insert into inverse_block (run, last_position, entries, checksum) values (?, ?, ?, ?)',
  )
  return (run, blocks) => {
    for (const { last, bytes } of blocks) insert.run(run, last, bytes, checksumOf('inverse_block', [run, last, bytes]))
  }
}
