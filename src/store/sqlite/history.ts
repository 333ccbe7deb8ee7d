/** The history on SQLite: the newest state of a type from the facts, the superseded ones as a range by time. */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Current, State } from '../../apply/known.ts'
import { withSerial } from '../../apply/state.ts'
import { slotOf } from '../../words/name.ts'
import { RECORD_TYPES, type RecordType } from '../../words/record.ts'
import { recordsOf } from '../../words/record-text.ts'
import type { Instant } from '../../words/time.ts'
import type { Facts, History, HistoryState } from '../store.ts'
import { unpackStates } from './columns.ts'
import { snapshot } from './connection.ts'

type StateRow = { first_seen: Instant; records: string | null; serial: number | null; whole: string | null }
/** What a read of superseded states needs: whose, and from where. */
type Range = { id: number; before: Instant | null; limit: number }

export function historyOf(database: DatabaseSync): Facts['history'] {
  const facts = database.prepare(
    'select f.id, f.states from visit v join facts f on f.id = v.id where v.slot = ? and v.name = ?',
  )
  const states = database.prepare(
    `select s.first_seen, s.records, s.serial, b.records as whole
     from state s left join state b on b.id = s.id and b.type = s.type and b.first_seen = s.base
     where s.id = ? and s.type = ? and s.first_seen < ? order by s.first_seen desc limit +?`,
  )
  return async (name, types, before, limit) =>
    snapshot(database, () => {
      const row = facts.get(slotOf(name), name) as { id: number; states: string } | undefined
      const current: Current['states'] = row ? unpackStates(row.states) : {}
      const range = { id: row?.id ?? 0, before, limit }
      const entries = types.map((type) => [type, typeHistory(states, type, current[type], range)])
      return Object.fromEntries(entries) as Record<(typeof types)[number], History>
    })
}

function typeHistory(statement: StatementSync, type: RecordType, newest: State | undefined, range: Range): History {
  if (!newest) return { states: [], total: 0, more: false }
  const { id, before, limit } = range
  const states: HistoryState[] = []
  if (before === null || newest.first_seen < before) {
    states.push(answered(type, newest.first_seen, newest.records))
  }
  if (newest.count > 1) {
    const from = Math.min(before ?? newest.first_seen, newest.first_seen)
    const rows = statement.all(id, RECORD_TYPES.indexOf(type), from, limit + 1 - states.length) as StateRow[]
    states.push(...rows.map((row) => answered(type, row.first_seen, keptText(row))))
  }
  return { states: states.slice(0, limit), total: newest.count, more: states.length > limit }
}

/** A state that is kept as its serial alone is the whole one at its base with that serial. */
function keptText({ records, serial, whole }: StateRow): string {
  return records ?? withSerial(whole!, serial!)
}

function answered(type: RecordType, first_seen: Instant, kept: string): HistoryState {
  return { first_seen, records: JSON.stringify(recordsOf(type, kept)) }
}
