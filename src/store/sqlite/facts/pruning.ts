/** Removes old history on SQLite: the superseded states of names, and what follows from them alone. */

import type { DatabaseSync } from 'node:sqlite'
import { withSerial } from '../../../apply/dns-state.ts'
import { namedHostKeys } from '../../../inverse/entries/value-key.ts'
import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import { packAddress } from '../../../values/ip-address.ts'
import type { Instant } from '../../../values/time.ts'
import {
  countPruned,
  newestCutoffs,
  type PrunedHistory,
  parseCutoffs,
  prunedHistory,
  stateLimits,
} from '../../inverse/pruned-history.ts'
import { type FactsPruning, PRUNED_UNTIL, type StateCutoffs } from '../../port/retention.ts'
import { checksumOf } from '../../shared/check/checksum.ts'
import { readTransaction, writeTransaction } from '../database/connection.ts'
import type { WriteAheadLog } from '../database/write-ahead-log.ts'
import { inverseWriter } from '../inverse/inverse.ts'
import { entryEraser, type StoredFacts, statesWriter, storedHistoryReader, valuesOf } from '../inverse/maintenance.ts'
import { certificateRemover } from './certificates.ts'

export function sqlitePruning(database: DatabaseSync, log: WriteAheadLog): FactsPruning {
  const validLock = database.prepare(
    `select 1 from named_lock where name = 'prune' and fence = ? and holder is not null`,
  )
  const candidates = candidateFinder(database)
  const findPrunable = prunableFinder(database)
  const remove = historyRemover(database)
  const saveCutoffs = cutoffWriter(database)
  return {
    candidates: async (cutoffs, after, limit) => readTransaction(database, () => candidates(cutoffs, after, limit)),
    namesPerTransaction: 50,
    prunable: async (names, cutoffs) => readTransaction(database, () => countPruned(findPrunable(names, cutoffs))),
    prune: ({ fence }, names, cutoffs) =>
      log.whenBounded(() =>
        writeTransaction(database, () => {
          if (validLock.get(fence) === undefined) return null
          const found = findPrunable(names, cutoffs)
          remove(found)
          if (found.length > 0) saveCutoffs(cutoffs)
          return countPruned(found)
        }),
      ),
    releaseSpace: () => log.whenBounded(() => releasePages(database)),
  }
}

const READ_CUTOFFS = `select value from metadata where name = '${PRUNED_UNTIL}'`

/** `beginRead`: begins a read of one snapshot. */
export function cutoffReader(database: DatabaseSync, beginRead: () => void): () => Promise<StateCutoffs> {
  const select = database.prepare(READ_CUTOFFS)
  return async () => {
    beginRead()
    return parseCutoffs(select.get()?.value as string | undefined)
  }
}

function cutoffWriter(database: DatabaseSync): (cutoffs: StateCutoffs) => void {
  const select = database.prepare(READ_CUTOFFS)
  const save = database.prepare(`insert or replace into metadata (name, value) values ('${PRUNED_UNTIL}', ?)`)
  return (cutoffs) => void save.run(JSON.stringify(newestCutoffs(select.get()?.value as string | undefined, cutoffs)))
}

/** Pages that one call moves: some tens of milliseconds. */
const RELEASED_PAGES = 2000
/** The part of the file that may stay unused, because merges of the indexes need it again. */
const UNUSED_SHARE = 1 / 16
/** The mode of a file whose unused pages can be released (`pragma auto_vacuum`). */
const INCREMENTAL = 2

function releasePages(database: DatabaseSync): boolean {
  const read = (name: string): number => Object.values(database.prepare(`pragma ${name}`).get()!)[0] as number
  const excess = read('freelist_count') - Math.floor(read('page_count') * UNUSED_SHARE)
  if (excess <= 0 || read('auto_vacuum') !== INCREMENTAL) return false
  database.exec(`pragma incremental_vacuum(${Math.min(RELEASED_PAGES, excess)})`)
  return true
}

function candidateFinder(database: DatabaseSync) {
  const end = database.prepare(
    'select max(id) as id, count(*) as ids from (select distinct id from dns_state where id > ? order by id limit ?)',
  )
  const maxId = database.prepare('select max(id) as id from facts')
  const find = database.prepare(
    `select name from facts where id in (select s.id from json_each(?3) c join dns_state s
       on s.id > ?1 and s.id <= ?2 and s.type = c.value ->> 0 and s.last_confirmed < c.value ->> 1) order by id`,
  )
  return (cutoffs: StateCutoffs, after: string | null, limit: number) => {
    const from = Number(after ?? 0)
    const { id: to, ids } = end.get(from, limit) as { id: number | null; ids: number }
    if (to === null) return { names: [], next: null, share: 1 }
    const names = find.all(from, to, JSON.stringify(stateLimits(cutoffs))).map(({ name }) => name as DomainName)
    const { id: last } = maxId.get() as { id: number | null }
    return { names, next: ids < limit ? null : String(to), share: last === null ? 1 : Math.min(1, to / last) }
  }
}

type Prunable = { facts: StoredFacts; pruned: PrunedHistory }

function prunableFinder(database: DatabaseSync) {
  const factsOf = database.prepare(
    'select f.* from crawl_state v join facts f on f.id = v.id where v.slot = ? and v.name = ?',
  )
  const historyOf = storedHistoryReader(database)
  return (names: readonly DomainName[], cutoffs: StateCutoffs): Prunable[] =>
    names.flatMap((name) => {
      const facts = factsOf.get(slotOf(name), name) as StoredFacts | undefined
      const pruned = facts && prunedHistory(historyOf(facts), facts.states, cutoffs)
      return pruned ? [{ facts, pruned }] : []
    })
}

/** Returns a function that removes what is prunable, and erases it from the inverse index at once for all names. */
function historyRemover(database: DatabaseSync): (found: readonly Prunable[]) => void {
  const writeStates = statesWriter(database)
  const removeStates = database.prepare('delete from dns_state where id = ? and type = ? and first_seen < ?')
  const removeInterruptions = database.prepare(
    'delete from dns_interruption where id = ? and type = ? and seen_again <= ?',
  )
  const removeAddress = database.prepare('delete from address_first_seen where id = ? and address = ?')
  const rebase = stateRebaser(database)
  const removeCertificates = certificateRemover(database)
  const erase = entryEraser(database)
  const beginRun = inverseWriter(database)
  return (found) => {
    const erased = new Map<string, ReadonlySet<number> | null>()
    const certificates: string[] = []
    const run = beginRun()
    for (const { facts, pruned } of found) {
      for (const { type, first_seen, records } of pruned.oldest) {
        removeStates.run(facts.id, type, first_seen)
        removeInterruptions.run(facts.id, type, first_seen)
        if (records !== null) rebase(facts.id, type, first_seen, records)
      }
      for (const address of pruned.addresses) removeAddress.run(facts.id, packAddress(address))
      writeStates(facts, pruned.states)
      certificates.push(...pruned.certificates)
      for (const [key, events] of pruned.erased) erased.set(key, events)
      run.addEntries(facts.name, pruned.added)
    }
    for (const key of removeCertificates(certificates).flatMap(namedHostKeys)) erased.set(key, null)
    erase(erased)
    run.finish()
  }
}

/** Returns a function that gives states with a serial alone another base: the oldest state that stays. */
function stateRebaser(database: DatabaseSync) {
  const dependent = database.prepare(
    'select * from dns_state where id = ?1 and type = ?2 and first_seen >= ?3 and base_first_seen < ?3',
  )
  const update = database.prepare(
    `update dns_state set records = ?, serial = ?, base_first_seen = ?, checksum = ?
     where id = ? and type = ? and first_seen = ?`,
  )
  return (id: number, type: number, base: Instant, records: string): void => {
    for (const row of dependent.all(id, type, base)) {
      const written =
        row.first_seen === base
          ? { ...row, records: withSerial(records, row.serial as number), serial: null, base_first_seen: null }
          : { ...row, base_first_seen: base }
      const checksum = checksumOf('dns_state', valuesOf('dns_state', written))
      const { records: text, serial, base_first_seen } = written as Record<string, string | number | null>
      update.run(text!, serial!, base_first_seen!, checksum, id, type, row.first_seen!)
    }
  }
}
