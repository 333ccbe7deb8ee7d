/** Reads the messages of a zone transfer (RFC 5936) and writes its SOA and NS records as a master file. */

import { InputError } from '../../import/stream/input-error.ts'
import { CLASS_IN, DNS_TYPE_CODES, HEADER_BYTES } from '../../probe/dns/message/query.ts'
import { DnsMessageReader, MalformedMessage } from '../../probe/dns/message/wire-name.ts'
import { writeEscape } from '../../registrations/zone/tokenizer.ts'
import { readTsig, TSIG_TYPE_CODE, type TsigVerifier, tsigErrorMessage } from './tsig.ts'

const BLOCK_BYTES = 262_144

/** The longest line: two names of an SOA in escaped form, and numbers. */
const MAX_LINE_BYTES = 4_096
const MAX_NAME_BYTES = 255
const MAX_POINTERS = 127
const COMPRESSION_POINTER = 0xc0
const DOT_BYTE = 46
const SPACE_BYTE = 32
const NEWLINE_BYTE = 10

/** The byte in a master file of each byte of a name: letters in lower case; 0 if it needs an escape. */
const PLAIN_BYTES = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte)
  return /[a-zA-Z0-9_-]/.test(character) ? character.toLowerCase().charCodeAt(0) : 0
})

/** Writes the records of a zone as lines of a master file (RFC 1035, section 5.1) into blocks of bytes. */
class ZoneText {
  readonly #onBlock: (block: Buffer) => void
  #block = Buffer.allocUnsafe(BLOCK_BYTES + MAX_LINE_BYTES)
  #length = 0

  /** `onBlock` receives the blocks in their order, and owns them. */
  constructor(onBlock: (block: Buffer) => void) {
    this.#onBlock = onBlock
  }

  get block(): Buffer {
    return this.#block
  }

  /** The position at which the next bytes are written. */
  get length(): number {
    return this.#length
  }

  /** Takes back what was written from a position on. */
  rewind(position: number): void {
    this.#length = position
  }

  text(text: string): void {
    this.#length += this.#block.write(text, this.#length, 'latin1')
  }

  space(): void {
    this.#block[this.#length++] = SPACE_BYTE
  }

  /** Ends a line. The positions before are then invalid. */
  endLine(): void {
    this.#block[this.#length++] = NEWLINE_BYTE
    if (this.#length >= BLOCK_BYTES) this.flush()
  }

  flush(): void {
    if (this.#length === 0) return
    this.#onBlock(this.#block.subarray(0, this.#length))
    this.#block = Buffer.allocUnsafe(BLOCK_BYTES + MAX_LINE_BYTES)
    this.#length = 0
  }

  /**
   * Writes the name at an offset of a message with its final dot, `.` for the root. Returns the offset after the name.
   * Throws MalformedMessage if it is invalid. A pointer must lead to an earlier offset, so every name ends.
   */
  name(message: Uint8Array, offset: number): number {
    const block = this.#block
    let to = this.#length
    let at = offset
    let [end, segment, wire, pointers] = [-1, offset, 1, 0]
    for (;;) {
      const length = message[at++]
      if (length === undefined) throw new MalformedMessage('unexpected end of message')
      if (length === 0) break
      if (length >= COMPRESSION_POINTER) {
        const target = ((length & 0x3f) << 8) | (message[at++] ?? 0)
        if (end < 0) end = at
        if (target >= segment || ++pointers > MAX_POINTERS) throw new MalformedMessage('invalid compression pointer')
        at = segment = target
        continue
      }
      wire += length + 1
      if (length > 63 || wire > MAX_NAME_BYTES || at + length > message.length)
        throw new MalformedMessage('label or name too long')
      for (const last = at + length; at < last; at++) {
        const byte = message[at]!
        const plain = PLAIN_BYTES[byte]!
        if (plain !== 0) block[to++] = plain
        else to = writeEscape(block, to, byte)
      }
      block[to++] = DOT_BYTE
    }
    if (to === this.#length) block[to++] = DOT_BYTE
    this.#length = to
    return end < 0 ? at : end
  }
}

const RCODES: Readonly<Record<number, string>> = {
  1: 'the server does not understand the query (FORMERR)',
  2: 'the server failed (SERVFAIL)',
  3: 'the server says that there is no such zone (NXDOMAIN)',
  4: 'the server does not support zone transfers (NOTIMP)',
  5: 'the server refuses the transfer (REFUSED): it may need a TSIG key, or allow other addresses only',
  9: 'the server does not serve this zone, or not to this key (NOTAUTH)',
}
const NOTAUTH_RCODE = 9
/** A refresh of the next message, then retry, expire and minimum. */
const SOA_NUMBERS = 5
const MAX_FAULT_NAME = 200

/** `id`: of the query. `zone`: in lower case without a final dot. `verifier`: null if the query was not signed. */
type TransferAnswer = { id: number; zone: string; verifier: TsigVerifier | null }

export class TransferReader {
  readonly #answer: TransferAnswer
  readonly #text: ZoneText
  readonly #apex: Buffer
  /** Position in the message after the record that is being read. */
  #at = 0
  #serial: number | null = null
  /** The line of the first SOA. */
  #authorityLine: Buffer = Buffer.alloc(0)
  #isWhole = false
  /** The owner of the last NS record, with its final dot. */
  #lastOwner: Buffer = Buffer.alloc(0)
  /** Delegations so far: distinct owners of NS records in a row, without the apex. */
  names = 0

  /** `onBlock` receives the master file. */
  constructor(answer: TransferAnswer, onBlock: (block: Buffer) => void) {
    this.#answer = answer
    this.#text = new ZoneText(onBlock)
    this.#apex = Buffer.from(`${answer.zone}.`, 'latin1')
  }

  /** The serial of the zone, null before the first record. */
  get serial(): number | null {
    return this.#serial
  }

  /** Whether the closing SOA was read, and its message verified. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  /** Reads the next message. Throws InputError if it does not belong to a transfer of the zone. */
  push(message: Uint8Array): void {
    try {
      const { answers, others } = this.#readHeader(message)
      for (let index = 0; index < answers; index++) this.#record(message)
      const tsigOffset = this.#tsigOffset(message, others) // also without a verifier: nothing may follow the records
      this.#answer.verifier?.verify(message, tsigOffset)
    } catch (error) {
      if (error instanceof MalformedMessage) throw new InputError(`a message is malformed: ${error.message}`)
      throw error
    }
    if (!this.#isWhole) return
    this.#answer.verifier?.end()
    this.#text.flush()
  }

  /** Returns the numbers of records in the answer section, and in the two sections after it. */
  #readHeader(message: Uint8Array): { answers: number; others: OtherCounts } {
    const reader = new DnsMessageReader(message, 0)
    const [id, flags] = [reader.uint16(), reader.uint16()]
    const [questions, answers] = [reader.uint16(), reader.uint16()]
    const others = { authority: reader.uint16(), additional: reader.uint16() }
    if (id !== this.#answer.id || (flags & 0xf800) !== 0x8000)
      throw new InputError('a message is not an answer to the query')
    if (questions > 1 || (flags & 0x0200) !== 0) throw new MalformedMessage('a header that no transfer has')
    this.#at = HEADER_BYTES
    if (questions === 1) {
      reader.skipHost()
      this.#at = reader.offset + 4
    }
    const rcode = flags & 15
    if (rcode === NOTAUTH_RCODE && this.#answer.verifier !== null && answers === 0)
      this.#throwTsigError(message, others)
    if (rcode !== 0) throw new InputError(RCODES[rcode] ?? `the server responds with error ${rcode}`)
    return { answers, others }
  }

  #throwTsigError(message: Uint8Array, others: OtherCounts): void {
    const offset = this.#tsigOffset(message, others)
    const error = offset === null ? 0 : readTsig(message, offset).error
    if (error !== 0) throw new InputError(tsigErrorMessage(error))
  }

  /**
   * Skips the records of the other sections. Returns where a TSIG record begins, which must be the last additional
   * record.
   */
  #tsigOffset(message: Uint8Array, { authority, additional }: OtherCounts): number | null {
    let offset: number | null = null
    const reader = new DnsMessageReader(message, this.#at)
    for (let index = 0; index < authority + additional; index++) {
      if (offset !== null) throw new MalformedMessage('a record follows the signature')
      const start = reader.offset
      reader.skipHost()
      if (reader.uint16() === TSIG_TYPE_CODE) offset = start
      if (offset !== null && index < authority) throw new MalformedMessage('the signature is in the wrong section')
      reader.offset += 6
      reader.take(reader.uint16())
    }
    if (reader.offset !== message.length) throw new MalformedMessage('bytes follow the last record')
    this.#at = reader.offset
    return offset
  }

  /** Reads one record of the answer section, and writes its line if it is an SOA or NS. */
  #record(message: Uint8Array): void {
    if (this.#isWhole) throw new InputError('records follow the closing SOA')
    const text = this.#text
    const start = text.length
    const at = text.name(message, this.#at)
    const ownerEnd = text.length
    if (at + 10 > message.length) throw new MalformedMessage('unexpected end of message')
    const type = (message[at]! << 8) | message[at + 1]!
    const isInternet = ((message[at + 2]! << 8) | message[at + 3]!) === CLASS_IN
    const end = at + 10 + ((message[at + 8]! << 8) | message[at + 9]!)
    if (end > message.length) throw new MalformedMessage('unexpected end of message')
    this.#requireInZone(start, ownerEnd)
    const isSoa = type === DNS_TYPE_CODES.SOA && isInternet
    if (this.#serial === null && !isSoa) throw new InputError('the first record is not the SOA of the zone')
    if (isSoa) this.#authority(message, at + 10, { start, ownerEnd, end })
    else if (type === DNS_TYPE_CODES.NS && isInternet) this.#delegation(message, at + 10, { start, ownerEnd, end })
    else text.rewind(start)
    this.#at = end
  }

  /** Throws InputError unless the owner is the apex or a name below it. */
  #requireInZone(start: number, end: number): void {
    const apex = this.#apex
    const block = this.#text.block
    const from = end - apex.length
    let isInZone = from === start || (from > start && block[from - 1] === 46)
    for (let at = 0; at < apex.length && isInZone; at++) isInZone = block[from + at] === apex[at]
    if (!isInZone)
      throw new InputError(
        this.#serial === null
          ? `the server sends the zone ${this.#ownerText(start, end)} instead`
          : `a record of ${this.#ownerText(start, end)} does not belong to the zone`,
      )
  }

  #ownerText(start: number, end: number): string {
    return this.#text.block.toString('latin1', start, Math.min(end, start + MAX_FAULT_NAME))
  }

  #delegation(message: Uint8Array, at: number, { start, ownerEnd, end }: WrittenOwner): void {
    const text = this.#text
    const owner = text.block.subarray(start, ownerEnd)
    if (!owner.equals(this.#lastOwner)) {
      this.#lastOwner = Buffer.from(owner)
      if (owner.length > this.#apex.length) this.names++
    }
    text.text(' NS ')
    if (text.name(message, at) !== end) throw new MalformedMessage('record length does not match its content')
    text.endLine()
  }

  /** The first SOA opens the transfer, and an equal one closes it. */
  #authority(message: Uint8Array, at: number, { start, ownerEnd, end }: WrittenOwner): void {
    const text = this.#text
    if (ownerEnd - start !== this.#apex.length)
      throw new InputError(
        this.#serial === null
          ? `the server sends the zone ${this.#ownerText(start, ownerEnd)} instead`
          : `there is an SOA of ${this.#ownerText(start, ownerEnd)} in the zone`,
      )
    text.text(' SOA ')
    const second = text.name(message, at)
    text.space()
    const numbers = new DnsMessageReader(message, text.name(message, second))
    const values = Array.from({ length: SOA_NUMBERS }, () => numbers.uint32())
    if (numbers.offset !== end) throw new MalformedMessage('record length does not match its content')
    text.text(` ${values.join(' ')}`)
    const line = text.block.subarray(start, text.length)
    if (this.#serial === null) {
      this.#serial = values[0]!
      this.#authorityLine = Buffer.from(line)
      text.endLine()
      return
    }
    if (!line.equals(this.#authorityLine)) throw new InputError('the zone changed during the transfer: try again')
    text.rewind(start)
    this.#isWhole = true
  }
}

/** The numbers of records in the authority and the additional section. */
type OtherCounts = { authority: number; additional: number }
/** Where an owner was written, and where its record ends in the message. */
type WrittenOwner = { start: number; ownerEnd: number; end: number }
