/** The kept text of a record set: JSON of the values alone, without the keys that its type implies. */

import type { AnyRecord, RecordsByType, RecordType, TXTRecord } from './dns-record.ts'

/**
 * The keys of a record in the order of its kept values; a record of one key is kept as that value alone. The order never
 * changes, and a new key goes to the end.
 */
const VALUE_KEYS: Record<Exclude<RecordType, 'TXT'>, readonly string[]> = {
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
export function encodeRecords(type: RecordType, records: readonly AnyRecord[]): string {
  if (records.length === 0) return '[]'
  if (type === 'TXT') return JSON.stringify((records as TXTRecord[]).map(({ parts }) => parts))
  const [key, ...others] = VALUE_KEYS[type]
  const values = records as unknown as Record<string, unknown>[]
  if (others.length === 0) return JSON.stringify(values.map((record) => record[key!]))
  return JSON.stringify(
    values.map((record) => VALUE_KEYS[type].map((each) => record[each]).filter((value) => value !== undefined)),
  )
}

/** The set that a kept text stands for. */
export function decodeRecords<T extends RecordType>(type: T, text: string): RecordsByType[T] {
  const kept = JSON.parse(text) as unknown[]
  return kept.map((values) => decodeRecord(type, values)) as RecordsByType[T]
}

function decodeRecord(type: RecordType, values: unknown): unknown {
  if (type === 'TXT') return { text: (values as string[]).join(''), parts: values }
  const list = Array.isArray(values) ? values : [values]
  const record: Record<string, unknown> = {}
  for (const [index, value] of list.entries()) record[VALUE_KEYS[type][index]!] = value
  return record
}
