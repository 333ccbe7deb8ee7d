/** Builds a page of history of one record type from its newest state and superseded states. */

import type { DnsState } from '../../apply/crawl-state.ts'
import { withSerial } from '../../apply/dns-state.ts'
import type { RecordType } from '../../values/records/dns-record.ts'
import { decodeRecords } from '../../values/records/stored-records.ts'
import type { Instant } from '../../values/time.ts'
import type { History, PastState } from '../port/store.ts'

/** A superseded state. `baseRecords`: the records of the state at its base, if it has one. */
export type StateRow = {
  first_seen: Instant
  last_confirmed: Instant
  records: string | null
  serial: number | null
  baseRecords: string | null
}

/** `older`: superseded states before `before` (null: all), newest first, up to one more than `limit`. */
export function historyPageOfType(
  type: RecordType,
  newest: DnsState | undefined,
  older: readonly StateRow[],
  before: Instant | null,
  limit: number,
): History {
  if (!newest) return { states: [], total: 0, more: false, absent_since: null }
  const states: PastState[] = []
  if (before === null || newest.first_seen < before) states.push(pastState(type, newest, null, newest.records))
  states.push(...older.map((row) => pastState(type, row, row.last_confirmed, fullRecordsText(row))))
  const absent_since = newest.absence?.first ?? null
  return { states: states.slice(0, limit), total: newest.count, more: states.length > limit, absent_since }
}

/** A state stored as a serial only has the records of its base with that serial. */
function fullRecordsText({ records, serial, baseRecords }: StateRow): string {
  return records ?? withSerial(baseRecords!, serial!)
}

function pastState(
  type: RecordType,
  { first_seen }: { first_seen: Instant },
  last_confirmed: Instant | null,
  stored: string,
): PastState {
  return { first_seen, last_confirmed, records: JSON.stringify(decodeRecords(type, stored)) }
}
