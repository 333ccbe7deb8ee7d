/** Maintains the inverse index on SQLite: merges of runs, names of older stores, and erased names. */

import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { STATE_TYPE_NUMBERS } from '../../../apply/stored-numbers.ts'
import { bytesOfBlocks } from '../../../inverse/entries/block.ts'
import { type Certificate, decodeDetails } from '../../../values/certificate/certificate.ts'
import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import { type ErasedEntries, wholeEntries, withoutEntries } from '../../inverse/erase.ts'
import { lacksWebState, withWebState } from '../../inverse/first-web-state.ts'
import { formerCertificatesOf, formerKeysOf, hasFormerCertificates } from '../../inverse/former-certificates.ts'
import {
  changesOfName,
  type HistoryRow,
  type InterruptionRow,
  type NewestStatesRow,
  newestTextsOf,
  type StoredHistory,
} from '../../inverse/name-events.ts'
import { type FillName, KNOWN_NAMES_PER_NAME } from '../../inverse/run-writer.ts'
import type { InverseIndexStore, InverseProgress, InverseRun } from '../../port/inverse.ts'
import type { LockHold } from '../../port/jobs.ts'
import { presentedCertificates } from '../../shared/certificates.ts'
import { checksumOf } from '../../shared/check/checksum.ts'
import { type FactsRow, TOMBSTONE_ID } from '../../shared/columns.ts'
import { type ClockRow, partClocksOf } from '../../shared/lookup.ts'
import { columnNames, type FactTable } from '../../shared/tables.ts'
import { readTransaction, writeTransaction } from '../database/connection.ts'
import type { WriteAheadLog } from '../database/write-ahead-log.ts'
import { certificateWriter } from '../facts/certificates.ts'
import { blockWriter, fillProgressReader, inverseWriter, PUBLISHED_RUNS_SQL, sliceReader } from './inverse.ts'

/** All names and certificates are to be filled in. */
export const START_INVERSE_FILL = `insert or replace into metadata (name, value)
  select 'inverse_fill', json_array(0, max(id)) from facts having max(id) is not null
  union all select 'certificate_fill', '' where exists (select 1 from certificate)
  union all select 'name_fill', '[-1,""]' where exists (select 1 from crawl_state)`

/** Blocks that have lost their run get one, so that they are deleted with it. */
const RESTART_INDEX = `update inverse_run set state = 'replaced';
  with recursive used(run) as (select min(run) from inverse_block union all
    select (select min(run) from inverse_block where run > used.run) from used where used.run is not null)
  insert or ignore into inverse_run (number, state, fence, bytes)
    select run, 'replaced', 0, 0 from used where run is not null;
  ${START_INVERSE_FILL}`

export function sqliteInverseIndex(database: DatabaseSync, log: WriteAheadLog): InverseIndexStore {
  const validLock = database.prepare(
    `select 1 from named_lock where name = 'inverse' and fence = ? and holder is not null`,
  )
  const runs = database.prepare(PUBLISHED_RUNS_SQL)
  const erasures = database.prepare(
    `select cast(value as integer) as count from metadata where name = 'inverse_erasures'`,
  )
  const readErasures = (): number => erasures.get()!.count as number
  const readSlices = sliceReader(database)
  const { begin, write, publish, removeReplaced } = runStatements(database)
  const fill = nameFiller(database)
  /** Runs `work` if the lock is valid. */
  const withLock = <Result>({ fence }: LockHold, work: () => Result): Promise<Result | null> =>
    log.whenBounded(() => writeTransaction(database, () => (validLock.get(fence) === undefined ? null : work())))
  return {
    runs: async () => (runs.all() as InverseRun[]).map((row) => ({ ...row })),
    portion: async (numbers, from, blocks) =>
      readTransaction(database, () => ({ slices: readSlices(numbers, from, blocks), erasures: readErasures() })),
    beginRun: (hold) => withLock(hold, () => begin(hold)),
    writeBlocks: (hold, run, blocks, erasuresBefore) =>
      withLock(hold, () => {
        if (readErasures() !== erasuresBefore) return false
        write(run, blocks)
        return true
      }),
    publishRun: (hold, run, replaced) =>
      withLock(hold, () => {
        publish(run, replaced)
        return true
      }),
    removeReplaced: (hold, limit) => withLock(hold, () => removeReplaced(limit)),
    restart: (hold) =>
      withLock(hold, () => {
        database.exec(RESTART_INDEX)
        return true
      }),
    fill: (hold, limit) => withLock(hold, () => fill(limit)),
  }
}

function runStatements(database: DatabaseSync) {
  const discard = database.prepare(`update inverse_run set state = 'replaced' where state = 'building' and fence <> ?`)
  const insert = database.prepare(
    `insert into inverse_run (state, fence, bytes) values ('building', ?, 0) returning number`,
  )
  const insertBlocks = blockWriter(database)
  const addBytes = database.prepare('update inverse_run set bytes = bytes + ? where number = ?')
  const setState = database.prepare('update inverse_run set state = ? where number = ?')
  const nextReplaced = database.prepare(
    `select number from inverse_run where state = 'replaced' order by number limit 1`,
  )
  const deleteBlocks = database.prepare(
    `delete from inverse_block where run = ?1 and last_position in
       (select last_position from inverse_block where run = ?1 order by last_position limit ?2)`,
  )
  const deleteRun = database.prepare('delete from inverse_run where number = ?')
  return {
    begin({ fence }: LockHold): number {
      discard.run(fence)
      return insert.get(fence)!.number as number
    },
    write(run: number, blocks: Parameters<typeof insertBlocks>[1]): void {
      insertBlocks(run, blocks)
      addBytes.run(bytesOfBlocks(blocks), run)
    },
    publish(run: number, replaced: readonly number[]): void {
      setState.run('published', run)
      for (const number of replaced) setState.run('replaced', number)
    },
    /** Deletes blocks of replaced runs, and each run after its last block. */
    removeReplaced(limit: number): boolean {
      let left = limit
      for (let row = nextReplaced.get(); row !== undefined; row = nextReplaced.get()) {
        left -= Number(deleteBlocks.run(row.number!, left).changes)
        if (left <= 0) return true
        deleteRun.run(row.number!)
      }
      return false
    },
  }
}

export type NameRow = { id: number } & NewestStatesRow

/** Returns a function that reads the history of a name from its facts. */
export function storedHistoryReader(database: DatabaseSync): (facts: NameRow) => StoredHistory {
  const superseded = database.prepare(
    `select s.type, s.first_seen, s.last_confirmed, coalesce(s.records, b.records) as records
     from dns_state s left join dns_state b on b.id = s.id and b.type = s.type and b.first_seen = s.base_first_seen
     where s.id = ? order by s.type, s.first_seen`,
  )
  const interruptions = database.prepare('select type, last_seen, seen_again from dns_interruption where id = ?')
  return ({ id, ...row }) => ({
    name: row.name,
    states: newestTextsOf(row),
    superseded: superseded.all(id) as HistoryRow[],
    interruptions: interruptions.all(id) as InterruptionRow[],
  })
}

export type StoredFacts = FactsRow & NameRow

/** Returns the facts with other newest states, which it has stored. */
type StatesWriter = (facts: StoredFacts, states: string) => StoredFacts

/** Returns a function that stores the newest states of a name. Writers of the name read again. */
export function statesWriter(database: DatabaseSync): StatesWriter {
  const raise = database.prepare('update crawl_state set version = version + 1 where slot = ? and name = ?')
  const update = database.prepare('update facts set states = ?, checksum = ? where id = ?')
  return (facts, states) => {
    const written = { ...facts, states }
    update.run(states, checksumOf('facts', valuesOf('facts', written)), facts.id)
    raise.run(slotOf(facts.name), facts.name)
    return written
  }
}

/** Returns a function that begins a state for a website that an older release stored. */
function webStateBeginner(database: DatabaseSync, writeStates: StatesWriter): (facts: StoredFacts) => StoredFacts {
  const clocks = database.prepare('select clock, other_clocks from crawl_state where slot = ? and name = ?')
  return (facts) => {
    if (!lacksWebState(facts)) return facts
    const row = clocks.get(slotOf(facts.name), facts.name) as ClockRow | undefined
    const states = withWebState(facts, partClocksOf(row))
    return states === null ? facts : writeStates(facts, states)
  }
}

/**
 * Returns a function that moves the certificates of a name out of its states. It passes those that may be new to `add`.
 */
function formerCertificateMover(database: DatabaseSync, writeStates: StatesWriter) {
  const addCertificates = certificateWriter(database)
  const erase = entryEraser(database)
  const state = database.prepare('select * from dns_state where id = ? and type = ? and first_seen = ?')
  const updateState = database.prepare(
    'update dns_state set records = ?, checksum = ? where id = ? and type = ? and first_seen = ?',
  )
  return (facts: StoredFacts, history: StoredHistory, add: (certificate: Certificate) => void): void => {
    if (!hasFormerCertificates(history)) return
    const former = formerCertificatesOf(history, facts.states)
    writeStates(facts, former.states)
    for (const { first_seen, records } of former.superseded) {
      const key = [facts.id, STATE_TYPE_NUMBERS.certificate, first_seen]
      const row = { ...state.get(...key), records }
      updateState.run(records, checksumOf('dns_state', valuesOf('dns_state', row)), ...key)
    }
    erase(wholeEntries(formerKeysOf(history)))
    for (const each of addCertificates(presentedCertificates(former.certificates))) add(each)
  }
}

export function valuesOf(table: FactTable, row: Record<string, SQLOutputValue | undefined>) {
  return columnNames(table).map((column) => row[column] ?? null) as (string | number | null)[]
}

/** How far a part of the index is filled in, in a format of its own. `read`: null if it is complete. */
type FillCursor = { read(): string | null; save(place: string): void; end(): void }

function fillCursor(database: DatabaseSync, name: FillName): FillCursor {
  const select = database.prepare('select value from metadata where name = ?')
  const update = database.prepare('update metadata set value = ? where name = ?')
  const complete = database.prepare('delete from metadata where name = ?')
  return {
    read: () => (select.get(name) as { value: string } | undefined)?.value ?? null,
    save: (place) => void update.run(place, name),
    end: () => void complete.run(name),
  }
}

/** Returns a function that adds the names of the next certificates of a copied store. It returns false if there are none. */
function certificateFiller(database: DatabaseSync): (limit: number) => boolean {
  const fill = fillCursor(database, 'certificate_fill')
  const next = database.prepare(
    'select lower(hex(sha256)) as sha256, details from certificate where sha256 > ? order by sha256 limit ?',
  )
  const beginRun = inverseWriter(database)
  return (limit) => {
    const sha256 = fill.read()
    if (sha256 === null) return false
    const rows = next.all(Buffer.from(sha256, 'hex'), limit) as { sha256: string; details: string }[]
    const run = beginRun()
    for (const { sha256, details } of rows) run.addCertificate(decodeDetails(sha256, details))
    run.finish()
    if (rows.length < limit) fill.end()
    else fill.save(rows.at(-1)!.sha256)
    return true
  }
}

export type KnownName = { slot: number; name: DomainName }
/** The next known names after a slot and a name, whether they have facts or not. */
export const NEXT_NAMES_SQL = `select slot, name from crawl_state where (slot, name) > (?, ?) and id is not ${TOMBSTONE_ID}
  order by slot, name limit ?`

/** Returns a function that adds the keys of the next known names in one run. It returns false if there are none. */
function knownNameFiller(database: DatabaseSync): (limit: number) => boolean {
  const fill = fillCursor(database, 'name_fill')
  const next = database.prepare(NEXT_NAMES_SQL)
  const beginRun = inverseWriter(database)
  return (limit) => {
    const place = fill.read()
    if (place === null) return false
    const rows = next.all(...(JSON.parse(place) as [number, string]), limit) as KnownName[]
    const run = beginRun()
    for (const { name } of rows) run.addName(name)
    run.finish()
    const last = rows.length < limit ? undefined : rows.at(-1)
    if (last === undefined) fill.end()
    else fill.save(JSON.stringify([last.slot, last.name]))
    return true
  }
}

/** Returns a function that adds the events of the next names to the index in one run. */
function nameFiller(database: DatabaseSync): (limit: number) => InverseProgress {
  const progress = fillProgressReader(database)
  const fill = fillCursor(database, 'inverse_fill')
  const names = database.prepare('select * from facts where id > ? and id <= ? order by id limit ?')
  const writeStates = statesWriter(database)
  const beginWebState = webStateBeginner(database, writeStates)
  const historyOf = storedHistoryReader(database)
  const moveCertificates = formerCertificateMover(database, writeStates)
  const beginRun = inverseWriter(database)
  const fillCertificates = certificateFiller(database)
  const fillKnownNames = knownNameFiller(database)
  return (limit) => {
    if (fillCertificates(limit)) return progress()
    const place = fill.read()
    if (place === null) {
      fillKnownNames(KNOWN_NAMES_PER_NAME * limit)
      return progress()
    }
    const [filled, last] = JSON.parse(place) as [number, number]
    const rows = names.all(filled, last, limit) as StoredFacts[]
    const run = beginRun()
    for (const facts of rows.map(beginWebState)) {
      const history = historyOf(facts)
      moveCertificates(facts, history, run.addCertificate) // the keys of the history stay the same
      run.addChanges(facts.name, changesOfName(history))
    }
    run.finish()
    if (rows.length < limit) fill.end()
    else fill.save(JSON.stringify([rows.at(-1)!.id, last]))
    return progress()
  }
}

/** Returns a function that erases entries from all runs, also from those that a merge is building. */
export function entryEraser(database: DatabaseSync): (erased: ErasedEntries) => void {
  const runs = database.prepare('select number from inverse_run')
  const block = database.prepare(
    'select last_position, entries from inverse_block where run = ? and last_position >= ? order by last_position limit 1',
  )
  const deleteBlock = database.prepare('delete from inverse_block where run = ? and last_position = ?')
  const countErasure = database.prepare(
    `update metadata set value = cast(value as integer) + 1 where name = 'inverse_erasures'`,
  )
  const insertBlocks = blockWriter(database)
  return (erased) => {
    const keys = [...erased.keys()].sort()
    if (keys.length === 0) return
    for (const { number: run } of runs.all() as { number: number }[]) {
      let reached = ''
      for (const key of keys) {
        // the entry may continue in the next block
        const continued = (): string | null => (reached.startsWith(`${key}\x00`) ? reached : null)
        for (let from = key > reached ? key : continued(); from !== null; from = continued()) {
          const found = block.get(run, Buffer.from(from, 'latin1')) as
            | { last_position: Uint8Array; entries: Uint8Array }
            | undefined
          if (found === undefined) break
          const { last_position, entries } = found
          const remaining = withoutEntries(entries, erased)
          if (remaining !== null) {
            deleteBlock.run(run, last_position)
            insertBlocks(run, remaining)
          }
          reached = `${Buffer.from(last_position).toString('latin1')}\x00`
        }
      }
    }
    countErasure.run()
  }
}
