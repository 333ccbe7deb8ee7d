/** The kept text of a record set: JSON of the values alone, without the keys that its type implies. */

import type { AnyRecord, Records, RecordType, TXTRecord } from './record.ts'

/**
 * The keys of a record in the order of its kept values; a record of one key is kept as that value alone. The order never
 * changes, and a new key goes to the end.
 */
const KEYS: Record<Exclude<RecordType, 'TXT'>, readonly string[]> = {
  A: ['ipv4_address'],
  AAAA: ['ipv6_address'],
  MX: ['priority', 'mail_server'],
  NS: ['nameserver'],
  SOA: [
    'primary_nameserver',
    'admin_email',
    'serial',
    'refresh_seconds',
    'retry_seconds',
    'expire_seconds',
    'minimum_ttl_seconds',
  ],
  CNAME: ['target'],
}

/** The kept text of a canonical set; two sets of one type are equal when their texts are. */
export function recordsText(type: RecordType, records: readonly AnyRecord[]): string {
  if (records.length === 0) return '[]'
  if (type === 'TXT') return JSON.stringify((records as TXTRecord[]).map(({ parts }) => parts))
  const [key, ...others] = KEYS[type]
  const values = records as unknown as Record<string, unknown>[]
  if (others.length === 0) return JSON.stringify(values.map((record) => record[key!]))
  return JSON.stringify(
    values.map((record) => KEYS[type].map((each) => record[each]).filter((value) => value !== undefined)),
  )
}

/** The set that a kept text stands for. */
export function recordsOf<T extends RecordType>(type: T, text: string): Records[T] {
  const kept = JSON.parse(text) as unknown[]
  return kept.map((values) => recordOf(type, values)) as Records[T]
}

function recordOf(type: RecordType, values: unknown): unknown {
  if (type === 'TXT') return { text: (values as string[]).join(''), parts: values }
  const list = Array.isArray(values) ? values : [values]
  const record: Record<string, unknown> = {}
  for (const [index, value] of list.entries()) record[KEYS[type][index]!] = value
  return record
}
