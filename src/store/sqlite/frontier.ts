/** The frontier on SQLite: reads what is known of a batch of names, and writes the changes behind the version gate. */

import type { DatabaseSync } from 'node:sqlite'
import type { Change } from '../../apply/change.ts'
import { type Current, NOTHING_KNOWN, type Visit } from '../../apply/known.ts'
import { type Name, rangeOf, slotOf } from '../../words/name.ts'
import { type FactsRow, packClocks, unpackFacts, unpackVisit, VISIT_COLUMNS, type VisitRow } from '../columns.ts'
import type { Lease } from '../schedule.ts'
import type { Frontier, Saved } from '../store.ts'
import { snapshot, transaction } from './connection.ts'
import { factsWriter } from './facts-writer.ts'
import { forgetter } from './forget.ts'
import type { Log } from './log.ts'

export function frontierOf(database: DatabaseSync, log: Log): Frontier {
  const visit = database.prepare(`select ${VISIT_COLUMNS} from visit where slot = ? and name = ?`)
  const current = database.prepare(
    'select f.* from visit v join facts f on f.id = v.id where v.slot = ? and v.name = ?',
  )
  const save = saver(database)
  const forget = forgetter(database)
  const readVisit = (name: Name): Visit => unpackVisit(name, visit.get(slotOf(name), name) as VisitRow | undefined)
  const readCurrent = (name: Name): Current => currentOf(name, current.get(slotOf(name), name) as FactsRow | undefined)
  // One transaction a batch: the locks of a read cost as much as reading a narrow row.
  return {
    visits: async (names) => snapshot(database, () => names.map(readVisit)),
    currents: async (names) => snapshot(database, () => names.map(readCurrent)),
    save: async (changes, leases) => log.bounded(() => transaction(database, () => save(changes, leases))),
    forget: async (name) => log.bounded(() => transaction(database, () => forget(name))),
  }
}

function currentOf(name: Name, row: FactsRow | undefined): Current {
  return row ? unpackFacts(name, row) : NOTHING_KNOWN
}

/** The version gate: writes a narrow row where its version still stands. */
function gateOf(database: DatabaseSync): (visit: Visit, id: number | null) => boolean {
  const insert = database.prepare(
    `insert into visit (slot, name, id, version, clock, late, dns_print, web_print, due, failures)
     values (?, ?, ?, 1, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
  )
  const update = database.prepare(
    `update visit set version = version + 1, clock = ?, late = ?, dns_print = ?, web_print = ?, due = ?, failures = ?
     where slot = ? and name = ? and version = ?`,
  )
  return ({ name, version, clocks, dnsPrint, webPrint, due, failures }, id) => {
    const { clock, late } = packClocks(clocks)
    const { changes } =
      version === 0
        ? insert.run(slotOf(name), name, id, clock, late, dnsPrint, webPrint, due, failures)
        : update.run(clock, late, dnsPrint, webPrint, due, failures, slotOf(name), name, version)
    return changes === 1
  }
}

/** Writes each change whose lease and version still stand, and returns the names of the others. */
function saver(database: DatabaseSync): (changes: readonly Change[], leases?: readonly Lease[]) => Saved {
  const passes = gateOf(database)
  const stands = database.prepare('select 1 from lease where slots = ? and fence = ? and holder is not null')
  const beginFacts = factsWriter(database)
  return (changes, leases) => {
    const held = leases?.filter(({ range, fence }) => stands.get(range, fence) !== undefined)
    const ranges = held && new Set(held.map(({ range }) => range))
    const again: Name[] = []
    const lost: Name[] = []
    const facts = beginFacts()
    for (const { visit, facts: written } of changes) {
      if (ranges && !ranges.has(rangeOf(visit.name))) {
        lost.push(visit.name)
        continue
      }
      const fresh = visit.version === 0 && written ? facts.freshId() : null
      if (!passes(visit, fresh)) again.push(visit.name)
      else if (written) facts.write(visit.name, written, fresh)
    }
    facts.finish()
    return { again, lost }
  }
}
