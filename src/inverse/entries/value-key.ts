/**
 * The keys of the inverse index: what a record says, as bytes that sort in the order of the index. A key is a text of
 * one character per byte, because texts are cheaper to build, compare and sort than buffers.
 *
 *     value key = kind, data, and for a host: 0, type, detail
 *
 * A host is stored with its labels reversed, each followed by 1, so that all hosts below a name are one range of keys.
 */

import { hash } from 'node:crypto'
import type { Certificate } from '../../values/certificate/certificate.ts'
import { fingerprintOfValue } from '../../values/certificate/presented.ts'
import { type IpAddress, packAddress, unpackAddress } from '../../values/ip-address.ts'
import type { RecordType } from '../../values/records/dns-record.ts'
import { parseHostName } from '../../values/records/host-name.ts'
import { mailboxName } from '../../values/records/presentation.ts'
import type { FurtherStateType } from '../../values/state-type.ts'
import { finalHostOf, verdictOfValues } from '../../values/web-verdict.ts'
import { Rotations, unpackRotation } from './rotation.ts'

/**
 * The first byte of a key. Those of addresses are the first bytes of `packAddress`. The kinds from `namedHost` on are sets
 * without times: names of certificates, hosts in the order of their labels, known names in both orders and rotated, and
 * the rotated last labels of known names. Never change a value: stores contain it. Schemas 12 of SQLite and 14 of
 * PostgreSQL used 'n'.
 */
export const KEY_KIND = {
  ipv4: '\x04',
  ipv6: '\x06',
  host: 'h',
  text: 't',
  redirect: 'r',
  certificate: 'c',
  namedHost: 'm',
  knownHost: 'k',
  reversedName: 'o',
  forwardName: 's',
  rotatedName: 'p',
  lastLabel: 'l',
} as const

export const HOST_KIND_CODE = KEY_KIND.host.charCodeAt(0)

/** The type codes of the IANA registry of DNS parameters (RFC 1035, section 3.2.2; RFC 3596), as one character. */
export const TYPE_CODES: Readonly<Record<RecordType, string>> = {
  A: '\x01',
  NS: '\x02',
  CNAME: '\x05',
  SOA: '\x06',
  MX: '\x0f',
  TXT: '\x10',
  AAAA: '\x1c',
}
const TYPE_OF_CODE = new Map(Object.entries(TYPE_CODES).map(([type, code]) => [code, type as RecordType]))

/** The host of an SOA that a key is about. */
export const SOA_ROLES = { '\x00': 'primary_nameserver', '\x01': 'admin_email' } as const

/** Ends each label of a host. No byte of a label is lower (`values/records/host-name.ts`). */
export const LABEL_END = '\x01'
export const LABEL_END_CODE = 1
const DATA_END = '\x00'
/** A text of at most this many bytes is stored as it is, and a longer one as its SHA-256. */
export const MAX_PLAIN_TEXT_BYTES = 64
/** The length of a text that is stored as its digest. */
const DIGEST_LENGTH = '\xff'
/** The value keys of one stored record (`values/records/stored-records.ts`): two for an SOA, none if it has no host. */
export function valueKeysOfRecord(type: RecordType, values: unknown): string[] {
  if (type === 'A' || type === 'AAAA') return [addressKey(values as IpAddress)]
  if (type === 'TXT') return [textKey(values as string[])]
  if (type === 'MX') {
    const [priority, host] = values as [number, string]
    return [hostKey(host, 'MX') + String.fromCharCode(priority >> 8, priority & 0xff)]
  }
  if (type !== 'SOA') return [hostKey(values as string, type)]
  const [server, email] = values as [string, string]
  const mailbox = parseHostName(mailboxName(email))
  return [`${hostKey(server, 'SOA')}\x00`, ...(mailbox === null ? [] : [`${hostKey(mailbox, 'SOA')}\x01`])]
}

/**
 * The value keys of one stored value of another type: of a web verdict the host of another domain to which it
 * redirects, of a certificate its fingerprint.
 */
export function valueKeysOfValues(type: FurtherStateType, values: unknown): string[] {
  if (type === 'certificate') return [certificateKey(fingerprintOfValue(values))]
  const host = finalHostOf(verdictOfValues(values))
  return host === null ? [] : [redirectPrefix(host) + DATA_END]
}

/** The value key of a certificate. */
export function certificateKey(sha256: string): string {
  return KEY_KIND.certificate + Buffer.from(sha256, 'hex').toString('latin1')
}

/** The keys of the names of a certificate. */
export function namedHostKeys({ sha256, names }: Pick<Certificate, 'sha256' | 'names'>): string[] {
  const digest = certificateKey(sha256).slice(1)
  return names.map((name) => namedHostPrefix(name) + DATA_END + digest)
}

/** What the keys of a name in certificates begin with, also of its wildcard and of names below it. */
export function namedHostPrefix(name: string): string {
  return KEY_KIND.namedHost + reversedLabels(name)
}

/** The name and the certificate of a key of `namedHostKeys`. */
export function parseNamedHostKey(key: string): { host: string; sha256: string } {
  const end = key.indexOf(DATA_END)
  return { host: hostOfReversedLabels(key.slice(1, end)), sha256: hexOfDigest(key.slice(end + 1)) }
}

function hexOfDigest(digest: string): string {
  return latin1Bytes(digest).toString('hex')
}

/** What the keys of redirects to a host, or to hosts below it, begin with. */
export function redirectPrefix(host: string): string {
  return KEY_KIND.redirect + reversedLabels(host)
}

/** The value key of an address. */
export function addressKey(address: IpAddress): string {
  return String.fromCharCode(...packAddress(address))
}

/** The value key of a TXT record. */
export function textKey(parts: readonly string[]): string {
  const text = Buffer.from(JSON.stringify(parts))
  if (text.length <= MAX_PLAIN_TEXT_BYTES)
    return KEY_KIND.text + String.fromCharCode(text.length) + text.toString('latin1')
  return KEY_KIND.text + DIGEST_LENGTH + hash('sha256', text, 'buffer').toString('latin1')
}

/** The value key of a host in records of a type, without the detail of MX and SOA. */
export function hostKey(host: string, type: RecordType): string {
  return hostPrefix(host) + DATA_END + TYPE_CODES[type]
}

/** What the keys of a host begin with, in records of any type. */
export function hostPrefix(host: string): string {
  return KEY_KIND.host + reversedLabels(host)
}

/** What the keys of a host itself begin with, without those of hosts below it. */
export function hostItselfPrefix(host: string): string {
  return hostPrefix(host) + DATA_END
}

/** The labels of a host in reverse order, each with LABEL_END. */
export function reversedLabels(host: string): string {
  let reversed = ''
  for (const label of labelsOf(host)) reversed = label + LABEL_END + reversed
  return reversed
}

/** The inverse of reversedLabels. */
function hostOfReversedLabels(reversed: string): string {
  return reversed === '' ? '.' : reversed.slice(0, -1).split(LABEL_END).reverse().join('.')
}

/** The labels in presentation form; none for the root. A dot after a backslash belongs to its label. */
function labelsOf(host: string): string[] {
  if (host === '.') return []
  return host.includes('\\') ? host.match(/(?:\\.|[^.\\])+/gs)! : host.split('.')
}

/** The keys of the sets of known names and hosts: the labels of a name in their order, or in the reverse order. */
export function nameSetKey(kind: 'knownHost' | 'reversedName' | 'forwardName', name: string): string {
  if (kind === 'reversedName') return KEY_KIND.reversedName + reversedLabels(name)
  return KEY_KIND[kind] + labelsOf(name).join(LABEL_END) + LABEL_END
}

/**
 * What the keys of the known names begin with that begin with a text, in the order of their labels. If the text ends
 * with a dot, the result is also the key of the name before that dot.
 */
export function forwardNamePrefix(text: string): string {
  return KEY_KIND.forwardName + text.replaceAll('.', LABEL_END)
}

/** The name of a key of a set. */
export function nameOfSetKey(key: string): string {
  const labels = key.slice(1)
  return key[0] === KEY_KIND.reversedName
    ? hostOfReversedLabels(labels)
    : labels.slice(0, -1).split(LABEL_END).join('.')
}

/** The keys of the sets of a known name. It is rotated at each place before its last dot, except at its start. */
export function keysOfName(name: string): string[] {
  const keys = [nameSetKey('reversedName', name), nameSetKey('forwardName', name)]
  for (let at = 1; at < name.lastIndexOf('.'); at++) keys.push(rotationKey(KEY_KIND.rotatedName, name, at))
  return keys
}

/** Whether a key is one of `keysOfName`. */
export function isKeyOfName(name: string, key: string): boolean {
  if (key[0] !== KEY_KIND.rotatedName)
    return key === nameSetKey('reversedName', name) || key === nameSetKey('forwardName', name)
  const { at } = unpackRotation(key.slice(1))
  return at > 0 && at < name.lastIndexOf('.') && key === rotationKey(KEY_KIND.rotatedName, name, at)
}

/** The keys of the last label of a known name with its dot, rotated at each place. */
export function keysOfLastLabel(name: string): string[] {
  const label = name.slice(name.lastIndexOf('.'))
  return Array.from(label, (_, at) => rotationKey(KEY_KIND.lastLabel, label, at))
}

const rotations = new Rotations()

function rotationKey(kind: string, text: string, at: number): string {
  rotations.begin(text)
  return kind + rotations.packAt(at).toString('latin1')
}

/** The known name of a key of `keysOfName`; null for another key. */
export function knownNameOfKey(key: string): string | null {
  if (key[0] === KEY_KIND.rotatedName) return unpackRotation(key.slice(1)).name
  return key[0] === KEY_KIND.reversedName || key[0] === KEY_KIND.forwardName ? nameOfSetKey(key) : null
}

/** The bytes of a key. */
export function latin1Bytes(key: string): Buffer {
  return Buffer.from(key, 'latin1')
}

/** Whether a value key names a host. */
export function namesHost(valueKey: string): boolean {
  return valueKey.charCodeAt(0) === HOST_KIND_CODE
}

/** The host that a value key names. */
export function hostOfValueKey(valueKey: string): string {
  return hostOfReversedLabels(valueKey.slice(1, valueKey.indexOf(DATA_END)))
}

/** What a value key says. `detail` of MX is its priority. */
export type ParsedKey =
  | { kind: 'address'; address: IpAddress }
  | { kind: 'host'; host: string; type: RecordType; detail: string }
  | { kind: 'text' }
  | { kind: 'redirect'; host: string }
  | { kind: 'certificate'; sha256: string }

/** Splits the key of an entry into its value key and the name that follows. Null for the key of a set of names. */
export function parseEntryKey(key: string): { value: ParsedKey; name: string } | null {
  const kind = key[0]!
  if (kind === KEY_KIND.ipv4 || kind === KEY_KIND.ipv6) {
    const end = kind === KEY_KIND.ipv4 ? 5 : 17
    return { value: { kind: 'address', address: unpackAddress(latin1Bytes(key.slice(0, end))) }, name: key.slice(end) }
  }
  if (kind === KEY_KIND.text) {
    const end = 2 + (key[1] === DIGEST_LENGTH ? 32 : key.charCodeAt(1))
    return { value: { kind: 'text' }, name: key.slice(end) }
  }
  if (kind === KEY_KIND.certificate)
    return { value: { kind: 'certificate', sha256: hexOfDigest(key.slice(1, 33)) }, name: key.slice(33) }
  if (kind !== KEY_KIND.host && kind !== KEY_KIND.redirect) return null
  const end = key.indexOf(DATA_END)
  const host = hostOfReversedLabels(key.slice(1, end))
  if (kind === KEY_KIND.redirect) return { value: { kind: 'redirect', host }, name: key.slice(end + 1) }
  const type = TYPE_OF_CODE.get(key[end + 1]!)!
  const nameAt = end + 2 + (type === 'MX' ? 2 : type === 'SOA' ? 1 : 0)
  return { value: { kind: 'host', host, type, detail: key.slice(end + 2, nameAt) }, name: key.slice(nameAt) }
}
