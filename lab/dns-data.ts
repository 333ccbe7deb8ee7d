/** Encodes the lab's records (RFC 1035, section 3.3), and checks that a table can be encoded. */

import { encodeHost } from '../src/probe/dns/message/wire-name.ts'
import { addressFamily, packAddress, parseAddress } from '../src/values/ip-address.ts'
import { RECORD_TYPES, type RecordType } from '../src/values/records/dns-record.ts'
import { parseHostName } from '../src/values/records/host-name.ts'
import type { DnsRecord, DnsTable, DnsTypeAnswer } from './dns-table.ts'

const PART_BYTES = 255

const DATA: { [T in RecordType]: (record: DnsRecord[T]) => Buffer } = {
  A: (address) => addressData(address, 4),
  AAAA: (address) => addressData(address, 6),
  MX: ({ priority, mail_server }) =>
    Buffer.concat([Buffer.from([priority >> 8, priority & 255]), hostData(mail_server)]),
  TXT: (parts) => Buffer.concat(parts.map(partData)),
  NS: hostData,
  SOA: (record) => {
    const { serial, refresh_seconds, retry_seconds, expire_seconds, minimum_ttl_seconds } = record
    const numbers = Buffer.alloc(20)
    const values = [serial, refresh_seconds, retry_seconds, expire_seconds, minimum_ttl_seconds]
    for (const [index, value] of values.entries()) numbers.writeUInt32BE(value, 4 * index)
    return Buffer.concat([hostData(record.primary_nameserver), hostData(record.mailbox), numbers])
  },
  CNAME: hostData,
}

/** Returns the data of one record. Throws if the record is invalid. */
export function recordData<T extends RecordType>(type: T, record: DnsRecord[T]): Buffer {
  return DATA[type](record)
}

/** Throws if a host is not canonical or has escapes, or if a record cannot be encoded. */
export function checkTable(table: DnsTable): void {
  for (const [host, row] of Object.entries(table)) {
    if (parseHostName(host) !== host || host.includes('\\')) throw new Error(`not a host of the lab: ${host}`)
    if (typeof row !== 'string') for (const type of RECORD_TYPES) checkAnswer(type, row[type] as TypeAnswer)
  }
}

type TypeAnswer = DnsTypeAnswer<DnsRecord[RecordType]> | undefined

function checkAnswer(type: RecordType, answer: TypeAnswer): void {
  if (answer === undefined || typeof answer === 'string') return
  const lists = 'rotation' in answer ? answer.rotation : [answer]
  for (const record of lists.flat()) recordData(type, record as never)
}

function addressData(text: string, expected: 4 | 6): Buffer {
  const address = parseAddress(text)
  if (address === null || addressFamily(address) !== expected)
    throw new Error(`not an address of IPv${expected}: ${text}`)
  return Buffer.from(packAddress(address).subarray(1))
}

function hostData(host: string): Buffer {
  const bytes = Buffer.alloc(256)
  const length = encodeHost(host, bytes, 0)
  if (length < 0) throw new Error(`not a host: ${host}`)
  return bytes.subarray(0, length)
}

function partData(part: string | Uint8Array): Buffer {
  const bytes = Buffer.from(part as string)
  if (bytes.length > PART_BYTES) throw new Error(`a text of more than ${PART_BYTES} bytes`)
  return Buffer.concat([Buffer.from([bytes.length]), bytes])
}
