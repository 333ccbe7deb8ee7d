/** One type's page of history out of its newest state and the superseded ones that an engine has read. */

import type { DnsState } from '../../apply/crawl-state.ts'
import { withSerial } from '../../apply/dns-state.ts'
import type { RecordType } from '../../values/dns-record.ts'
import { decodeRecords } from '../../values/stored-records.ts'
import type { Instant } from '../../values/time.ts'
import type { History, HistoryState } from '../port/store.ts'

/** A superseded state; `whole` is the kept text of the one at its base, where it has one. */
export type StateRow = {
  first_seen: Instant
  records: string | null
  serial: number | null
  baseRecords: string | null
}

/** `older`: superseded states before `before` (null: all), newest first, one more than `limit` where there are so many. */
export function historyPageOfType(
  type: RecordType,
  newest: DnsState | undefined,
  older: readonly StateRow[],
  before: Instant | null,
  limit: number,
): History {
  if (!newest) return { states: [], total: 0, more: false }
  const states: HistoryState[] = []
  if (before === null || newest.first_seen < before)
    states.push(historyStateOf(type, newest.first_seen, newest.records))
  states.push(...older.map((row) => historyStateOf(type, row.first_seen, fullRecordsText(row))))
  return { states: states.slice(0, limit), total: newest.count, more: states.length > limit }
}

/** A state that is kept as its serial alone is the whole one at its base with that serial. */
function fullRecordsText({ records, serial, baseRecords: whole }: StateRow): string {
  return records ?? withSerial(whole!, serial!)
}

function historyStateOf(type: RecordType, first_seen: Instant, stored: string): HistoryState {
  return { first_seen, records: JSON.stringify(decodeRecords(type, stored)) }
}
