/** Records as text, and what changed between two states of a record type. */

import type { DnsRecord, HistoryState, RecordType } from '../data/responses.ts'

/** A record on one line. */
export function recordText(type: RecordType, record: DnsRecord): string {
  switch (type) {
    case 'A':
      return String(record.ipv4_address)
    case 'AAAA':
      return String(record.ipv6_address)
    case 'NS':
      return String(record.nameserver)
    case 'CNAME':
      return String(record.target)
    case 'MX':
      return `${record.priority} ${record.mail_server}`
    case 'TXT':
      return String(record.text)
    case 'SOA':
      return `${record.primary_nameserver} ${record.admin_email} serial ${record.serial}`
  }
}

/** A state with what came and what went since the state before it. `until` null: it is the current one. */
export type Span = {
  type: RecordType
  since: string
  until: string | null
  records: string[]
  came: string[]
  went: string[]
  /** Whether the state before it is known, so that `came` and `went` are complete. */
  hasPrevious: boolean
}

/** The spans of a type, newest first, as its states are. `isComplete`: the last state is the first one ever seen. */
export function spansOf(type: RecordType, states: readonly HistoryState[], isComplete: boolean): Span[] {
  return states.map((state, index) => {
    const records = state.records.map((record) => recordText(type, record))
    const previous = states[index + 1]
    const before = (previous?.records ?? []).map((record) => recordText(type, record))
    return {
      type,
      since: state.first_seen,
      until: states[index - 1]?.first_seen ?? null,
      records,
      came: records.filter((each) => !before.includes(each)),
      went: before.filter((each) => !records.includes(each)),
      hasPrevious: previous !== undefined || isComplete,
    }
  })
}
