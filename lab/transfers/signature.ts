/** Signatures of the lab's transfer server (TSIG, RFC 8945): checks that of a query and signs the answer. */

import { createHmac } from 'node:crypto'

/** `name`: without a final dot. `secret`: bytes. */
export type LabKey = { hash: 'sha256' | 'sha512'; name: string; secret: Buffer }

const FUDGE = 300

export function wire(name: string): Buffer {
  const labels = name.split('.').filter((label) => label !== '')
  return Buffer.concat([
    ...labels.flatMap((label) => [Buffer.from([label.length]), Buffer.from(label, 'latin1')]),
    Buffer.from([0]),
  ])
}

export function number16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

function timesOf(time: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUIntBE(time, 0, 6)
  bytes.writeUInt16BE(FUDGE, 6)
  return bytes
}

const algorithmOf = ({ hash }: LabKey): Buffer => wire(`hmac-${hash}`)

const variablesOf = (key: LabKey, time: number): Buffer =>
  Buffer.concat([wire(key.name), number16(255), Buffer.alloc(4), algorithmOf(key), timesOf(time), Buffer.alloc(4)])

/** Splits a query into itself without its signature, and that signature's bytes; null without one. */
export function splitSigned(message: Buffer): { query: Buffer; record: Buffer | null } {
  if (message.readUInt16BE(10) === 0) return { query: message, record: null }
  let end = 12
  while (message[end] !== 0) end += 1 + message[end]!
  end += 5
  const query = Buffer.from(message.subarray(0, end))
  query.writeUInt16BE(message.readUInt16BE(10) - 1, 10)
  return { query, record: message.subarray(end) }
}

/** Returns the MAC of a signed query if the key made it, or null. The query has no other additional record. */
export function macOfQuery(key: LabKey, query: Buffer, record: Buffer): Buffer | null {
  const start = wire(key.name).length + 10 + algorithmOf(key).length
  if (!record.subarray(0, wire(key.name).length).equals(wire(key.name)) || record.length < start + 10) return null
  const time = record.readUIntBE(start, 6)
  const mac = record.subarray(start + 10, start + 10 + record.readUInt16BE(start + 8))
  const own = createHmac(key.hash, key.secret).update(query).update(variablesOf(key, time)).digest()
  return own.equals(mac) ? Buffer.from(mac) : null
}

/** The state of a signed answer: the last MAC, and the messages that were sent without a signature since then. */
export class AnswerSigner {
  readonly #key: LabKey
  #mac: Buffer
  #unsigned: Buffer[] = []
  #isFirst = true

  constructor(key: LabKey, mac: Buffer) {
    this.#key = key
    this.#mac = mac
  }

  /** Leaves a message unsigned. The next signature covers it. */
  pass(message: Buffer): Buffer {
    this.#unsigned.push(message)
    return message
  }

  /** Returns the signed message. `macBytes` cuts the MAC, `error` reports one. */
  sign(message: Buffer, time: number, { macBytes, error = 0 }: { macBytes?: number; error?: number } = {}): Buffer {
    const hmac = createHmac(this.#key.hash, this.#key.secret)
    hmac.update(number16(this.#mac.length)).update(this.#mac)
    for (const each of this.#unsigned) hmac.update(each)
    hmac.update(message).update(this.#isFirst ? variablesOf(this.#key, time) : timesOf(time))
    this.#mac = hmac.digest()
    this.#unsigned = []
    this.#isFirst = false
    return withRecord(this.#key, message, { time, mac: this.#mac.subarray(0, macBytes ?? this.#mac.length), error })
  }
}

/** Appends a TSIG record. */
export function withRecord(
  key: LabKey,
  message: Buffer,
  { time, mac, error }: { time: number; mac: Buffer; error: number },
): Buffer {
  const data = Buffer.concat([
    ...[algorithmOf(key), timesOf(time), number16(mac.length), mac],
    ...[message.subarray(0, 2), number16(error), number16(0)],
  ])
  const header = Buffer.concat([wire(key.name), number16(250), number16(255), Buffer.alloc(4), number16(data.length)])
  const signed = Buffer.concat([message, header, data])
  signed.writeUInt16BE(signed.readUInt16BE(10) + 1, 10)
  return signed
}
