/** The frontier on SQLite: reads what is known of a batch of names, and writes the changes behind the version gate. */

import type { DatabaseSync } from 'node:sqlite'
import type { Change } from '../../../apply/change.ts'
import { type CrawlState, type CurrentFacts, NO_FACTS } from '../../../apply/crawl-state.ts'
import { type DomainName, slotOf, slotRangeOf } from '../../../values/domain-name.ts'
import type { Lease } from '../../port/schedule.ts'
import type { ObservationStore, SaveResult } from '../../port/store.ts'
import {
  CRAWL_STATE_COLUMNS,
  type CrawlStateRow,
  type FactsRow,
  packClocks,
  unpackCrawlState,
  unpackFacts,
} from '../../shared/columns.ts'
import { readTransaction, writeTransaction } from '../database/connection.ts'
import type { WriteAheadLog } from '../database/write-ahead-log.ts'
import { factsWriter } from './facts-writer.ts'
import { nameForgetter } from './forget.ts'

export function sqliteObservations(database: DatabaseSync, log: WriteAheadLog): ObservationStore {
  const visit = database.prepare(`select ${CRAWL_STATE_COLUMNS} from crawl_state where slot = ? and name = ?`)
  const current = database.prepare(
    'select f.* from crawl_state v join facts f on f.id = v.id where v.slot = ? and v.name = ?',
  )
  const save = changeSaver(database)
  const forget = nameForgetter(database)
  const readVisit = (name: DomainName): CrawlState =>
    unpackCrawlState(name, visit.get(slotOf(name), name) as CrawlStateRow | undefined)
  const readCurrent = (name: DomainName): CurrentFacts =>
    currentFactsOf(name, current.get(slotOf(name), name) as FactsRow | undefined)
  // One transaction a batch: the locks of a read cost as much as reading a narrow row.
  return {
    crawlStates: async (names) => readTransaction(database, () => names.map(readVisit)),
    currentFacts: async (names) => readTransaction(database, () => names.map(readCurrent)),
    save: async (changes, leases) => log.whenBounded(() => writeTransaction(database, () => save(changes, leases))),
    forget: async (name) => log.whenBounded(() => writeTransaction(database, () => forget(name))),
  }
}

function currentFactsOf(name: DomainName, row: FactsRow | undefined): CurrentFacts {
  return row ? unpackFacts(name, row) : NO_FACTS
}

/** The version gate: writes a narrow row where its version still stands. */
function versionCheck(database: DatabaseSync): (visit: CrawlState, id: number | null) => boolean {
  const insert = database.prepare(
    `insert into crawl_state (slot, name, id, version, clock, other_clocks, dns_fingerprint, web_fingerprint, due, failures)
     values (?, ?, ?, 1, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
  )
  const update = database.prepare(
    `update crawl_state set version = version + 1, clock = ?, other_clocks = ?, dns_fingerprint = ?, web_fingerprint = ?, due = ?, failures = ?
     where slot = ? and name = ? and version = ?`,
  )
  return ({ name, version, clocks, dnsFingerprint: dnsPrint, webFingerprint: webPrint, due, failures }, id) => {
    const { clock, otherClocks: late } = packClocks(clocks)
    const { changes } =
      version === 0
        ? insert.run(slotOf(name), name, id, clock, late, dnsPrint, webPrint, due, failures)
        : update.run(clock, late, dnsPrint, webPrint, due, failures, slotOf(name), name, version)
    return changes === 1
  }
}

/** Writes each change whose lease and version still stand, and returns the names of the others. */
function changeSaver(database: DatabaseSync): (changes: readonly Change[], leases?: readonly Lease[]) => SaveResult {
  const passes = versionCheck(database)
  const stands = database.prepare('select 1 from slot_lease where slot_range = ? and fence = ? and holder is not null')
  const beginFacts = factsWriter(database)
  return (changes, leases) => {
    const held = leases?.filter(({ range, fence }) => stands.get(range, fence) !== undefined)
    const ranges = held && new Set(held.map(({ range }) => range))
    const again: DomainName[] = []
    const lost: DomainName[] = []
    const facts = beginFacts()
    for (const { state: visit, facts: written } of changes) {
      if (ranges && !ranges.has(slotRangeOf(visit.name))) {
        lost.push(visit.name)
        continue
      }
      const fresh = visit.version === 0 && written ? facts.nextId() : null
      if (!passes(visit, fresh)) again.push(visit.name)
      else if (written) facts.write(visit.name, written, fresh)
    }
    facts.finish()
    return { rejected: again, lost }
  }
}
