/** The stored text of a record set: JSON of the values without the keys, which follow from the type. */

import type { AnyRecord, RecordsByType, RecordType, TXTRecord } from './dns-record.ts'

/**
 * The keys of a record in the order of its stored values. A record with one key is stored as its value alone.
 * Stores depend on the order: never change it, and add new keys at the end.
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

/** The stored text of a canonical set. Two sets of one type are equal if their texts are equal. */
export function encodeRecords(type: RecordType, records: readonly AnyRecord[]): string {
  if (records.length === 0) return '[]'
  if (type === 'TXT') return JSON.stringify((records as TXTRecord[]).map(({ parts }) => parts))
  const [key, ...others] = VALUE_KEYS[type]
  const values = records as unknown as Record<string, unknown>[]
  if (others.length === 0) return stringsJson(values as Record<string, string>[], key!)
  return JSON.stringify(
    values.map((record) => VALUE_KEYS[type].map((each) => record[each]).filter((value) => value !== undefined)),
  )
}

/** The JSON of one string of each record. Most need no escapes, and JSON.stringify takes 1.5 to 2 times as long. */
function stringsJson(records: readonly Record<string, string>[], key: string): string {
  let json = ''
  for (const record of records) {
    const text = record[key]!
    json += (json === '' ? '[' : ',') + (text.includes('\\') || text.includes('"') ? JSON.stringify(text) : `"${text}"`)
  }
  return `${json}]`
}

/** The inverse of encodeRecords. */
export function decodeRecords<T extends RecordType>(type: T, text: string): RecordsByType[T] {
  const stored = JSON.parse(text) as unknown[]
  return stored.map((values) => decodeRecord(type, values)) as RecordsByType[T]
}

/**
 * The JSON of the records of stored values, without an object for each. `stored`: the array that the stored text is the
 * JSON of.
 */
export function recordsJson(type: RecordType, stored: readonly unknown[]): string {
  let json = '['
  for (const values of stored) json += (json === '[' ? '' : ',') + recordJson(type, values)
  return `${json}]`
}

function recordJson(type: RecordType, values: unknown): string {
  if (type === 'TXT') return txtJson(values as string[])
  const keys = VALUE_KEYS[type]
  if (!Array.isArray(values)) return `{"${keys[0]}":${JSON.stringify(values)}}`
  let json = '{'
  for (let index = 0; index < values.length; index++) {
    const value: unknown = values[index]
    json += `${index === 0 ? '' : ','}"${keys[index]}":${typeof value === 'number' ? value : JSON.stringify(value)}`
  }
  return `${json}}`
}

function txtJson(parts: readonly string[]): string {
  const text = JSON.stringify(parts.length === 1 ? parts[0] : parts.join(''))
  return `{"text":${text},"parts":${parts.length === 1 ? `[${text}]` : JSON.stringify(parts)}}`
}

function decodeRecord(type: RecordType, values: unknown): unknown {
  if (type === 'TXT') return { text: (values as string[]).join(''), parts: values }
  const list = Array.isArray(values) ? values : [values]
  const record: Record<string, unknown> = {}
  for (const [index, value] of list.entries()) record[VALUE_KEYS[type][index]!] = value
  return record
}
