/**
 * The history on PostgreSQL: the newest states from the facts and superseded ones as a range by time, in one statement,
 * and interruptions as a range by time.
 */

import type { Interruption } from '../../../apply/change.ts'
import { RECORD_TYPE_NUMBERS } from '../../../apply/stored-numbers.ts'
import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import type { RecordType } from '../../../values/records/dns-record.ts'
import type { Instant } from '../../../values/time.ts'
import type { FactsReader, History } from '../../port/store.ts'
import { unpackStates } from '../../shared/columns.ts'
import { historyPageOfType, type StateRow } from '../../shared/history.ts'
import { plainArray } from '../database/arrays.ts'
import { partitionOfName } from '../database/partition.ts'
import type { ReadStatement } from '../database/pipelined-reader.ts'

/** A superseded state. `type` null: the newest states, in `records` as the facts store them. */
type HistoryRow = StateRow & { type: number | null }

/** Later than any state. */
const AFTER_ALL_STATES: Instant = 2 ** 48

/** The partition is a parameter for every table, so that Citus sends the statement to one shard. */
const READ_HISTORY = {
  name: 'facts.history',
  text: `with f as materialized (
      select f.id, f.states from crawl_state v join facts f on f.part = $1 and f.id = v.id
      where v.part = $1 and v.slot = $2 and v.name = $3)
    select null::smallint as type, null::bigint as first_seen, null::bigint as last_confirmed, states as records, null::bigint as serial, null::text as "baseRecords" from f
    union all
    select s.type, s.first_seen, s.last_confirmed, s.records, s.serial, b.records from f
    cross join unnest($4::smallint[]) as t(type)
    cross join lateral (
      select * from dns_state s where s.part = $1 and s.id = f.id and s.type = t.type and s.first_seen < $5
      order by s.first_seen desc limit $6) s
    left join dns_state b on b.part = $1 and b.id = s.id and b.type = s.type and b.first_seen = s.base_first_seen`,
}

const READ_INTERRUPTIONS = {
  name: 'facts.interruptions',
  text: `select i.last_seen, i.seen_again from crawl_state v join dns_interruption i on i.part = $1 and i.id = v.id
    where v.part = $1 and v.slot = $2 and v.name = $3 and i.type = $4 and i.seen_again < $5 order by i.seen_again desc limit $6`,
}

export function postgresInterruptions(read: ReadStatement): FactsReader['interruptions'] {
  return (name, type, before, limit) => {
    const key = [partitionOfName(name), slotOf(name), name, RECORD_TYPE_NUMBERS[type]]
    return read<Interruption>(READ_INTERRUPTIONS, [...key, before ?? AFTER_ALL_STATES, limit])
  }
}

export function postgresHistory(read: ReadStatement): FactsReader['history'] {
  return async <T extends RecordType>(name: DomainName, types: readonly T[], before: Instant | null, limit: number) => {
    const typeNumbers = plainArray(types.map((type) => RECORD_TYPE_NUMBERS[type]))
    const rows = await read<HistoryRow>(READ_HISTORY, [
      partitionOfName(name),
      slotOf(name),
      name,
      typeNumbers,
      before ?? AFTER_ALL_STATES,
      limit + 1,
    ])
    const current = rows.find(({ type }) => type === null)
    const newest = current ? unpackStates(current.records!) : {}
    const entries = types.map((type): [T, History] => {
      const older = rows.filter((row) => row.type === RECORD_TYPE_NUMBERS[type])
      older.sort((a, b) => b.first_seen - a.first_seen)
      return [type, historyPageOfType(type, newest[type], older, before, limit)]
    })
    return Object.fromEntries(entries) as Record<T, History>
  }
}
