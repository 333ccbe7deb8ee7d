/** Collects the events of a batch of names in any order, and packs them into the blocks of one sorted run. */

import { type IpAddress, packAddress } from '../../values/ip-address.ts'
import type { RecordType } from '../../values/records/dns-record.ts'
import { isFurtherType, type StateType } from '../../values/state-type.ts'
import { type Block, BlockWriter, MAX_KEY_BYTES, startEvent } from './block.ts'
import { ByteTexts, numbersTo } from './byte-texts.ts'
import { eventsOfChange, type SetChange, valueKeysOfSet } from './record-events.ts'
import { Rotations } from './rotation.ts'
import {
  HOST_KIND_CODE,
  hostOfValueKey,
  KEY_KIND,
  LABEL_END_CODE,
  MAX_PLAIN_TEXT_BYTES,
  nameSetKey,
  namesHost,
  TYPE_CODES,
  textKey,
} from './value-key.ts'

const INITIAL_EVENTS = 2 ** 10
const [ZERO, NINE, QUOTE, COMMA, DOT, AT] = [48, 57, 34, 44, 46, 64]
/** The number of the name of a set's key, which is empty. */
const NO_NAME = 0
/** A mail address of at most this many characters is a host name, if its labels are not too long. */
const MAX_PLAIN_EMAIL = 63

/**
 * One collector serves one batch after another, because new buffers for each would make the garbage collector run often.
 * Most events have a value or a name in common, so that values and names are sorted once each, and the events by their
 * numbers. That takes a tenth of the time of sorting a text for each event. The keys of a known name, and the values of
 * a set of records without escapes, are written from their texts directly, for the same reason.
 */
export class EventCollector {
  readonly #values = new ByteTexts()
  readonly #names = new ByteTexts()
  /** The hosts of values, as the keys of the set of known hosts. */
  readonly #hosts = new ByteTexts()
  readonly #writer = new BlockWriter()
  readonly #key = new Uint8Array(2 * MAX_KEY_BYTES)
  readonly #rotations = new Rotations()
  /** The last labels of the names that were added. */
  readonly #lastLabels = new Set<string>()
  #name = ''
  #nameNumber = this.#names.add()
  /** For each event the numbers of its value and its name, and the event; 0 in a set of names. */
  #valueOf = new Uint32Array(INITIAL_EVENTS)
  #nameOf = new Uint32Array(INITIAL_EVENTS)
  #events = new Float64Array(INITIAL_EVENTS)
  #count = 0

  /** The number of events. */
  get count(): number {
    return this.#count
  }

  /** Adds an event of the key that consists of `value` and `name`. */
  add(value: string, name: string, event: number): void {
    this.#setName(name)
    this.#values.text(value)
    if (!this.#pushValue(event) || !namesHost(value)) return
    this.#hosts.text(nameSetKey('knownHost', hostOfValueKey(value)))
    this.#hosts.number()
  }

  /** Adds the key of a set of names. It must be added once. */
  addToSet(key: string): void {
    this.#values.text(key)
    this.#pushSetKey()
  }

  /** Adds a name to the sets of known names, and its last label to that of last labels. It must be added once. */
  addName(name: string): void {
    this.#values.text(KEY_KIND.reversedName)
    this.#addLabels(name, 0, name.length)
    this.#pushSetKey()
    this.#values.text(KEY_KIND.forwardName)
    writeForwardLabels(this.#values, name, 0, name.length)
    this.#pushSetKey()
    const lastDot = name.lastIndexOf('.')
    this.#rotations.begin(name)
    for (let at = 1; at < lastDot; at++) this.#pushRotation(KEY_KIND.rotatedName, at)
    const lastLabel = name.slice(lastDot)
    if (this.#lastLabels.has(lastLabel)) return
    this.#lastLabels.add(lastLabel)
    this.#rotations.begin(lastLabel)
    for (let at = 0; at < lastLabel.length; at++) this.#pushRotation(KEY_KIND.lastLabel, at)
  }

  /** Adds the events of a change of a set of records. */
  addChange(name: string, change: SetChange): void {
    const { type, before = '[]', after, at } = change
    if (before === '[]') {
      this.#addSet(name, type, after, startEvent(at))
      return
    }
    const { keys, events } = eventsOfChange(change)
    for (const [index, key] of keys.entries()) this.add(key, name, events[index]!)
  }

  /** The blocks of all events, sorted, each event once. The collector is empty afterwards. */
  pack(): Block[] {
    const blocks = this.#pack()
    for (const texts of [this.#values, this.#names, this.#hosts]) texts.clear()
    this.#lastLabels.clear()
    this.#name = ''
    this.#nameNumber = this.#names.add()
    this.#count = 0
    return blocks
  }

  #pack(): Block[] {
    const key = this.#key
    for (let host = 0; host < this.#hosts.count; host++) {
      const length = this.#hosts.copy(host, key, 0)
      for (let at = 0; at < length; at++) this.#values.byte(key[at]!)
      this.#pushSetKey()
    }
    const byName = sortedBy(numbersTo(this.#count), this.#nameOf, this.#names.ranks())
    const order = sortedBy(byName, this.#valueOf, this.#values.ranks())
    const writer = this.#writer
    let value = -1
    let valueEnd = 0
    for (let from = 0; from < order.length; ) {
      const first = order[from]!
      const shared = this.#valueOf[first] === value ? valueEnd : 0
      if (shared === 0) {
        value = this.#valueOf[first]!
        valueEnd = this.#values.copy(value, key, 0)
      }
      const name = this.#nameOf[first]!
      let to = from + 1
      while (to < order.length && this.#valueOf[order[to]!] === value && this.#nameOf[order[to]!] === name) to++
      const events = to - from === 1 ? [this.#events[first]!] : this.#sortedEvents(order.subarray(from, to))
      const length = this.#names.copy(name, key, valueEnd)
      writer.add(key, length, events, events[0] === 0 ? 0 : events.length, shared)
      from = to
    }
    return writer.take(true)
  }

  /** Adds an event of each value of a stored set of records. */
  #addSet(name: string, type: StateType, text: string, event: number): void {
    if (text === '[]') return
    this.#setName(name)
    if (isFurtherType(type)) {
      for (const key of valueKeysOfSet(type, text)) this.add(key, name, event)
      return
    }
    const isPlain = !text.includes('\\') && (type !== 'TXT' || isAscii(text))
    if (!isPlain) for (const key of valueKeysOfSet(type, text)) this.add(key, name, event)
    else if (type === 'A') this.#addIpv4Addresses(text, event)
    else if (type === 'AAAA') this.#addIpv6Addresses(text, event)
    else if (type === 'SOA') this.#addSoa(name, text, event)
    else if (type === 'TXT') this.#addTexts(name, text, event)
    else this.#addHosts(type, text, event)
  }

  /** Of a text such as `["192.0.2.1","192.0.2.2"]`. */
  #addIpv4Addresses(text: string, event: number): void {
    for (let at = 2; at < text.length; at += 3) {
      this.#values.byte(4)
      let byte = 0
      let code = text.charCodeAt(at)
      for (; code !== QUOTE; code = text.charCodeAt(++at)) {
        if (code !== DOT) byte = 10 * byte + code - ZERO
        else {
          this.#values.byte(byte)
          byte = 0
        }
      }
      this.#values.byte(byte)
      this.#pushValue(event)
    }
  }

  /** Of a text such as `["2001:db8::1","2001:db8::2"]`. */
  #addIpv6Addresses(text: string, event: number): void {
    for (let at = 2; at < text.length; ) {
      const end = text.indexOf('"', at)
      for (const byte of packAddress(text.slice(at, end) as IpAddress)) this.#values.byte(byte)
      this.#pushValue(event)
      at = end + 3
    }
  }

  /** Of a text such as `["ns1.example","ns2.example"]` or `[[10,"mx.example"]]`. */
  #addHosts(type: RecordType, text: string, event: number): void {
    let priority = 0
    for (let at = 1; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code >= ZERO && code <= NINE) priority = 10 * priority + code - ZERO
      if (code !== QUOTE) continue
      const end = text.indexOf('"', at + 1)
      this.#beginHost()
      this.#addLabels(text, at + 1, end)
      this.#endHost(type)
      if (type === 'MX') {
        this.#values.byte(priority >> 8)
        this.#values.byte(priority & 255)
      }
      if (this.#pushValue(event)) this.#addKnownHost(text, at + 1, end)
      priority = 0
      at = end
    }
  }

  /** Of a text such as `[["ns1.example","hostmaster@example",1,7200,3600,1209600,3600]]`. */
  #addSoa(name: string, text: string, event: number): void {
    const [server, email] = [3, text.indexOf('"', 3) + 3]
    const emailEnd = text.indexOf('"', email)
    const at = plainMailboxEnd(text, email, emailEnd)
    if (at < 0 || text.indexOf('"', emailEnd + 1) >= 0) {
      for (const key of valueKeysOfSet('SOA', text)) this.add(key, name, event)
      return
    }
    this.#beginHost()
    this.#addLabels(text, server, email - 3)
    this.#endHost('SOA')
    this.#values.byte(0)
    if (this.#pushValue(event)) this.#addKnownHost(text, server, email - 3)
    this.#beginHost()
    this.#addLabels(text, at + 1, emailEnd)
    this.#values.text(text, email, at)
    this.#values.byte(LABEL_END_CODE)
    this.#endHost('SOA')
    this.#values.byte(1)
    if (this.#pushValue(event)) this.#addKnownHost(text, email, emailEnd, at)
  }

  /** Of a text such as `[["v=spf1 -all"],["part one","part two"]]`. */
  #addTexts(name: string, text: string, event: number): void {
    for (let from = 1; from < text.length - 1; ) {
      let to = from
      do to = text.indexOf('"', text.indexOf('"', to + 1) + 1) + 1
      while (text.charCodeAt(to) === COMMA)
      to++
      if (to - from <= MAX_PLAIN_TEXT_BYTES) {
        this.#values.text(KEY_KIND.text)
        this.#values.byte(to - from)
        this.#values.text(text, from, to)
        this.#pushValue(event)
      } else this.add(textKey(JSON.parse(text.slice(from, to))), name, event)
      from = to + 1
    }
  }

  #pushRotation(kind: string, at: number): void {
    this.#values.text(kind)
    const count = this.#rotations.groupsAt(at)
    for (let index = 0; index < count; index++) {
      const group = this.#rotations.groups[index]!
      this.#values.byte(group >> 8)
      this.#values.byte(group & 255)
    }
    this.#pushSetKey()
  }

  /** Adds an event of the value that was written. Returns whether it is the first one of that value. */
  #pushValue(event: number): boolean {
    const known = this.#values.count
    this.#push(this.#values.number(), this.#nameNumber, event)
    return this.#values.count > known
  }

  /** Adds the key of a set of names that was written. */
  #pushSetKey(): void {
    this.#push(this.#values.add(), NO_NAME, 0)
  }

  #beginHost(): void {
    this.#values.byte(HOST_KIND_CODE)
  }

  /** Writes the labels between two places in reverse order, none for the root. */
  #addLabels(text: string, from: number, to: number): void {
    let end = to
    for (let at = to - 1; at >= from - 1; at--) {
      if (at >= from && text.charCodeAt(at) !== DOT) continue
      if (end > at + 1) {
        this.#values.text(text, at + 1, end)
        this.#values.byte(LABEL_END_CODE)
      }
      end = at
    }
  }

  #endHost(type: RecordType): void {
    this.#values.byte(0)
    this.#values.text(TYPE_CODES[type])
  }

  /** `atSign`: the place of the at-sign of a mail address, which separates labels too. */
  #addKnownHost(text: string, from: number, to: number, atSign = -1): void {
    this.#hosts.text(KEY_KIND.knownHost)
    writeForwardLabels(this.#hosts, text, from, to, atSign)
    this.#hosts.number()
  }

  #setName(name: string): void {
    if (name === this.#name) return
    this.#name = name
    this.#names.text(name)
    this.#nameNumber = this.#names.number()
  }

  #push(value: number, name: number, event: number): void {
    if (this.#count === this.#events.length) this.#grow()
    this.#valueOf[this.#count] = value
    this.#nameOf[this.#count] = name
    this.#events[this.#count++] = event
  }

  #grow(): void {
    const [values, names, events] = [this.#valueOf, this.#nameOf, this.#events]
    this.#valueOf = new Uint32Array(2 * this.#count)
    this.#nameOf = new Uint32Array(2 * this.#count)
    this.#events = new Float64Array(2 * this.#count)
    this.#valueOf.set(values)
    this.#nameOf.set(names)
    this.#events.set(events)
  }

  #sortedEvents(same: Uint32Array): number[] {
    return [...new Set(Array.from(same, (index) => this.#events[index]!))].sort((a, b) => a - b)
  }
}

/** Writes the labels of a host between two places in their order, none for the root. `atSign`: a place that separates too. */
function writeForwardLabels(texts: ByteTexts, text: string, from: number, to: number, atSign = -1): void {
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at)
    texts.byte(code === DOT || at === atSign ? LABEL_END_CODE : code)
  }
  if (to > from + 1 || text.charCodeAt(from) !== DOT) texts.byte(LABEL_END_CODE)
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 126) return false
  return true
}

/** A stable counting sort of indexes by the rank of their number. */
function sortedBy(indexes: Uint32Array, numberOf: Uint32Array, ranks: Uint32Array): Uint32Array {
  const ends = new Uint32Array(ranks.length + 1)
  for (const index of indexes) ends[ranks[numberOf[index]!]! + 1]!++
  for (let rank = 0; rank < ranks.length; rank++) ends[rank + 1]! += ends[rank]!
  const sorted = new Uint32Array(indexes.length)
  for (const index of indexes) sorted[ends[ranks[numberOf[index]!]!]!++] = index
  return sorted
}

/**
 * Where the at-sign is in a mail address whose mailbox is one label of letters, digits, `-` and `_`, in a host of such
 * labels that is short enough for a host name in any case; -1 for any other address.
 */
function plainMailboxEnd(text: string, from: number, to: number): number {
  if (to - from > MAX_PLAIN_EMAIL) return -1
  let at = -1
  let before = DOT
  for (let index = from; index < to; index++) {
    const code = text.charCodeAt(index)
    const isSeparator = code === DOT || code === AT
    if (isSeparator && (before === DOT || before === AT || at < 0 !== (code === AT))) return -1
    if (code === AT) at = index
    if (!isSeparator && !(code >= 97 && code <= 122) && !(code >= ZERO && code <= NINE) && code !== 45 && code !== 95)
      return -1
    before = code
  }
  return before === DOT || before === AT ? -1 : at
}
