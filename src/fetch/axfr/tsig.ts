/** Transaction signatures of DNS messages (TSIG, RFC 8945): signs a query and verifies the messages of its answer. */

import { createHmac, type Hmac, timingSafeEqual } from 'node:crypto'
import { InputError } from '../../import/stream/input-error.ts'
import { CLASS_IN, HEADER_BYTES } from '../../probe/dns/message/query.ts'
import { DnsMessageReader, encodeHost, MalformedMessage } from '../../probe/dns/message/wire-name.ts'
import type { Instant } from '../../values/time.ts'

/** `name`: in lower case without a final dot. */
export type TsigKey = { algorithm: TsigAlgorithm; name: string; secret: Buffer }
type TsigAlgorithm = keyof typeof HASHES

/** The algorithms that RFC 8945 (section 6) requires or recommends, except SHA-1. */
const HASHES = { 'hmac-sha256': 'sha256', 'hmac-sha384': 'sha384', 'hmac-sha512': 'sha512' } as const
export const TSIG_TYPE_CODE = 250
const CLASS_ANY = 255
/** Seconds by which the clocks may differ (RFC 8945, section 10). */
const FUDGE_SECONDS = 300
/** An answer has at least one signature in this many messages (RFC 8945, section 5.3.1). */
const MAX_UNSIGNED_MESSAGES = 99
const ERRORS: Readonly<Record<number, string>> = {
  16: 'the signature is wrong (BADSIG): check the secret',
  17: 'it does not know the key (BADKEY): check its name and algorithm',
  18: 'its clock differs from the clock of this machine by more than five minutes (BADTIME)',
  22: 'it refuses the length of the signature (BADTRUNC)',
}

/** Parses `ALGORITHM:NAME:BASE64`. Throws InputError, whose message does not contain the secret. */
export function parseTsigKey(text: string): TsigKey {
  const [algorithm = '', name = '', secret = '', ...rest] = text.trim().split(':')
  const form = 'a TSIG key has the form ALGORITHM:NAME:BASE64'
  if (rest.length > 0 || secret === '') throw new InputError(form)
  const lower = algorithm.toLowerCase()
  if (!Object.hasOwn(HASHES, lower))
    throw new InputError(`${form}, and ALGORITHM is one of ${Object.keys(HASHES).join(', ')}`)
  if (!/^[a-z\d+/]+={0,2}$/i.test(secret) || secret.length % 4 !== 0)
    throw new InputError(`${form}, and its third part is not base64`)
  const keyName = name.toLowerCase().replace(/\.$/, '')
  if (wireName(keyName) === null) throw new InputError(`${form}, and its second part is not a name`)
  return { algorithm: lower as TsigAlgorithm, name: keyName, secret: Buffer.from(secret, 'base64') }
}

/** Returns the query with its signature, and the signature, which the answer continues. */
export function signQuery(query: Buffer, key: TsigKey, now: Instant): { message: Buffer; mac: Buffer } {
  const variables = tsigVariables(key, { time: now, fudge: FUDGE_SECONDS, error: 0, other: Buffer.alloc(0) })
  const mac = newHmac(key).update(query).update(variables).digest()
  const data = Buffer.concat([
    wireName(key.algorithm)!,
    timers(now, FUDGE_SECONDS),
    uint16(mac.length),
    mac,
    query.subarray(0, 2),
    uint16(0),
    uint16(0),
  ])
  const record = [wireName(key.name)!, uint16(TSIG_TYPE_CODE), uint16(CLASS_ANY), Buffer.alloc(4), uint16(data.length)]
  const message = Buffer.concat([query, ...record, data])
  message.writeUInt16BE(query.readUInt16BE(10) + 1, 10)
  return { message, mac }
}

/** The fields of a signature that it covers. */
type TsigFields = { time: number; fudge: number; error: number; other: Uint8Array }
type TsigRecord = TsigFields & { keyName: string; algorithm: string; mac: Uint8Array; originalId: number }

/** Verifies the messages of one answer in their order. Throws InputError if a signature is wrong or missing. */
export class TsigVerifier {
  readonly #key: TsigKey
  readonly #now: () => Instant
  /** Covers the previous signature, and the messages since then. */
  #hmac: Hmac
  #unsigned = 0
  #isFirst = true

  constructor(key: TsigKey, requestMac: Uint8Array, now: () => Instant) {
    this.#key = key
    this.#now = now
    this.#hmac = continuedHmac(key, requestMac)
  }

  /** `tsigOffset`: where the TSIG record of the message begins, or null if it has none. It must be the last record. */
  verify(message: Uint8Array, tsigOffset: number | null): void {
    if (tsigOffset === null) {
      if (this.#isFirst) throw new InputError('the server does not sign its answer, although the query was signed')
      if (++this.#unsigned > MAX_UNSIGNED_MESSAGES)
        throw new InputError(`${this.#unsigned} messages in a row are not signed`)
      this.#hmac.update(message)
      return
    }
    const record = readTsig(message, tsigOffset)
    if (record.error !== 0) throw new InputError(tsigErrorMessage(record.error))
    if (record.keyName !== this.#key.name || record.algorithm !== this.#key.algorithm)
      throw new InputError('the server signs with another key than that of the query')
    this.#requireMac(message, tsigOffset, record)
    if (Math.abs(this.#now() - record.time) > record.fudge)
      throw new InputError('a signature is older or newer than it may be: check the clock of this machine')
    this.#hmac = continuedHmac(this.#key, record.mac)
    this.#unsigned = 0
    this.#isFirst = false
  }

  /** Throws InputError unless the last message was signed. */
  end(): void {
    if (this.#unsigned > 0) throw new InputError('the last message is not signed')
  }

  #requireMac(message: Uint8Array, tsigOffset: number, record: TsigRecord): void {
    const header = Buffer.from(message.subarray(0, HEADER_BYTES))
    header.writeUInt16BE(record.originalId, 0)
    header.writeUInt16BE(header.readUInt16BE(10) - 1, 10)
    const covered = this.#isFirst ? tsigVariables(this.#key, record) : timers(record.time, record.fudge)
    const mac = this.#hmac.update(header).update(message.subarray(HEADER_BYTES, tsigOffset)).update(covered).digest()
    if (record.mac.length < mac.length) throw new InputError('a signature is truncated, which is not accepted')
    if (record.mac.length !== mac.length || !timingSafeEqual(record.mac, mac))
      throw new InputError('a signature is wrong: the key is another one, or the messages were changed on their way')
  }
}

/** What an error number of a TSIG record means. */
export function tsigErrorMessage(error: number): string {
  return `the server rejects the signature: ${ERRORS[error] ?? `error ${error}`}`
}

/** Reads the TSIG record at an offset. Throws MalformedMessage if it is cut off, InputError if more follows. */
export function readTsig(message: Uint8Array, offset: number): TsigRecord {
  const reader = new DnsMessageReader(message, offset)
  const keyName = reader.host()
  reader.offset += 2 // its type
  // the signature covers these values, not the bytes here (RFC 8945, sections 4.2 and 4.3.3)
  if (reader.uint16() !== CLASS_ANY || reader.uint32() !== 0)
    throw new MalformedMessage('the signature has another class or TTL than it may have')
  reader.offset += 2 // its length
  const algorithm = reader.host()
  const time = reader.uint16() * 2 ** 32 + reader.uint32()
  const fudge = reader.uint16()
  const mac = reader.take(reader.uint16())
  const originalId = reader.uint16()
  const error = reader.uint16()
  const other = reader.take(reader.uint16())
  if (reader.offset !== message.length) throw new InputError('a signature is not the last record of its message')
  return { keyName, algorithm, time, fudge, mac, originalId, error, other }
}

function newHmac({ algorithm, secret }: TsigKey): Hmac {
  return createHmac(HASHES[algorithm], secret)
}

function continuedHmac(key: TsigKey, mac: Uint8Array): Hmac {
  return newHmac(key).update(uint16(mac.length)).update(mac)
}

/** The variables that a signature covers beside the message (RFC 8945, section 4.3.3). */
function tsigVariables(key: TsigKey, { time, fudge, error, other }: TsigFields): Buffer {
  const start = [wireName(key.name)!, uint16(CLASS_ANY), Buffer.alloc(4), wireName(key.algorithm)!]
  return Buffer.concat([...start, timers(time, fudge), uint16(error), uint16(other.length), other])
}

function timers(time: number, fudge: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUIntBE(time, 0, 6)
  bytes.writeUInt16BE(fudge, 6)
  return bytes
}

function uint16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 255])
}

/** Returns null if the text is not a host name. */
function wireName(name: string): Buffer | null {
  const bytes = Buffer.alloc(256)
  const length = encodeHost(name, bytes, 0)
  return length < 0 ? null : bytes.subarray(0, length)
}

/** A query for one type of a zone, without recursion (RFC 5936, section 2.1). */
export function transferQuery(zone: string, typeCode: number, id: number): Buffer {
  const header = Buffer.from([id >> 8, id & 255, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0])
  return Buffer.concat([header, wireName(zone)!, uint16(typeCode), uint16(CLASS_IN)])
}
