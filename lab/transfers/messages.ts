/** The messages of a zone transfer as the lab's server sends them, with compressed names. */

import { number16, wire } from './signature.ts'

/** A zone: `delegations` are labels below the apex, each with two name servers. `extra`: further records, as bytes. */
export type LabZone = { serial: number; delegations: Iterable<string>; extra?: readonly Buffer[] }

const RECORDS_PER_MESSAGE = 400
/** Where the zone's name begins in each message: in its question. */
const APEX_POINTER = Buffer.from([0xc0, 12])
const SOA_CODE = 6
const NS_CODE = 2
const TTL = Buffer.from([0, 0, 14, 16])

/** A record of class IN. */
export function recordBytes(owner: Buffer, type: number, data: Buffer): Buffer {
  return Buffer.concat([owner, number16(type), number16(1), TTL, number16(data.length), data])
}

export function soaBytes(owner: Buffer, serial: number): Buffer {
  const numbers = Buffer.alloc(20)
  for (const [index, value] of [serial, 7200, 3600, 1_209_600, 60].entries()) numbers.writeUInt32BE(value, 4 * index)
  return recordBytes(owner, SOA_CODE, Buffer.concat([wire('ns.lab.test'), wire('hostmaster.lab.test'), numbers]))
}

/** A message with some answers to the question of `query`. `code`: the response code. */
export function answerBytes(query: Buffer, answers: readonly Buffer[], code = 0): Buffer {
  const header = Buffer.from(query.subarray(0, 12))
  header.writeUInt16BE(0x8400 | code, 2)
  header.writeUInt16BE(answers.length, 6)
  header.writeUInt16BE(0, 10)
  return Buffer.concat([header, query.subarray(12), ...answers])
}

/** The records of the zone, from SOA to SOA. */
export function* zoneRecords({ serial, delegations, extra = [] }: LabZone): Generator<Buffer> {
  yield soaBytes(APEX_POINTER, serial)
  yield recordBytes(APEX_POINTER, NS_CODE, Buffer.concat([Buffer.from([2]), Buffer.from('ns'), APEX_POINTER]))
  const servers = ['ns1.lab.test', 'ns2.lab.test'].map(wire)
  for (const label of delegations) {
    const owner = Buffer.concat([Buffer.from([label.length]), Buffer.from(label, 'latin1'), APEX_POINTER])
    for (const server of servers) yield recordBytes(owner, NS_CODE, server)
  }
  yield* extra
  yield soaBytes(APEX_POINTER, serial)
}

/** The messages of a whole transfer. */
export function* transferMessages(query: Buffer, records: Iterable<Buffer>): Generator<Buffer> {
  let answers: Buffer[] = []
  for (const record of records) {
    answers.push(record)
    if (answers.length < RECORDS_PER_MESSAGE) continue
    yield answerBytes(query, answers)
    answers = []
  }
  if (answers.length > 0) yield answerBytes(query, answers)
}
