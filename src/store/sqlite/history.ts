/** The history on SQLite: the newest state of a type from the facts, the superseded ones as a range by time. */

import type { DatabaseSync } from 'node:sqlite'
import type { Current } from '../../apply/known.ts'
import { TYPE_NUMBERS } from '../../apply/numbers.ts'
import { slotOf } from '../../words/name.ts'
import { unpackStates } from '../columns.ts'
import { historyOfType, type StateRow } from '../history.ts'
import type { Facts, History } from '../store.ts'
import { snapshot } from './connection.ts'

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
      const entries = types.map((type): [string, History] => {
        const newest = current[type]
        const isAlone = newest === undefined || newest.count === 1
        const from = before ?? newest?.first_seen ?? 0
        const older = isAlone ? [] : states.all(row!.id, TYPE_NUMBERS[type], from, limit + 1)
        return [type, historyOfType(type, newest, older as StateRow[], before, limit)]
      })
      return Object.fromEntries(entries) as Record<(typeof types)[number], History>
    })
}
