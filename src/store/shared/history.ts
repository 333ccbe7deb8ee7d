/** Builds a page of history from the newest state and superseded states: of one record type, or of the website. */

import { withSerial } from '../../apply/dns-state.ts'
import { CLOCK_INDEX } from '../../apply/stored-numbers.ts'
import { lastSeenOfWebState, webStateOf } from '../../apply/web-state.ts'
import { presentedFingerprint } from '../../values/certificate/presented.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { RecordType } from '../../values/records/dns-record.ts'
import { recordsJson } from '../../values/records/stored-records.ts'
import type { Instant } from '../../values/time.ts'
import { decodeVerdict } from '../../values/web-verdict.ts'
import type {
  CertificateHistory,
  FactsReader,
  History,
  PastCertificate,
  PastState,
  WebHistory,
  WebState,
} from '../port/store.ts'
import {
  type StoredState,
  unpackClocks,
  unpackStates,
  unpackVerdict,
  VERDICT_COLUMNS,
  type VerdictRow,
} from './columns.ts'
import { type ClockRow, lastObservedOf } from './lookup.ts'

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
  newest: StoredState | undefined,
  older: readonly StateRow[],
  before: Instant | null,
  limit: number,
): History {
  if (!newest) return { states: [], total: 0, more: false, absent_since: null }
  const [first_seen, total, , records, absent_since = null] = newest
  const states: PastState[] = []
  if (before === null || first_seen < before)
    states.push({ first_seen, last_confirmed: null, records: recordsJson(type, records) })
  for (const row of older) {
    const values = JSON.parse(fullRecordsText(row)) as unknown[]
    states.push({ first_seen: row.first_seen, last_confirmed: row.last_confirmed, records: recordsJson(type, values) })
  }
  return { states: states.slice(0, limit), total, more: states.length > limit, absent_since }
}

/** A state stored as a serial only has the records of its base with that serial. */
function fullRecordsText({ records, serial, baseRecords }: StateRow): string {
  return records ?? withSerial(baseRecords!, serial!)
}

/** The columns of a WebHistoryRow without `older`, of a crawl state `v` and its facts `f`. */
export const WEB_HISTORY_COLUMNS: readonly string[] = [
  ...['v.clock', 'v.other_clocks', 'f.states'],
  ...VERDICT_COLUMNS.map((column) => `f.${column}`),
]
/**
 * What a page of a website's history is built from. `older`: JSON, as for historyPageOfType, of objects with the columns
 * of `dns_state`.
 */
export type WebHistoryRow = ClockRow & VerdictRow & { states: string; older: string }

/** `row`: undefined without facts. `read`: reads certificates (`FactsReader.certificates`). */
export async function certificateHistoryPage(
  row: WebHistoryRow | undefined,
  before: Instant | null,
  limit: number,
  read: FactsReader['certificates'],
): Promise<CertificateHistory> {
  const newest = row && unpackStates(row.states).certificate
  const lastObserved = lastObservedOf(row)
  if (newest === undefined) return { states: [], total: 0, more: false, lastObserved }
  const { first_seen, count: total, records: text } = newest
  const states: (Omit<PastCertificate, 'certificate'> & { sha256: string | null })[] = []
  const last_seen = unpackClocks(row!.clock, row!.other_clocks)[CLOCK_INDEX.certificate]!
  if (before === null || first_seen < before) states.push({ first_seen, last_seen, sha256: presentedFingerprint(text) })
  for (const { first_seen, last_confirmed, records } of JSON.parse(row!.older) as (StateRow & { records: string })[])
    states.push({ first_seen, last_seen: last_confirmed, sha256: presentedFingerprint(records) })
  const page = states.slice(0, limit)
  const known = await read(page.flatMap(({ sha256 }) => sha256 ?? []))
  const bySha256 = new Map(known.flatMap((each) => (each ? [[each.certificate.sha256, each.certificate]] : [])))
  return {
    states: page.map(({ sha256, ...state }) => ({ ...state, certificate: (sha256 && bySha256.get(sha256)) || null })),
    total,
    more: states.length > limit,
    lastObserved,
  }
}

/** `row`: undefined without facts. */
export function webHistoryPage(
  name: DomainName,
  row: WebHistoryRow | undefined,
  before: Instant | null,
  limit: number,
): WebHistory {
  const verdict = row === undefined ? null : unpackVerdict(name, row)
  const lastObserved = lastObservedOf(row)
  if (row === undefined || verdict === null) return { states: [], total: 0, more: false, lastObserved }
  const clock = unpackClocks(row.clock, row.other_clocks)[CLOCK_INDEX.web]!
  const newest = webStateOf({ web: verdict, states: unpackStates(row.states) }, clock)
  if (newest === undefined) return { states: [], total: 0, more: false, lastObserved }
  const { first_seen, count: total } = newest
  const states: WebState[] = []
  if (before === null || first_seen < before)
    states.push({ first_seen, last_seen: lastSeenOfWebState(newest, clock), verdict })
  const older = JSON.parse(row.older) as (StateRow & { records: string })[]
  for (const { first_seen, last_confirmed, records } of older)
    states.push({ first_seen, last_seen: last_confirmed, verdict: decodeVerdict(records) })
  return { states: states.slice(0, limit), total, more: states.length > limit, lastObserved }
}
